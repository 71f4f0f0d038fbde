//! What amemctl must know of amemd's own settings to find it and to start it: socket, folder, zone and file of models,
//! from the file that amemd reads.
//!
//! Promises: a file that amemd refuses (a pipe, another user's, one that others may write) names no socket here either.
//! Not here: checking them. A file that cannot be read counts as empty: amemd reports it when it starts.

use std::env;
use std::path::{Path, PathBuf};

use amem_client::paths;
use amem_host::files::{FileKind, read_text};
use amem_host::trust::OthersMay;
use serde::Deserialize;

/// As amemd's own limit.
const CONFIG_BYTES_MAX: u64 = 1 << 20;

#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
pub(crate) struct DaemonSettings {
    pub(crate) socket: Option<PathBuf>,
    pub(crate) folder: Option<PathBuf>,
    /// The time zone.
    pub(crate) zone: Option<String>,
    #[serde(default)]
    pub(crate) models: ModelsSettings,
}

#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
pub(crate) struct ModelsSettings {
    pub(crate) file: Option<PathBuf>,
}

impl DaemonSettings {
    /// True if `AMEMD_CONFIG` names a file that has a socket and no folder, or a folder and no socket: with the default
    /// of the other, a daemon would be in the place of the user's own.
    pub(crate) fn is_half_named(&self) -> bool {
        let is_named = env::var_os("AMEMD_CONFIG").is_some_and(|value| !value.is_empty());
        is_named && self.socket.is_some() != self.folder.is_some()
    }

    /// `AMEMD_CONFIG`, else the user's file.
    pub(crate) fn of_process() -> Self {
        let named = env::var_os("AMEMD_CONFIG").filter(|value| !value.is_empty());
        let file = match named {
            Some(named) => Some(PathBuf::from(named)),
            None => paths::config_file(|name| env::var_os(name)),
        };
        file.and_then(|file| Self::read(&file)).unwrap_or_default()
    }

    /// Relative paths start at the file's folder.
    fn read(file: &Path) -> Option<Self> {
        let kind = FileKind::Settings(OthersMay::Read);
        let text = read_text(file, kind, CONFIG_BYTES_MAX).ok()??;
        let settings: Self = toml::from_str(&text).ok()?;
        let folder = std::path::absolute(file).ok()?;
        let folder = folder.parent()?;
        let from_file = |path: PathBuf| folder.join(path);
        Some(Self {
            socket: settings.socket.map(from_file),
            folder: settings.folder.map(from_file),
            zone: settings.zone,
            models: ModelsSettings {
                file: settings.models.file.map(from_file),
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn socket_and_folder_are_those_of_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("config.toml");
        fs::write(
            &file,
            "socket = \"run/s.sock\"\nfolder = \"/brains\"\nzone = \"Asia/Tokyo\"\n[limits]\nevents_max = 5\n[models]\nfile = \"models.toml\"\n",
        )
        .unwrap();
        let expected = DaemonSettings {
            socket: Some(folder.path().join("run/s.sock")),
            folder: Some("/brains".into()),
            zone: Some("Asia/Tokyo".into()),
            models: ModelsSettings {
                file: Some(folder.path().join("models.toml")),
            },
        };
        assert_eq!(DaemonSettings::read(&file), Some(expected));
        // amemd refuses such a file: it does not say here which socket is called.
        fs::set_permissions(&file, fs::Permissions::from_mode(0o666)).unwrap();
        assert_eq!(DaemonSettings::read(&file), None);
        fs::write(&file, "socket = 7").unwrap();
        assert_eq!(DaemonSettings::read(&file), None);
    }
}
