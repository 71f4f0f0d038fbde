//! Programs that are started: with the variables that they need, and none that hold keys or change what runs.

use std::env;
use std::ffi::OsStr;
use std::process::Command;

/// Variables that every child gets: where things are, who runs it, in which language and zone, and how it reaches the
/// bus and the agents of keys of its session. Keys of providers, LD_PRELOAD and the like are not among them.
pub const KEPT_VARIABLES: &[&str] = &[
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "TMPDIR",
    "TERM",
    "TZ",
    "LANG",
    "LANGUAGE",
    "DISPLAY",
    "WAYLAND_DISPLAY",
    "DBUS_SESSION_BUS_ADDRESS",
    "SSH_AUTH_SOCK",
    "GNUPGHOME",
    "GPG_TTY",
    "PASSWORD_STORE_DIR",
];
/// Beginnings of names of variables that every child gets.
const KEPT_BEGINNINGS: [&str; 2] = ["LC_", "XDG_"];

/// True if a child gets a variable.
#[must_use]
pub fn is_kept(name: &OsStr) -> bool {
    let Some(name) = name.to_str() else {
        return false;
    };
    KEPT_VARIABLES.contains(&name) || KEPT_BEGINNINGS.iter().any(|start| name.starts_with(start))
}

/// Clears the environment of a child but for the variables that are kept.
pub fn clean_environment(command: &mut Command) {
    command.env_clear();
    command.envs(env::vars_os().filter(|(name, _)| is_kept(name)));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_gets_places_and_languages_and_no_keys() {
        for kept in ["PATH", "HOME", "LC_ALL", "XDG_RUNTIME_DIR"] {
            assert!(is_kept(OsStr::new(kept)), "{kept}");
        }
        for dropped in [
            "OPENAI_API_KEY",
            "LD_PRELOAD",
            "GIT_DIR",
            "AWS_SECRET_ACCESS_KEY",
            "BASH_ENV",
        ] {
            assert!(!is_kept(OsStr::new(dropped)), "{dropped}");
        }
        // Cargo sets this variable for tests.
        let mut command = Command::new("env");
        clean_environment(&mut command);
        let output = command.output().unwrap();
        let printed = String::from_utf8(output.stdout).unwrap();
        assert!(
            printed.contains("PATH=") && !printed.contains("CARGO_PKG_NAME"),
            "{printed}"
        );
    }
}
