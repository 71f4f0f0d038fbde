//! Which daemon a command talks to, and as whom: the flags and variables that every command takes.
//!
//! A daemon on this machine's usual socket is started if none runs (`autostart`), unless that is forbidden.
//! Promises: a token is read from a file, never from an argument or a variable, where others could see it.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use amem_client::{Tls, place};
use clap::Args;

use crate::autostart;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::remote::{Remote, RemoteError};

/// Options of the connection.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Connection")]
pub(crate) struct Reach {
    /// The daemon's socket [default: that of your amemd, else that of the machine's]
    #[arg(
        long,
        env = "AMEMD_SOCKET",
        value_name = "PATH",
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
pub(crate) struct Reached {
    /// A connection to it.
    pub(crate) remote: Remote,
    /// That it was started, and where it logs.
    pub(crate) note: Option<String>,
}

impl Reach {
    /// Connects to the daemon, which is started if need be.
    pub(crate) fn connect(&self) -> Result<Reached, Failure> {
        self.connected(!self.no_autostart)
    }

    /// Connects to a daemon that runs.
    pub(crate) fn running(&self) -> Result<Remote, Failure> {
        Ok(self.connected(false)?.remote)
    }

    fn connected(&self, may_start: bool) -> Result<Reached, Failure> {
        let reached = |remote| Reached { remote, note: None };
        if let Some(address) = &self.address {
            return Ok(reached(self.tcp(address)?));
        }
        self.check_local()?;
        let socket = self.socket()?;
        let error = match Remote::connect(&socket) {
            Ok(remote) => return Ok(reached(remote)),
            Err(error) => error,
        };
        // What answers, but not as it should, is not to be replaced.
        if !may_start || !matches!(error, RemoteError::Unreachable { .. }) || is_denied(&socket) {
            return Err(error.into());
        }
        let started = autostart::start(&socket)?;
        Ok(Reached {
            remote: started.remote,
            note: Some(format!(
                "amemd was started on {}; it logs to {}; `amemctl shutdown` ends it",
                socket.display(),
                started.log.display()
            )),
        })
    }

    /// The socket that is named, the user's, or the machine's where the user has none of their own.
    pub(crate) fn socket(&self) -> Result<PathBuf, Failure> {
        if let Some(socket) = &self.socket {
            return Ok(socket.clone());
        }
        let of_user = place::socket(|name| env::var_os(name));
        let of_machine = PathBuf::from(place::SYSTEM_SOCKET);
        match of_user {
            Some(socket) if socket.exists() || !of_machine.exists() => Ok(socket),
            _ if of_machine.exists() => Ok(of_machine),
            _ => Err(Failure::new(
                Exit::Unavailable,
                "no_daemon",
                "nothing says where amemd listens",
                "give --socket, or set XDG_RUNTIME_DIR or HOME",
            )),
        }
    }

    fn tcp(&self, address: &str) -> Result<Remote, Failure> {
        if self.socket.is_some() {
            return Err(Failure::argument(
                "there is a socket and an address: which daemon is meant?",
                "give --socket or --address (or AMEMD_SOCKET, AMEMD_ADDRESS), not both",
            ));
        }
        let token = match &self.token_file {
            None => None,
            Some(path) => Some(String::from_utf8(bytes(path)?).map_err(|_| {
                Failure::argument(
                    format!("{} is no text", path.display()),
                    "name the token file of the daemon",
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
            (Some(certificate), Some(key)) => Some((bytes(certificate)?, bytes(key)?)),
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

/// True if a socket is there that is somebody else's: starting another daemon on it would not help.
fn is_denied(socket: &Path) -> bool {
    use std::os::unix::net::UnixStream;
    let error = UnixStream::connect(socket).err();
    error.is_some_and(|e| e.kind() == std::io::ErrorKind::PermissionDenied)
}

fn bytes(path: &Path) -> Result<Vec<u8>, Failure> {
    fs::read(path).map_err(|e| Failure::io("read", path, &e))
}
