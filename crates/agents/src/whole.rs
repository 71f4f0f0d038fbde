//! Files that are ours as a whole: the plugin of opencode, the rules of Cursor.

use serde_json::Value;

/// In the first line of each such file, in the comment that its format has.
pub(crate) const MARK: &str = "written by amemctl connect";

/// The line of a file of deploy/agents that names the program.
const PROGRAM_LINE: &str = "const PROGRAM = \"amemctl\";";

/// A file as deploy/agents has it, with the program in the place of the bare name.
pub(crate) fn with_program(text: &str, program: &str) -> String {
    let line = format!("const PROGRAM = {};", Value::from(program));
    text.replace(PROGRAM_LINE, &line)
}

/// Whether a text is from connect, of this version or another.
pub(crate) fn is_ours(text: &str) -> bool {
    text.lines().take(8).any(|line| line.contains(MARK))
}
