//! The projects that a person allowed folders to be: a TOML file of the user, one table a folder.
//!
//! Promises: an entry holds for one folder and what that folder said when it was allowed. A folder that says something
//! else later is no longer that project.

use std::path::{Path, PathBuf};

use crate::files::{FileKind, read_text};
use crate::trust::OthersMay;
use serde::{Deserialize, Serialize};

use super::error::{ProjectError, check_name, table};

/// Bytes of the list.
pub const ALLOWED_BYTES_MAX: u64 = 1 << 20;
/// The name of its file, in the data folder of the user.
pub const ALLOWED_FILE: &str = "projects.toml";

const HEAD: &str =
    "# Folders that a person allowed to be a project: `amemctl project allow`, `list`, `forbid`.\n";

/// What a folder says that it is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProjectClaim {
    /// The project: that of `.amem.toml`, else the git remote as host/owner/repo.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// The brain that `.amem.toml` names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub brain: Option<String>,
}

impl ProjectClaim {
    /// True if it claims nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// A folder that a person allowed to be a project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AllowedFolder {
    /// The folder, without links.
    pub folder: PathBuf,
    /// The project that it is.
    pub project: String,
    /// Projects that it was before, such as that of its path: every folder of the project finds their memories, too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub earlier: Vec<String>,
    /// The brain of its memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub brain: Option<String>,
    /// What it said when it was allowed.
    #[serde(default, skip_serializing_if = "ProjectClaim::is_empty")]
    pub says: ProjectClaim,
}

/// The list of a user.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AllowedProjects {
    #[serde(default)]
    allowed: Vec<AllowedFolder>,
}

impl AllowedProjects {
    /// Reads a list; empty if there is no file.
    ///
    /// # Errors
    /// A file that others may read or write, that is too large, or has another form.
    pub fn read(path: &Path) -> Result<Self, ProjectError> {
        let kind = FileKind::Settings(OthersMay::Nothing);
        let Some(text) = read_text(path, kind, ALLOWED_BYTES_MAX)? else {
            return Ok(Self::default());
        };
        let failed = |why: String| ProjectError::Settings {
            path: path.to_owned(),
            why: format!("{why}: move it away, and allow the projects again"),
        };
        let read = toml::Value::Table(table(path, &text)?).try_into();
        let read: Self = read.map_err(|_: toml::de::Error| {
            failed("it is no list of [[allowed]] with folder and project".to_owned())
        })?;
        for (at, entry) in read.allowed.iter().enumerate() {
            if check_name(&entry.project).is_err() {
                return Err(failed(format!(
                    "its entry {} has no name of a project",
                    at + 1
                )));
            }
        }
        Ok(read)
    }

    /// The text of the file.
    ///
    /// # Errors
    /// A folder whose path is not UTF-8.
    pub fn to_toml(&self) -> Result<String, ProjectError> {
        let entries = toml::to_string(self).map_err(|e| ProjectError::Settings {
            path: ALLOWED_FILE.into(),
            why: format!("it cannot be written: {e}"),
        })?;
        Ok(format!("{HEAD}{entries}"))
    }

    /// The entries, in order.
    #[must_use]
    pub fn entries(&self) -> &[AllowedFolder] {
        &self.allowed
    }

    /// What a folder is, with what it says now.
    #[must_use]
    pub fn entry(&self, folder: &Path, says: &ProjectClaim) -> Option<&AllowedFolder> {
        let mut entries = self.allowed.iter();
        entries.find(|entry| entry.folder == folder && entry.says == *says)
    }

    /// What the folders of a project were before.
    #[must_use]
    pub fn earlier_ids(&self, project: &str) -> Vec<String> {
        let mut out: Vec<String> = Vec::new();
        let of_project = self.allowed.iter().filter(|entry| entry.project == project);
        for id in of_project.flat_map(|entry| &entry.earlier) {
            if *id != project && !out.contains(id) {
                out.push(id.clone());
            }
        }
        out
    }

    /// Allows a folder; an earlier entry of the folder goes.
    pub fn allow(&mut self, entry: AllowedFolder) {
        self.forbid(&entry.folder);
        self.allowed.push(entry);
    }

    /// Takes the entry of a folder out; false if there is none.
    pub fn forbid(&mut self, folder: &Path) -> bool {
        let before = self.allowed.len();
        self.allowed.retain(|entry| entry.folder != folder);
        self.allowed.len() < before
    }
}
