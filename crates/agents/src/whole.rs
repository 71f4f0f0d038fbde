//! Files that are ours as a whole: the plugin of opencode, the rules of Cursor.

use serde_json::Value;

/// In the first line of each such file, in the comment that its format has.
pub(crate) const MARK: &str = "written by amemctl connect";

/// The plugin of opencode as deploy/agents has it; `connect` puts its program in the place of the bare name.
pub(crate) const OPENCODE_PLUGIN: &str = include_str!("../../../deploy/agents/opencode/amem.js");

/// The rule of Cursor as deploy/agents has it.
pub(crate) const CURSOR_RULES: &str = include_str!("../../../deploy/agents/cursor/rules/amem.mdc");

/// The line of the plugin that names the program.
const PROGRAM_LINE: &str = "const PROGRAM = \"amemctl\";";

pub(crate) fn opencode_plugin(program: &str) -> String {
    let line = format!("const PROGRAM = {};", Value::from(program));
    OPENCODE_PLUGIN.replace(PROGRAM_LINE, &line)
}

/// Whether a text is from connect, of this version or another.
pub(crate) fn is_ours(text: &str) -> bool {
    text.lines().take(8).any(|line| line.contains(MARK))
}
