//! Paths of agents.toml.

use std::path::{Path, PathBuf};

/// A path below a folder that a variable may name.
pub(crate) struct ClientPath {
    pub(crate) variable: Option<&'static str>,
    /// What the variable replaces: a folder below home; empty for home itself.
    pub(crate) home: &'static str,
    pub(crate) below: &'static str,
    /// All of it below home, on macOS.
    pub(crate) mac: Option<&'static str>,
}

impl ClientPath {
    pub(crate) fn resolve(
        &self,
        home: &Path,
        is_mac: bool,
        variable: &dyn Fn(&str) -> Option<PathBuf>,
    ) -> PathBuf {
        if let (Some(path), true) = (self.mac, is_mac) {
            return home.join(path);
        }
        let folder = self.variable.and_then(variable);
        let folder = folder.unwrap_or_else(|| joined(home, self.home));
        joined(&folder, self.below)
    }
}

/// Joining an empty path would end it with a slash.
fn joined(folder: &Path, below: &str) -> PathBuf {
    match below.is_empty() {
        true => folder.to_owned(),
        false => folder.join(below),
    }
}
