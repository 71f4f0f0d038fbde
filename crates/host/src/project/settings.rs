//! `.amem.toml` of a project.

use std::path::Path;

use crate::files::{FileKind, read_text};

use super::error::{ProjectError, table};

/// Its name.
pub(crate) const SETTINGS_FILE: &str = ".amem.toml";
/// A larger file is refused.
const SETTINGS_BYTES_MAX: u64 = 64 << 10;

/// What it says; keys of later versions are ignored.
#[derive(Debug)]
pub(crate) struct Settings {
    pub(crate) project: Option<String>,
    pub(crate) brain: Option<String>,
    pub(crate) hooks: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            project: None,
            brain: None,
            hooks: true,
        }
    }
}

impl Settings {
    /// `None` if there is no such file.
    pub(crate) fn read(path: &Path) -> Result<Option<Self>, ProjectError> {
        let Some(text) = read_text(path, FileKind::Foreign, SETTINGS_BYTES_MAX)? else {
            return Ok(None);
        };
        let table = table(path, &text)?;
        let failed = |why: &str| ProjectError::Settings {
            path: path.to_owned(),
            why: why.to_owned(),
        };
        let text_of = |key: &str| match table.get(key) {
            None => Ok(None),
            Some(toml::Value::String(text)) => Ok(Some(text.trim().to_owned())),
            Some(_) => Err(failed(&format!("{key} is a text in quotes"))),
        };
        let hooks = match table.get("hooks") {
            None => true,
            Some(toml::Value::Boolean(on)) => *on,
            Some(_) => return Err(failed("hooks is true or false")),
        };
        Ok(Some(Self {
            project: text_of("project")?,
            brain: text_of("brain")?,
            hooks,
        }))
    }
}
