//! Inherited sockets: socket activation by a service manager (sd_listen_fds).
//!
//! The name of a descriptor (FileDescriptorName=) says what it is for: "metrics" for the pages of metrics, "http" for
//! HTTP; "amemd.socket", and the name that a manager without names passes, for callers, by the Unix socket and by TCP.
//!
//! Promises: every inherited socket is used, or refused by its name; the manager owns it, so its path stays when the
//! daemon ends. Not here: whether its address is the configured one (`ingress::listeners`).

use std::net::TcpListener;
use std::os::fd::AsFd;
use std::os::unix::net::UnixListener;
use std::path::PathBuf;

use listenfd::ListenFd;
use rustix::net::sockopt::socket_acceptconn;

use crate::error::{Error, Result};

/// The first inherited descriptor.
const FIRST: usize = 3;

/// The default name of the sockets of amemd.socket.
const CALLS: &str = "amemd.socket";
/// The name under a manager that gives no names.
const UNNAMED: &str = "unknown";
/// The name of the socket for metrics.
const METRICS: &str = "metrics";
/// The name of the socket for HTTP.
const HTTP: &str = "http";

/// Inherited sockets, at most one of each kind.
#[derive(Debug, Default)]
pub struct InheritedSockets {
    /// The Unix socket, and its path.
    pub(crate) unix: Option<(UnixListener, PathBuf)>,
    /// TCP for callers.
    pub(crate) tcp: Option<TcpListener>,
    /// TCP for metrics.
    pub(crate) metrics: Option<TcpListener>,
    /// TCP for HTTP.
    pub(crate) http: Option<TcpListener>,
}

impl InheritedSockets {
    /// Takes the sockets of this process. Call it once, before there are threads: it removes the variables from the
    /// environment, so that no child process takes the sockets.
    pub fn take() -> Result<Self> {
        let wrong = |why: String| Error::InheritedSocket {
            what: "a socket".into(),
            why,
        };
        // Checks LISTEN_PID: the variables may be meant for the parent process.
        let names = sd_notify::listen_fds_with_names().map_err(|e| wrong(e.to_string()))?;
        let names: Vec<_> = names.map(|(_, name)| name).collect();
        let mut given = ListenFd::from_env();
        let mut sockets = Self::default();
        for (index, name) in names.iter().enumerate() {
            match name.as_str() {
                METRICS => named(&mut given, index, METRICS, &mut sockets.metrics)?,
                HTTP => named(&mut given, index, HTTP, &mut sockets.http)?,
                CALLS | UNNAMED => sockets.add(&mut given, index)?,
                other => {
                    return Err(Error::InheritedSocket {
                        what: format!("descriptor {} as {other:?}", FIRST + index),
                        why: format!(
                            "the name is unknown: set FileDescriptorName={METRICS} for a socket for metrics, {HTTP} \
                             for one for HTTP, and {CALLS} for one for callers"
                        ),
                    });
                }
            }
        }
        Ok(sockets)
    }

    fn add(&mut self, given: &mut ListenFd, index: usize) -> Result<()> {
        let descriptor = FIRST + index;
        let wrong = |why: String| Error::InheritedSocket {
            what: format!("descriptor {descriptor}"),
            why,
        };
        if let Ok(Some(unix)) = given.take_unix_listener(index) {
            check_listens(&unix).map_err(wrong)?;
            let address = unix.local_addr().map_err(|e| wrong(e.to_string()))?;
            let Some(path) = address.as_pathname() else {
                return Err(wrong(
                    "it is a Unix socket without a path, to which every user could connect: set ListenStream= to \
                     a path"
                        .into(),
                ));
            };
            let path = path.to_owned();
            return match self.unix.replace((unix, path)) {
                None => Ok(()),
                Some(_) => Err(wrong("it is a second Unix socket: pass only one".into())),
            };
        }
        match given.take_tcp_listener(index) {
            Ok(Some(tcp)) => {
                check_listens(&tcp).map_err(wrong)?;
                match self.tcp.replace(tcp) {
                    None => Ok(()),
                    Some(_) => Err(wrong("it is a second TCP socket: pass only one".into())),
                }
            }
            Ok(None) => Err(wrong("it does not exist".into())),
            Err(_) => Err(wrong(
                "it is neither a Unix nor a TCP stream socket: use ListenStream=".into(),
            )),
        }
    }
}

/// Takes a socket that serves one purpose by TCP.
fn named(
    given: &mut ListenFd,
    index: usize,
    name: &str,
    place: &mut Option<TcpListener>,
) -> Result<()> {
    let wrong = |why: String| Error::InheritedSocket {
        what: format!("descriptor {} as {name:?}", FIRST + index),
        why,
    };
    let tcp = match given.take_tcp_listener(index) {
        Ok(Some(tcp)) => tcp,
        Ok(None) => return Err(wrong("it does not exist".into())),
        Err(_) => {
            return Err(wrong(format!(
                "it is not a TCP socket: for {name}, set ListenStream= to an address with a port"
            )));
        }
    };
    check_listens(&tcp).map_err(wrong)?;
    match place.replace(tcp) {
        None => Ok(()),
        Some(_) => Err(wrong(format!(
            "it is a second socket for {name}: pass only one"
        ))),
    }
}

/// Refuses a connected socket, as `Accept=yes` passes it.
fn check_listens(socket: &impl AsFd) -> std::result::Result<(), String> {
    match socket_acceptconn(socket) {
        Ok(true) => Ok(()),
        Ok(false) => Err("it does not listen: set Accept=no".into()),
        Err(e) => Err(e.to_string()),
    }
}
