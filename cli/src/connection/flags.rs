//! Which daemon a command talks to, and as whom: flags and variables of every command.
//!
//! The user's own daemon is started if none runs (`autostart`): with the default socket and the default folder, or
//! those of the settings. Not if --no-autostart is given, another place is named, or the machine has a daemon for all
//! users. Promises: tokens are read from files, never from arguments or variables, which other users could see.

use std::env;
use std::io::Read;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use amem_client::Tls;
use amem_client::paths::{self, UserPaths};
use clap::Args;
use clap::builder::{OsStringValueParser, TypedValueParser};

use crate::connection::autostart;
use crate::connection::remote::Remote;
use crate::connection::settings::DaemonSettings;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::named_file;

#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Connection")]
pub(crate) struct ConnectionArgs {
    /// The daemon's socket [default: that of your amemd, else that of the machine]
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
    /// The file with the token for the daemon at --address
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
    /// The authority (PEM) to verify the daemon at --address; implies TLS
    #[arg(long, value_name = "FILE", global = true, hide_short_help = true)]
    tls_ca: Option<PathBuf>,
    /// The name in the daemon's certificate [default: that of --address]
    #[arg(long, value_name = "NAME", global = true, hide_short_help = true)]
    tls_name: Option<String>,
    /// Our own certificate (PEM), if the daemon requires one
    #[arg(long, value_name = "FILE", global = true, hide_short_help = true)]
    tls_certificate: Option<PathBuf>,
    /// The key of --tls-certificate (PEM)
    #[arg(long, value_name = "FILE", global = true, hide_short_help = true)]
    tls_key: Option<PathBuf>,
    /// Fail if no amemd runs, instead of starting one (or AMEM_NO_AUTOSTART=1)
    #[arg(long, global = true, hide_short_help = true)]
    no_autostart: bool,
    /// The agent to name in commits; in commands that list events, only those that this agent recorded
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
    /// The agent, if it is on the command line: a condition of commands that list events.
    #[arg(skip)]
    pub(crate) agent_on_line: Option<String>,
}

pub(crate) struct Reachable {
    pub(crate) remote: Remote,
    /// That the daemon was started, and where it logs.
    pub(crate) note: Option<String>,
}

/// Flags on the command line, as opposed to variables.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct FlagsOnLine {
    pub(crate) socket: bool,
    pub(crate) address: bool,
    pub(crate) token_file: bool,
    pub(crate) agent: bool,
}

impl ConnectionArgs {
    /// A flag beats the variable of another flag; a variable that does not apply is ignored.
    pub(crate) fn settle(&mut self, given: FlagsOnLine) {
        self.agent_on_line = given.agent.then(|| self.agent.clone());
        // An empty variable counts as unset.
        self.socket.take_if(|path| path.as_os_str().is_empty());
        self.token_file.take_if(|path| path.as_os_str().is_empty());
        if !given.address {
            self.address.take_if(|address| address.is_empty());
        }
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

    /// Connects to the daemon; starts it if needed.
    pub(crate) fn connect(&self) -> Result<Reachable, Failure> {
        match self.running() {
            Ok(remote) => Ok(Reachable { remote, note: None }),
            Err(failure) if failure.code == NO_DAEMON && self.starts() => self.start(failure),
            Err(failure) => Err(failure),
        }
    }

    fn starts(&self) -> bool {
        let forbidden = env::var_os(paths::NO_AUTOSTART);
        !self.no_autostart && forbidden.is_none_or(|value| value.is_empty() || value == "0")
    }

    pub(crate) fn running(&self) -> Result<Remote, Failure> {
        if let Some(address) = &self.address {
            return self.tcp(address);
        }
        self.check_local()?;
        self.check_socket()?;
        let mut first = None;
        for socket in self.sockets() {
            match Remote::connect(&socket) {
                Ok(remote) => return Ok(remote),
                Err(error) => first = first.or(Some(error)),
            }
        }
        Err(first.map_or_else(nowhere, Failure::from))
    }

    pub(crate) fn is_local(&self) -> bool {
        self.address.is_none()
    }

    /// Starts a daemon: on the named socket, else where its own settings say.
    fn start(&self, failure: Failure) -> Result<Reachable, Failure> {
        if self.address.is_some() {
            return Err(failure);
        }
        let system = Path::new(paths::SYSTEM_SOCKET);
        let denied = match &self.socket {
            Some(socket) => socket == system || is_denied(socket),
            // If the machine has a daemon for all users, no user starts another.
            None => system.exists() || self.sockets().iter().any(|socket| is_denied(socket)),
        };
        if denied {
            return Err(failure);
        }
        check_own_place(self.socket.as_deref(), failure)?;
        let owner = || {
            let settings = DaemonSettings::of_process();
            UserPaths::of_process().owner(settings.folder.as_deref())
        };
        let started = autostart::start(self.socket.as_deref(), || self.sockets(), owner)?;
        Ok(Reachable {
            remote: started.remote,
            note: started.log.map(|log| {
                format!(
                    "amemd was started on {}; it logs to {}; `amemctl shutdown` stops it",
                    started.socket.display(),
                    log.display()
                )
            }),
        })
    }

    /// The named socket; else that of amemd's settings, and every place where a daemon may listen.
    fn sockets(&self) -> Vec<PathBuf> {
        if let Some(socket) = &self.socket {
            return vec![socket.clone()];
        }
        let settings = DaemonSettings::of_process();
        let mut sockets: Vec<PathBuf> = settings.socket.into_iter().collect();
        sockets.extend(UserPaths::of_process().sockets(settings.folder.as_deref()));
        sockets
    }

    fn tcp(&self, address: &str) -> Result<Remote, Failure> {
        let port = address
            .rsplit_once(':')
            .map(|(_, port)| port.parse::<u16>());
        if !matches!(port, Some(Ok(_))) {
            return Err(Failure::argument(
                format!("{address:?} is not an address"),
                "write it as HOST:PORT, such as 127.0.0.1:7411",
            ));
        }
        if self.socket.is_some() {
            return Err(Failure::argument(
                "both a socket and an address are given",
                "give either --socket or --address (AMEMD_SOCKET, AMEMD_ADDRESS)",
            ));
        }
        let token = match &self.token_file {
            None => None,
            Some(path) => Some(String::from_utf8(secret(path)?).map_err(|_| {
                Failure::argument(
                    format!("{} is not text", path.display()),
                    "name a file with the output of `amemctl token create`",
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
                    "TLS needs an authority",
                    "give the daemon's authority with --tls-ca",
                ));
            }
            return Ok(None);
        };
        let identity = match (&self.tls_certificate, &self.tls_key) {
            (None, None) => None,
            (Some(certificate), Some(key)) => Some((bytes(certificate)?, secret(key)?)),
            _ => {
                return Err(Failure::argument(
                    "a certificate needs its key, and a key its certificate",
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

    /// Refuses a socket's path that the system does not take.
    fn check_socket(&self) -> Result<(), Failure> {
        let bytes = self
            .socket
            .as_ref()
            .map_or(0, |path| path.as_os_str().len());
        if bytes <= paths::SOCKET_BYTES_MAX {
            return Ok(());
        }
        Err(Failure::argument(
            format!(
                "the path of the socket has {bytes} bytes, and the system takes {} at most",
                paths::SOCKET_BYTES_MAX
            ),
            "use a shorter path, or omit --socket (AMEMD_SOCKET)",
        ))
    }

    /// Refuses TCP flags on a Unix socket.
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
                format!("{name} applies only to a daemon at a TCP address"),
                "also give --address",
            )),
        }
    }
}

/// Refuses to start a daemon unless both its socket and its folder are the user's own. Of another socket the folder is
/// not known: while its daemon restarts, one with the user's folder would take its place, and what is written meanwhile
/// would be elsewhere. On the user's own socket, the daemon of another folder would do the same to the user's own.
fn check_own_place(socket: Option<&Path>, failure: Failure) -> Result<(), Failure> {
    let (places, settings) = (UserPaths::of_process(), DaemonSettings::of_process());
    let is_half = settings.is_half_named();
    let own_socket = settings.socket.or_else(|| places.socket());
    let own_folder = settings.folder.or_else(|| places.folder());
    let folder = env::var_os(FOLDER).filter(|folder| !folder.is_empty());
    let folder = folder.map(PathBuf::from);
    let is_own = |named: Option<&Path>, own: &Option<PathBuf>| {
        named.is_none_or(|named| std::path::absolute(named).ok() == *own)
    };
    if !is_half && is_own(socket, &own_socket) && is_own(folder.as_deref(), &own_folder) {
        return Ok(());
    }
    if let Some(socket) = socket {
        autostart::check_owner(socket, &places.owner(own_folder.as_deref()))?;
    }
    let shown = |path: Option<&Path>, other: &str| {
        path.map_or(other.to_owned(), |path| path.display().to_string())
    };
    let folder = shown(folder.as_deref(), "FOLDER");
    let socket = shown(socket.or(own_socket.as_deref()), "SOCKET");
    Err(Failure {
        remedy: format!(
            "start the amemd that listens there: `amemd --folder {folder} --socket {socket}`; or omit --socket \
             (AMEMD_SOCKET, {FOLDER}, AMEMD_CONFIG) for your own, which this command starts"
        ),
        ..failure
    })
}

/// Names the daemon's folder of brains.
const FOLDER: &str = "AMEMD_FOLDER";

const NO_DAEMON: &str = "no_daemon";

/// Bytes of a token, a key or certificates.
const SECRET_BYTES_MAX: u64 = 1 << 20;

fn nowhere() -> Failure {
    Failure::new(
        Exit::Unavailable,
        NO_DAEMON,
        "no socket of amemd is known",
        "give --socket, or set HOME",
    )
}

/// Whether the socket belongs to another user: starting another daemon would not help.
fn is_denied(socket: &Path) -> bool {
    use std::os::unix::net::UnixStream;
    let error = UnixStream::connect(socket).err();
    error.is_some_and(|e| e.kind() == std::io::ErrorKind::PermissionDenied)
}

fn bytes(path: &Path) -> Result<Vec<u8>, Failure> {
    named_file::read(path, SECRET_BYTES_MAX)
}

/// Refuses a file of ours that others may read. The mode of another user's file is that user's choice.
fn secret(path: &Path) -> Result<Vec<u8>, Failure> {
    let failed = |e| Failure::io("read", path, &e);
    let file = named_file::open(path)?;
    let meta = file.metadata().map_err(failed)?;
    let mode = meta.permissions().mode() & 0o777;
    let is_ours = meta.uid() == rustix::process::geteuid().as_raw();
    if is_ours && mode & 0o077 != 0 {
        let path = path.display();
        return Err(Failure::argument(
            format!(
                "{path} is a secret, and others may read or change it (its mode is {mode:04o})"
            ),
            format!("restrict it: chmod 600 {path}"),
        ));
    }
    let mut bytes = Vec::new();
    let read = file.take(SECRET_BYTES_MAX + 1).read_to_end(&mut bytes);
    read.map_err(failed)?;
    if bytes.len() as u64 > SECRET_BYTES_MAX {
        let path = path.display();
        return Err(Failure::argument(
            format!(
                "{path} has more than {SECRET_BYTES_MAX} bytes: it is neither a token nor a key"
            ),
            "name the file of the token or the key",
        ));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

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
                agent: false,
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
