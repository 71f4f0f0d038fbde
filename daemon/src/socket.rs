//! The Unix socket: made so that nobody else can ever connect, and who is at the other end.
//!
//! Promises: the socket has its mode before it listens; a live daemon's socket is never taken away; a caller of
//! another user is turned away, by the kernel's word for it and never by a process id.

use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::os::unix::net::UnixStream as BlockingStream;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, Mode};
use rustix::net::{self, AddressFamily, SocketAddrUnix, SocketFlags, SocketType};
use tokio::net::{UnixListener, UnixStream};
use tonic::transport::server::UdsConnectInfo;

use crate::config::make_private;
use crate::error::{Error, Result};

/// Bytes of a socket's path; the kernel's 108 with their closing zero.
const PATH_BYTES_MAX: usize = 107;
/// Connections that wait to be accepted.
const BACKLOG: i32 = 128;

/// A listening socket. Dropping it takes its name away, if that is still ours.
#[derive(Debug)]
pub struct Socket {
    listener: UnixListener,
    path: PathBuf,
    /// Device and inode.
    identity: (u64, u64),
}

impl Socket {
    /// Listens on a path: mode 0600, in a folder that is made with mode 0700 if it is missing.
    pub fn bind(path: &Path) -> Result<Self> {
        let folder = path.parent().unwrap_or(Path::new("/"));
        make_private(folder)?;
        remove_stale(path)?;
        // It gets its mode under a name that nobody knows, and its own name once it is ready.
        let mut private = path.as_os_str().to_owned();
        private.push(format!(".{}", std::process::id()));
        let private = PathBuf::from(private);
        let len = private.as_os_str().as_bytes().len();
        if len > PATH_BYTES_MAX {
            return Err(Error::SocketPath {
                path: path.into(),
                len,
                max: PATH_BYTES_MAX,
            });
        }
        let failed = |e: rustix::io::Errno| Error::io("listen on", path, e.into());
        let socket = net::socket_with(
            AddressFamily::UNIX,
            SocketType::STREAM,
            SocketFlags::CLOEXEC | SocketFlags::NONBLOCK,
            None,
        )
        .map_err(failed)?;
        drop(fs::remove_file(&private));
        net::bind(&socket, &SocketAddrUnix::new(&private).map_err(failed)?).map_err(failed)?;
        let ready = rustix::fs::chmodat(
            CWD,
            &private,
            Mode::RUSR | Mode::WUSR,
            rustix::fs::AtFlags::empty(),
        )
        .and_then(|()| net::listen(&socket, BACKLOG))
        .and_then(|()| rustix::fs::rename(&private, path));
        if let Err(e) = ready {
            drop(fs::remove_file(&private));
            return Err(failed(e));
        }
        let io = |e| Error::io("listen on", path, e);
        let meta = fs::symlink_metadata(path).map_err(io)?;
        let listener = UnixListener::from_std(socket.into()).map_err(io)?;
        Ok(Self {
            listener,
            path: path.into(),
            identity: (meta.dev(), meta.ino()),
        })
    }

    /// The next connection of our own user.
    pub(crate) async fn accept(&self) -> io::Result<UnixStream> {
        let ours = rustix::process::geteuid().as_raw();
        loop {
            let (stream, _) = self.listener.accept().await?;
            match stream.peer_cred() {
                Ok(peer) if peer.uid() == ours => return Ok(stream),
                Ok(peer) => {
                    tracing::warn!(uid = peer.uid(), "turned away a caller of another user")
                }
                Err(error) => tracing::warn!(%error, "turned away a caller that nobody knows"),
            }
        }
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        let found = fs::symlink_metadata(&self.path).map(|meta| (meta.dev(), meta.ino()));
        if found.is_ok_and(|found| found == self.identity) {
            drop(fs::remove_file(&self.path));
        }
    }
}

/// Who is at the other end of a connection, as commits name it.
pub(crate) fn principal(extensions: &tonic::Extensions) -> Option<String> {
    let peer = extensions.get::<UdsConnectInfo>()?.peer_cred?;
    Some(format!("uid:{}", peer.uid()))
}

/// Removes a socket on which nobody listens any more.
fn remove_stale(path: &Path) -> Result<()> {
    let io = |e| Error::io("listen on", path, e);
    let meta = match fs::symlink_metadata(path) {
        Ok(meta) => meta,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(e) => return Err(io(e)),
    };
    if !meta.file_type().is_socket() {
        let kind = io::Error::new(io::ErrorKind::AlreadyExists, "it is not a socket");
        return Err(io(kind));
    }
    match BlockingStream::connect(path) {
        Ok(_) => Err(Error::SocketInUse { path: path.into() }),
        Err(e) if e.kind() == io::ErrorKind::ConnectionRefused => fs::remove_file(path).map_err(io),
        Err(e) => Err(io(e)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[tokio::test]
    async fn a_socket_is_private_and_a_live_one_is_not_taken() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run/amemd.sock");
        let socket = Socket::bind(&path).unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&path), 0o600);
        assert_eq!(mode(path.parent().unwrap()), 0o700);
        let error = Socket::bind(&path).unwrap_err();
        assert!(matches!(error, Error::SocketInUse { .. }), "{error}");
        drop(socket);
        assert!(!path.exists(), "a socket that is closed keeps no name");
    }

    #[tokio::test]
    async fn a_socket_that_a_dead_daemon_left_is_replaced_and_a_file_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("amemd.sock");
        drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
        assert!(path.exists());
        drop(Socket::bind(&path).unwrap());
        fs::write(&path, "mine").unwrap();
        let error = Socket::bind(&path).unwrap_err();
        assert!(error.to_string().contains("not a socket"), "{error}");
        assert_eq!(fs::read(&path).unwrap(), b"mine");
    }

    #[tokio::test]
    async fn a_path_that_fits_no_address_is_named_with_its_length() {
        let folder = tempfile::tempdir().unwrap();
        let error = Socket::bind(&folder.path().join("s".repeat(108))).unwrap_err();
        assert!(
            matches!(error, Error::SocketPath { max: 107, .. }),
            "{error}"
        );
    }
}
