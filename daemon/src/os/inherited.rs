//! Sockets that a service manager made, and lends to the daemon that it starts (sd_listen_fds).
//!
//! What a socket is for says its name (FileDescriptorName=): "metrics" is for those who scrape; those of
//! amemd.socket, and those of a manager that gives no names, are for callers, by the Unix socket and by TCP.
//!
//! Promises: what is lent is used or refused by name, never overlooked; a socket that is lent belongs to the
//! manager, and keeps its path when the daemon ends. Not here: who may come in by it (`accept`, by the kernel's word
//! as ever), and whether its address is the one in the settings (`listeners`).

use std::net::TcpListener;
use std::os::fd::AsFd;
use std::os::unix::net::UnixListener;
use std::path::PathBuf;

use listenfd::ListenFd;
use rustix::net::sockopt::socket_acceptconn;

use crate::error::{Error, Result};

/// The number of the first descriptor.
const FIRST: usize = 3;

/// What systemd calls the sockets of amemd.socket, if that does not name them.
const CALLS: &str = "amemd.socket";
/// What sockets are called of which the manager says no names.
const UNNAMED: &str = "unknown";
/// What the socket for metrics is called.
const METRICS: &str = "metrics";

/// Sockets that are lent, at most one of each kind.
#[derive(Debug, Default)]
pub struct InheritedSockets {
    /// A Unix socket, and its path.
    pub(crate) unix: Option<(UnixListener, PathBuf)>,
    /// A socket of TCP.
    pub(crate) tcp: Option<TcpListener>,
    /// A socket of TCP for metrics.
    pub(crate) metrics: Option<TcpListener>,
}

impl InheritedSockets {
    /// Takes what was lent to this process. The environment is changed, so that nothing that is started later takes it
    /// for itself: call it once, before there are threads.
    pub fn take() -> Result<Self> {
        let wrong = |why: String| Error::InheritedSocket {
            what: "a socket".into(),
            why,
        };
        // Tells whether it is for us: the variables may be those of who started us.
        let names = sd_notify::listen_fds_with_names().map_err(|e| wrong(e.to_string()))?;
        let names: Vec<_> = names.map(|(_, name)| name).collect();
        let mut given = ListenFd::from_env();
        let mut lent = Self::default();
        for (index, name) in names.iter().enumerate() {
            match name.as_str() {
                METRICS => lent.add_metrics(&mut given, index)?,
                CALLS | UNNAMED => lent.add(&mut given, index)?,
                other => {
                    return Err(Error::InheritedSocket {
                        what: format!("descriptor {} as {other:?}", FIRST + index),
                        why: format!(
                            "no such name is known: give FileDescriptorName={METRICS} to a socket for metrics, and \
                             FileDescriptorName={CALLS} to one for callers"
                        ),
                    });
                }
            }
        }
        Ok(lent)
    }

    fn add_metrics(&mut self, given: &mut ListenFd, index: usize) -> Result<()> {
        let wrong = |why: String| Error::InheritedSocket {
            what: format!("descriptor {} as {METRICS:?}", FIRST + index),
            why,
        };
        let tcp = match given.take_tcp_listener(index) {
            Ok(Some(tcp)) => tcp,
            Ok(None) => return Err(wrong("it is not there".into())),
            Err(_) => {
                return Err(wrong(
                    "no TCP socket: metrics need ListenStream= an address with a port".into(),
                ));
            }
        };
        check_listens(&tcp).map_err(wrong)?;
        match self.metrics.replace(tcp) {
            None => Ok(()),
            Some(_) => Err(wrong("a second socket for metrics: one is enough".into())),
        }
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
                    "a Unix socket without a path, which every user of the machine could connect to: give \
                     ListenStream= a path"
                        .into(),
                ));
            };
            let path = path.to_owned();
            return match self.unix.replace((unix, path)) {
                None => Ok(()),
                Some(_) => Err(wrong("a second Unix socket: one is enough".into())),
            };
        }
        match given.take_tcp_listener(index) {
            Ok(Some(tcp)) => {
                check_listens(&tcp).map_err(wrong)?;
                match self.tcp.replace(tcp) {
                    None => Ok(()),
                    Some(_) => Err(wrong("a second TCP socket: one is enough".into())),
                }
            }
            Ok(None) => Err(wrong("it is not there".into())),
            Err(_) => Err(wrong(
                "neither a Unix nor a TCP socket of streams: only ListenStream= is of use".into(),
            )),
        }
    }
}

/// Refuses a socket that is a connection already, as `Accept=yes` gives.
fn check_listens(socket: &impl AsFd) -> std::result::Result<(), String> {
    match socket_acceptconn(socket) {
        Ok(true) => Ok(()),
        Ok(false) => Err("a socket that does not listen: it needs Accept=no".into()),
        Err(e) => Err(e.to_string()),
    }
}
