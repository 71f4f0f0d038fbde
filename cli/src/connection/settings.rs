//! What amemctl must know of amemd's own settings to find it: socket, folder and zone, from the file that amemd reads.
//!
//! Not here: checking them. A file that cannot be read counts as empty: amemd reports it when it starts.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use amem_client::paths;
use serde::Deserialize;

#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
pub(crate) struct DaemonSettings {
    pub(crate) socket: Option<PathBuf>,
    pub(crate) folder: Option<PathBuf>,
    /// The time zone.
    pub(crate) zone: Option<String>,
}

impl DaemonSettings {
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
        let settings: Self = toml::from_str(&fs::read_to_string(file).ok()?).ok()?;
        let folder = std::path::absolute(file).ok()?;
        let folder = folder.parent()?;
        let from_file = |path: PathBuf| folder.join(path);
        Some(Self {
            socket: settings.socket.map(from_file),
            folder: settings.folder.map(from_file),
            zone: settings.zone,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn socket_and_folder_are_those_of_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("config.toml");
        fs::write(
            &file,
            "socket = \"run/s.sock\"\nfolder = \"/brains\"\nzone = \"Asia/Tokyo\"\n[limits]\nevents_max = 5\n",
        )
        .unwrap();
        let expected = DaemonSettings {
            socket: Some(folder.path().join("run/s.sock")),
            folder: Some("/brains".into()),
            zone: Some("Asia/Tokyo".into()),
        };
        assert_eq!(DaemonSettings::read(&file), Some(expected));
        fs::write(&file, "socket = 7").unwrap();
        assert_eq!(DaemonSettings::read(&file), None);
    }
}
