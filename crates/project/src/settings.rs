//! `.amem.toml` of a project.

use std::fs;
use std::io;
use std::path::Path;

use crate::error::ProjectError;

/// Its name.
pub(crate) const SETTINGS_FILE: &str = ".amem.toml";
/// A larger file is none of ours.
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
        let failed = |why: String| ProjectError::Settings {
            path: path.to_owned(),
            why,
        };
        match fs::metadata(path) {
            Ok(file) if file.len() > SETTINGS_BYTES_MAX => {
                let why = format!("it has {} bytes, {SETTINGS_BYTES_MAX} at most", file.len());
                return Err(failed(why));
            }
            Ok(_) => {}
            Err(e)
                if matches!(
                    e.kind(),
                    io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
                ) =>
            {
                return Ok(None);
            }
            Err(e) => return Err(failed(e.to_string())),
        }
        let text = fs::read_to_string(path).map_err(|e| failed(e.to_string()))?;
        let table: toml::Table = text
            .parse()
            .map_err(|e: toml::de::Error| failed(e.to_string()))?;
        let text_of = |key: &str| match table.get(key) {
            None => Ok(None),
            Some(toml::Value::String(text)) => Ok(Some(text.clone())),
            Some(_) => Err(failed(format!("{key} is a text in quotes"))),
        };
        let hooks = match table.get("hooks") {
            None => true,
            Some(toml::Value::Boolean(on)) => *on,
            Some(_) => return Err(failed("hooks is true or false".to_owned())),
        };
        Ok(Some(Self {
            project: text_of("project")?,
            brain: text_of("brain")?,
            hooks,
        }))
    }
}
