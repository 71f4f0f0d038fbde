//! What the daemon is told: flags before environment before defaults.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

/// The memory daemon for AI agents: it owns a folder of brains and is their one writer.
#[derive(Debug, Clone, clap::Parser)]
#[command(name = "amemd", version)]
pub struct Flags {
    /// The folder of the brains, which must exist [default: $XDG_DATA_HOME/amem/brains, made if missing]
    #[arg(long, env = "AMEMD_FOLDER", value_name = "PATH")]
    pub folder: Option<PathBuf>,
    /// The Unix socket to listen on [default: $XDG_RUNTIME_DIR/amemd/amemd.sock]
    #[arg(long, env = "AMEMD_SOCKET", value_name = "PATH")]
    pub socket: Option<PathBuf>,
}

/// Where the daemon works; paths are absolute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// The folder of the brains.
    pub folder: PathBuf,
    /// The Unix socket.
    pub socket: PathBuf,
}

impl Flags {
    /// Fills in the defaults and makes the default folder. `variable` looks up the environment.
    pub fn resolve(self, variable: impl Fn(&str) -> Option<OsString>) -> Result<Config> {
        let of = |name: &str| {
            variable(name)
                .map(PathBuf::from)
                .filter(|p| p.is_absolute())
        };
        let folder = match self.folder {
            Some(folder) => absolute(&folder)?,
            None => {
                let data = of("XDG_DATA_HOME")
                    .or_else(|| Some(of("HOME")?.join(".local/share")))
                    .ok_or(Error::NotSaid {
                        what: "folder for the brains",
                        remedy: "give --folder, or set AMEMD_FOLDER, XDG_DATA_HOME or HOME",
                    })?;
                let folder = data.join("amem/brains");
                make_private(&folder)?;
                folder
            }
        };
        let socket = match self.socket {
            Some(socket) => absolute(&socket)?,
            None => of("XDG_RUNTIME_DIR")
                .ok_or(Error::NotSaid {
                    what: "socket to listen on",
                    remedy: "give --socket, or set AMEMD_SOCKET or XDG_RUNTIME_DIR",
                })?
                .join("amemd/amemd.sock"),
        };
        check_folder(&folder)?;
        Ok(Config { folder, socket })
    }
}

fn absolute(path: &Path) -> Result<PathBuf> {
    if path.as_os_str().is_empty() {
        return Err(Error::NotSaid {
            what: "path (it is empty)",
            remedy: "give a path, or leave the option out",
        });
    }
    let here = env::current_dir().map_err(|e| Error::io("look at", path, e))?;
    Ok(here.join(path))
}

/// Makes a folder that only we may enter, and those above it.
pub(crate) fn make_private(folder: &Path) -> Result<()> {
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)
        .map_err(|e| Error::io("make", folder, e))
}

fn check_folder(folder: &Path) -> Result<()> {
    let meta = fs::metadata(folder).map_err(|e| Error::io("open the folder", folder, e))?;
    if !meta.is_dir() {
        return Err(Error::Folder {
            path: folder.into(),
            why: "is not a folder: give the folder that the brains are in",
        });
    }
    if meta.permissions().mode() & 0o002 != 0 {
        return Err(Error::Folder {
            path: folder.into(),
            why: "can be written by anybody: take that right away (chmod o-w), or use another",
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flags(folder: Option<&Path>, socket: Option<&str>) -> Flags {
        Flags {
            folder: folder.map(PathBuf::from),
            socket: socket.map(PathBuf::from),
        }
    }

    #[test]
    fn the_defaults_come_from_the_environment_and_are_named_where_it_is_silent() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().to_path_buf();
        let config = flags(None, None)
            .resolve(|name| match name {
                "HOME" => Some(path.clone().into()),
                "XDG_RUNTIME_DIR" => Some("/run/user/7".into()),
                _ => None,
            })
            .unwrap();
        assert_eq!(config.folder, path.join(".local/share/amem/brains"));
        assert_eq!(config.socket, Path::new("/run/user/7/amemd/amemd.sock"));
        let mode = fs::metadata(&config.folder).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);

        let error = flags(None, None).resolve(|_| None).unwrap_err();
        assert!(error.to_string().contains("--folder"), "{error}");
        let error = flags(Some(&path), None).resolve(|_| None).unwrap_err();
        assert!(error.to_string().contains("--socket"), "{error}");
    }

    #[test]
    fn a_folder_that_is_missing_or_open_to_all_is_refused() {
        let home = tempfile::tempdir().unwrap();
        let missing = home.path().join("nowhere");
        let error = flags(Some(&missing), Some("/s")).resolve(|_| None);
        assert!(error.unwrap_err().to_string().contains("nowhere"));
        fs::set_permissions(home.path(), fs::Permissions::from_mode(0o777)).unwrap();
        let error = flags(Some(home.path()), Some("/s")).resolve(|_| None);
        assert!(error.unwrap_err().to_string().contains("chmod"));
    }
}
