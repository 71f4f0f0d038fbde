//! Where clients keep their settings: below the home folder, in folders that variables name, or in a project.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::client_path::ClientPath;
use crate::error::SettingsError;

/// The folders of a user.
#[derive(Debug, Clone)]
pub struct Locations {
    home: PathBuf,
    project: Option<PathBuf>,
    variables: BTreeMap<&'static str, PathBuf>,
    is_mac: bool,
    search: Vec<PathBuf>,
}

impl Locations {
    /// `home` must exist. Settings are those of the user.
    pub fn new(home: impl Into<PathBuf>) -> Result<Self, SettingsError> {
        let home = home.into();
        if !home.is_absolute() {
            return Err(SettingsError::RelativeFolder {
                name: "the home folder",
                path: home,
            });
        }
        if !home.is_dir() {
            return Err(SettingsError::MissingHome { path: home });
        }
        Ok(Self {
            home,
            project: None,
            variables: BTreeMap::new(),
            is_mac: cfg!(target_os = "macos"),
            search: Vec::new(),
        })
    }

    /// Settings of this project instead of the user's.
    pub fn in_project(mut self, project: impl Into<PathBuf>) -> Self {
        self.project = Some(project.into());
        self
    }

    /// Sets one of `VARIABLES`; an empty value is none.
    pub fn with_variable(
        mut self,
        name: &'static str,
        value: impl Into<PathBuf>,
    ) -> Result<Self, SettingsError> {
        let path = value.into();
        if path.as_os_str().is_empty() {
            return Ok(self);
        }
        if !path.is_absolute() {
            return Err(SettingsError::RelativeFolder { name, path });
        }
        self.variables.insert(name, path);
        Ok(self)
    }

    /// Folders in which programs are looked for.
    pub fn with_search_path(mut self, folders: impl IntoIterator<Item = PathBuf>) -> Self {
        self.search = folders.into_iter().collect();
        self
    }

    /// The layout of macOS, or that of other Unix systems.
    pub fn with_mac_layout(mut self, is_mac: bool) -> Self {
        self.is_mac = is_mac;
        self
    }

    pub(crate) fn project(&self) -> Option<&Path> {
        self.project.as_deref()
    }

    pub(crate) fn of_user(&self) -> Self {
        Self {
            project: None,
            ..self.clone()
        }
    }

    pub(crate) fn is_mac(&self) -> bool {
        self.is_mac
    }

    pub(crate) fn home_folder(&self) -> &Path {
        &self.home
    }

    pub(crate) fn resolve(&self, path: &ClientPath) -> PathBuf {
        let variable = |name: &str| self.variable(name).map(Path::to_owned);
        path.resolve(&self.home, self.is_mac, &variable)
    }

    pub(crate) fn variable(&self, name: &str) -> Option<&Path> {
        self.variables.get(name).map(PathBuf::as_path)
    }

    pub(crate) fn has_program(&self, names: &[&str]) -> bool {
        let mut folders = self.search.iter();
        folders.any(|folder| names.iter().any(|name| folder.join(name).is_file()))
    }

    /// Where the record of insertions is.
    pub(crate) fn record(&self) -> PathBuf {
        let record = ClientPath {
            variable: Some("XDG_STATE_HOME"),
            home: ".local/state",
            below: "amem/connected.json",
            mac: None,
        };
        self.resolve(&record)
    }
}
