//! Default paths: the folder of brains and the Unix socket.
//!
//! Daemon and clients share them, so that a client finds the daemon that the same environment would start.

use std::ffi::OsString;
use std::path::PathBuf;

/// The socket of the system service.
pub const SYSTEM_SOCKET: &str = "/run/amemd/amemd.sock";

/// Exit code of a daemon whose folder or socket is in use by another one: EX_TEMPFAIL of sysexits.h, because a retry
/// may succeed.
pub const IN_USE: u8 = 75;

/// A user's folder of brains: `$XDG_DATA_HOME/amem/brains`, else `~/.local/share/amem/brains`. `None` if neither
/// variable is an absolute path.
pub fn folder(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    Some(data(&variable)?.join("brains"))
}

/// A user's socket: `$XDG_RUNTIME_DIR/amemd/amemd.sock`. If that is unset, as in containers and under cron,
/// `run/amemd.sock` next to the folder of brains, where, unlike in /tmp, no other user may write.
pub fn socket(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    match path(&variable, "XDG_RUNTIME_DIR") {
        Some(run) => Some(run.join("amemd/amemd.sock")),
        None => lasting_socket(variable),
    }
}

/// The socket of a daemon that outlives the user's login session without a service manager: next to the folder of
/// brains, because logging out removes `$XDG_RUNTIME_DIR`.
pub fn lasting_socket(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    Some(data(&variable)?.join("run/amemd.sock"))
}

fn data(variable: &impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let data = path(variable, "XDG_DATA_HOME")
        .or_else(|| Some(path(variable, "HOME")?.join(".local/share")))?;
    Some(data.join("amem"))
}

/// The absolute path in a variable; the XDG specification ignores relative ones.
fn path(variable: &impl Fn(&str) -> Option<OsString>, name: &str) -> Option<PathBuf> {
    let path = variable(name).map(PathBuf::from);
    path.filter(|path| path.is_absolute())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_without_a_runtime_folder_meets_the_daemon_beside_the_brains() {
        let of = |set: &'static [(&'static str, &'static str)]| {
            move |name: &str| {
                let found = set.iter().find(|(known, _)| *known == name);
                found.map(|(_, value)| OsString::from(value))
            }
        };
        let all = of(&[
            ("HOME", "/h"),
            ("XDG_DATA_HOME", "/d"),
            ("XDG_RUNTIME_DIR", "/r"),
        ]);
        assert_eq!(socket(all), Some("/r/amemd/amemd.sock".into()));
        assert_eq!(folder(all), Some("/d/amem/brains".into()));
        assert_eq!(lasting_socket(all), Some("/d/amem/run/amemd.sock".into()));
        let home = of(&[("HOME", "/h"), ("XDG_RUNTIME_DIR", "relative")]);
        assert_eq!(
            socket(home),
            Some("/h/.local/share/amem/run/amemd.sock".into())
        );
        assert_eq!(folder(home), Some("/h/.local/share/amem/brains".into()));
        assert_eq!((socket(of(&[])), folder(of(&[]))), (None, None));
    }
}
