//! Programs that are started: with the variables that they need, and none that hold keys or change what runs.
//!
//! Promises: every program that amemd and amemctl start is made here; a variable that no list of this file has is not
//! handed on.
//! Not here: which keys of models the daemon needs (`amemctl`, `connection::own_program`).

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

/// Variables that our own programs get beside: proxies and authorities for calls of models, the filter of the log, and
/// the memory of malloc.
const OWN_VARIABLES: &[&str] = &[
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "no_proxy",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "RUST_BACKTRACE",
    "MALLOC_ARENA_MAX",
];
/// The beginning of the names of our own settings, `AMEM_` and `AMEMD_`.
const OWN_BEGINNING: &str = "AMEM";

/// A command of another program, with the variables of `KEPT_VARIABLES`.
#[must_use]
pub fn foreign_command(program: impl AsRef<OsStr>) -> Command {
    command(program.as_ref(), is_kept)
}

/// A command of amemd or amemctl: it gets our own settings beside.
#[must_use]
pub fn own_command(program: impl AsRef<OsStr>) -> Command {
    command(program.as_ref(), |name| is_kept(name) || is_own(name))
}

fn command(program: &OsStr, is_given: impl Fn(&str) -> bool) -> Command {
    let mut command = Command::new(program);
    command.env_clear();
    let given = env::vars_os().filter(|(name, _)| name.to_str().is_some_and(&is_given));
    command.envs(given);
    command
}

fn is_kept(name: &str) -> bool {
    KEPT_VARIABLES.contains(&name) || KEPT_BEGINNINGS.iter().any(|start| name.starts_with(start))
}

fn is_own(name: &str) -> bool {
    OWN_VARIABLES.contains(&name) || name.starts_with(OWN_BEGINNING)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_gets_places_and_languages_and_no_keys() {
        for kept in ["PATH", "HOME", "LC_ALL", "XDG_RUNTIME_DIR"] {
            assert!(is_kept(kept), "{kept}");
        }
        for own in ["AMEMD_CONFIG", "AMEM_USER", "HTTPS_PROXY"] {
            assert!(is_own(own) && !is_kept(own), "{own}");
        }
        for dropped in [
            "OPENAI_API_KEY",
            "LD_PRELOAD",
            "GIT_DIR",
            "AWS_SECRET_ACCESS_KEY",
            "BASH_ENV",
        ] {
            assert!(!is_kept(dropped) && !is_own(dropped), "{dropped}");
        }
        for mut command in [foreign_command("env"), own_command("env")] {
            let output = command.output().unwrap();
            let printed = String::from_utf8(output.stdout).unwrap();
            // Cargo sets this variable for tests.
            assert!(
                printed.contains("PATH=") && !printed.contains("CARGO_PKG_NAME"),
                "{printed}"
            );
        }
    }
}
