//! Which daemon a command talks to, and as whom: the flags and variables that every command takes.
//!
//! A daemon of the user's own is started if none runs (`autostart`), unless that is forbidden, or the machine has one
//! for all of its users.
//! Promises: a token is read from a file, never from an argument or a variable, where others could see it.

use std::env;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use amem_client::{Tls, place};
use clap::Args;
use clap::builder::{OsStringValueParser, TypedValueParser};

use crate::connection::autostart;
use crate::connection::remote::Remote;
use crate::exit::Exit;
use crate::failure::Failure;

/// Options of the connection.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Connection")]
pub(crate) struct ConnectionArgs {
    /// The daemon's socket [default: that of your amemd, else that of the machine's]
    #[arg(
        long,
        env = "AMEMD_SOCKET",
        value_name = "PATH",
        value_parser = OsStringValueParser::new().map(PathBuf::from),
        global = true,
        hide_env_values = true
    )]
    pub(crate) socket: Option<PathBuf>,
    /// A daemon's TCP address instead, such as 127.0.0.1:7411
    #[arg(
        long,
        env = "AMEMD_ADDRESS",
        value_name = "HOST:PORT",
        global = true,
        hide_env_values = true
    )]
    address: Option<String>,
    /// The file with the token that the daemon at --address asks for
    #[arg(
        long,
        env = "AMEMD_TOKEN_FILE",
        value_name = "FILE",
        value_parser = OsStringValueParser::new().map(PathBuf::from),
        global = true,
        hide_env_values = true,
        hide_short_help = true
    )]
    token_file: Option<PathBuf>,
    /// The authority (PEM) that vouches for the daemon at --address; TLS is used if it is given
    #[arg(long, value_name = "FILE", global = true, hide_short_help = true)]
    tls_ca: Option<PathBuf>,
    /// The name that the daemon's certificate must have [default: that of --address]
    #[arg(long, value_name = "NAME", global = true, hide_short_help = true)]
    tls_name: Option<String>,
    /// Our own certificate (PEM), where the daemon asks for one
    #[arg(long, value_name = "FILE", global = true, hide_short_help = true)]
    tls_certificate: Option<PathBuf>,
    /// The key of --tls-certificate (PEM)
    #[arg(long, value_name = "FILE", global = true, hide_short_help = true)]
    tls_key: Option<PathBuf>,
    /// Fail if no amemd runs, instead of starting one
    #[arg(long, global = true, hide_short_help = true)]
    no_autostart: bool,
    /// The agent that commits name
    #[arg(
        long,
        env = "AMEM_AGENT",
        value_name = "NAME",
        global = true,
        default_value = "amemctl",
        hide_env_values = true,
        hide_short_help = true
    )]
    pub(crate) agent: String,
}

/// A daemon, and what is to be told about how it was reached.
pub(crate) struct Reachable {
    /// A connection to it.
    pub(crate) remote: Remote,
    /// That it was started, and where it logs.
    pub(crate) note: Option<String>,
}

/// Which flags were given on the line, and not by variables.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct FlagsOnLine {
    /// --socket.
    pub(crate) socket: bool,
    /// --address.
    pub(crate) address: bool,
    /// --token-file.
    pub(crate) token_file: bool,
}

impl ConnectionArgs {
    /// A flag beats the variable of another one, and a variable that does not apply is overlooked.
    pub(crate) fn settle(&mut self, given: FlagsOnLine) {
        // An empty variable is one that is not set.
        self.socket.take_if(|path| path.as_os_str().is_empty());
        self.token_file.take_if(|path| path.as_os_str().is_empty());
        self.address.take_if(|address| address.is_empty());
        if given.address && !given.socket {
            self.socket = None;
        }
        if given.socket && !given.address {
            self.address = None;
        }
        if self.address.is_none() && !given.token_file {
            self.token_file = None;
        }
    }

    /// Connects to the daemon, which is started if need be.
    pub(crate) fn connect(&self) -> Result<Reachable, Failure> {
        match self.running() {
            Ok(remote) => Ok(Reachable { remote, note: None }),
            Err(failure) if failure.code == NO_DAEMON && !self.no_autostart => self.start(failure),
            Err(failure) => Err(failure),
        }
    }

    /// Connects to a daemon that runs.
    pub(crate) fn running(&self) -> Result<Remote, Failure> {
        if let Some(address) = &self.address {
            return self.tcp(address);
        }
        self.check_local()?;
        let mut first = None;
        for socket in self.sockets() {
            match Remote::connect(&socket) {
                Ok(remote) => return Ok(remote),
                Err(error) => first = first.or(Some(error)),
            }
        }
        Err(first.map_or_else(nowhere, Failure::from))
    }

    /// True if the daemon is reached by a socket of this machine.
    pub(crate) fn is_local(&self) -> bool {
        self.address.is_none()
    }

    /// Starts a daemon of the user's own: on the socket that is named, or on one that lasts.
    fn start(&self, failure: Failure) -> Result<Reachable, Failure> {
        if self.address.is_some() {
            return Err(failure);
        }
        let system = Path::new(place::SYSTEM_SOCKET);
        let socket = match &self.socket {
            Some(socket) => socket.clone(),
            // Where the machine has a daemon for all, it is not for one of them to take its place.
            None if system.exists() => return Err(failure),
            None => place::lasting_socket(|name| env::var_os(name)).ok_or_else(nowhere)?,
        };
        if socket == system || is_denied(&socket) {
            return Err(failure);
        }
        let started = autostart::start(&socket)?;
        Ok(Reachable {
            remote: started.remote,
            note: Some(format!(
                "amemd was started on {}; it logs to {}; `amemctl shutdown` ends it",
                socket.display(),
                started.log.display()
            )),
        })
    }

    /// Where a daemon may listen: the socket that is named, or the user's, with that of a session that this process is
    /// not part of, as for cron, and the machine's.
    fn sockets(&self) -> Vec<PathBuf> {
        if let Some(socket) = &self.socket {
            return vec![socket.clone()];
        }
        let uid = rustix::process::getuid().as_raw();
        usual_sockets(|name| env::var_os(name), uid)
    }

    fn tcp(&self, address: &str) -> Result<Remote, Failure> {
        let port = address
            .rsplit_once(':')
            .map(|(_, port)| port.parse::<u16>());
        if !matches!(port, Some(Ok(_))) {
            return Err(Failure::argument(
                format!("{address:?} is no address"),
                "write it as HOST:PORT, such as 127.0.0.1:7411",
            ));
        }
        if self.socket.is_some() {
            return Err(Failure::argument(
                "there is a socket and an address: which daemon is meant?",
                "give --socket or --address (or AMEMD_SOCKET, AMEMD_ADDRESS), not both",
            ));
        }
        let token = match &self.token_file {
            None => None,
            Some(path) => Some(String::from_utf8(secret(path)?).map_err(|_| {
                Failure::argument(
                    format!("{} is no text", path.display()),
                    "name a file with what `amemctl token create` printed",
                )
            })?),
        };
        let remote = Remote::connect_tcp(address, token.as_deref(), self.tls()?)?;
        Ok(remote)
    }

    fn tls(&self) -> Result<Option<Tls>, Failure> {
        let Some(authority) = &self.tls_ca else {
            if self.tls_name.is_some() || self.tls_certificate.is_some() || self.tls_key.is_some() {
                return Err(Failure::argument(
                    "TLS needs an authority to trust",
                    "give the daemon's with --tls-ca",
                ));
            }
            return Ok(None);
        };
        let identity = match (&self.tls_certificate, &self.tls_key) {
            (None, None) => None,
            (Some(certificate), Some(key)) => Some((bytes(certificate)?, secret(key)?)),
            _ => {
                return Err(Failure::argument(
                    "a certificate of ours needs its key, and a key its certificate",
                    "give both --tls-certificate and --tls-key",
                ));
            }
        };
        Ok(Some(Tls {
            authority: bytes(authority)?,
            name: self.tls_name.clone(),
            identity,
        }))
    }

    /// Refuses what would be overlooked on a Unix socket.
    fn check_local(&self) -> Result<(), Failure> {
        let set = [
            (self.token_file.is_some(), "--token-file"),
            (self.tls_ca.is_some(), "--tls-ca"),
            (self.tls_name.is_some(), "--tls-name"),
            (self.tls_certificate.is_some(), "--tls-certificate"),
            (self.tls_key.is_some(), "--tls-key"),
        ];
        match set.iter().find(|(is_set, _)| *is_set) {
            None => Ok(()),
            Some((_, name)) => Err(Failure::argument(
                format!("{name} is for a daemon that is reached by TCP"),
                "give its --address, too",
            )),
        }
    }
}

/// Where a user's daemon may listen that nobody named, and then the machine's.
fn usual_sockets(variable: impl Fn(&str) -> Option<OsString>, uid: u32) -> Vec<PathBuf> {
    let elsewhere = match variable("XDG_RUNTIME_DIR") {
        Some(_) => None,
        None => Some(format!("/run/user/{uid}/amemd/amemd.sock").into()),
    };
    let candidates = [
        place::socket(&variable),
        place::lasting_socket(&variable),
        elsewhere,
        Some(place::SYSTEM_SOCKET.into()),
    ];
    let mut sockets: Vec<PathBuf> = candidates.into_iter().flatten().collect();
    sockets.dedup();
    sockets
}

/// The failure of a connection to nobody.
const NO_DAEMON: &str = "no_daemon";

fn nowhere() -> Failure {
    Failure::new(
        Exit::Unavailable,
        NO_DAEMON,
        "nothing says where amemd listens",
        "give --socket, or set XDG_RUNTIME_DIR or HOME",
    )
}

/// True if a socket is there that is somebody else's: starting another daemon on it would not help.
fn is_denied(socket: &Path) -> bool {
    use std::os::unix::net::UnixStream;
    let error = UnixStream::connect(socket).err();
    error.is_some_and(|e| e.kind() == std::io::ErrorKind::PermissionDenied)
}

fn bytes(path: &Path) -> Result<Vec<u8>, Failure> {
    fs::read(path).map_err(|e| Failure::io("read", path, &e))
}

/// What a file of ours has that nobody else may read; a file of another user is as that one wants it.
fn secret(path: &Path) -> Result<Vec<u8>, Failure> {
    let failed = |e| Failure::io("read", path, &e);
    let mut file = File::open(path).map_err(failed)?;
    let meta = file.metadata().map_err(failed)?;
    let mode = meta.permissions().mode() & 0o777;
    let is_ours = meta.uid() == rustix::process::geteuid().as_raw();
    if meta.is_file() && is_ours && mode & 0o077 != 0 {
        let path = path.display();
        return Err(Failure::argument(
            format!("others may use {path} (its mode is {mode:04o}), which is a secret"),
            format!("take that right away: chmod 600 {path}"),
        ));
    }
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).map_err(failed)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_daemon_is_looked_for_where_any_of_the_users_processes_may_have_started_it() {
        let check = |set: &[(&str, &str)], expected: &[&str]| {
            let variable = |name: &str| {
                let found = set.iter().find(|(known, _)| *known == name);
                found.map(|(_, value)| OsString::from(value))
            };
            let expected: Vec<PathBuf> = expected.iter().map(PathBuf::from).collect();
            assert_eq!(usual_sockets(variable, 7), expected);
        };
        check(
            &[("HOME", "/h"), ("XDG_RUNTIME_DIR", "/run/user/7")],
            &[
                "/run/user/7/amemd/amemd.sock",
                "/h/.local/share/amem/run/amemd.sock",
                "/run/amemd/amemd.sock",
            ],
        );
        check(
            &[("HOME", "/h")],
            &[
                "/h/.local/share/amem/run/amemd.sock",
                "/run/user/7/amemd/amemd.sock",
                "/run/amemd/amemd.sock",
            ],
        );
    }

    #[test]
    fn a_flag_beats_the_variable_of_another() {
        let both = || ConnectionArgs {
            socket: Some("/s".into()),
            address: Some("h:1".into()),
            token_file: Some("/t".into()),
            ..ConnectionArgs::default()
        };
        let settled = |socket, address, token_file| {
            let mut reach = both();
            reach.settle(FlagsOnLine {
                socket,
                address,
                token_file,
            });
            (
                reach.socket.is_some(),
                reach.address.is_some(),
                reach.token_file.is_some(),
            )
        };
        assert_eq!(settled(false, true, false), (false, true, true));
        assert_eq!(settled(true, false, false), (true, false, false));
        assert_eq!(settled(true, false, true), (true, false, true));
        assert_eq!(settled(true, true, false), (true, true, true));
    }
}
