//! The Unix socket: made so that nobody can ever connect who should not.
//!
//! Promises: the socket has its mode and its group before it listens; a live daemon's socket is never taken away. Not
//! here: who is at the other end (`listen`).

use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::os::unix::net::UnixStream as BlockingStream;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, Gid, Mode, RenameFlags};
use rustix::io::Errno;
use rustix::net::{self, AddressFamily, SocketAddrUnix, SocketFlags, SocketType};
use tokio::net::{UnixListener, UnixStream};

use super::folder::{check_socket_folder, make_private};
use crate::error::{Error, Result};

/// Bytes of a socket's path; the kernel's 108 with their closing zero.
const PATH_BYTES_MAX: usize = 107;
/// Connections that wait to be accepted.
const BACKLOG: i32 = 128;

/// Device, inode, and when it was made: another file may get the inode of one that is no more.
type Identity = (u64, u64, i64, i64);

fn identity(meta: &fs::Metadata) -> Identity {
    (meta.dev(), meta.ino(), meta.mtime(), meta.mtime_nsec())
}

/// A listening socket. Dropping it takes its name away, if that is still ours; that of a socket that is inherited stays.
#[derive(Debug)]
pub struct Socket {
    listener: UnixListener,
    path: PathBuf,
    /// None if it is inherited.
    identity: Option<Identity>,
}

impl Socket {
    /// Listens on a path, in a folder that is made if it is missing: for our own user (mode 0600, in 0700), or for a
    /// group, too (mode 0660, in 0750).
    pub fn bind(path: &Path, group: Option<u32>) -> Result<Self> {
        let folder = path.parent().unwrap_or(Path::new("/"));
        make_folder(folder, group)?;
        check_socket_folder(folder)?;
        let stale = stale(path)?;
        // It gets its mode under a name that nobody knows, and its own name once it is ready.
        check_path(path)?;
        let private = private_name(path);
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
        let mode = if group.is_some() { 0o660 } else { 0o600 };
        let ready = allow(&private, group, mode)
            .and_then(|()| net::listen(&socket, BACKLOG))
            .map_err(failed)
            .and_then(|()| stale.map_or(Ok(()), |stale| take_away(path, stale)))
            .and_then(|()| put(&private, path));
        if let Err(error) = ready {
            drop(fs::remove_file(&private));
            return Err(error);
        }
        let io = |e| Error::io("listen on", path, e);
        let meta = fs::symlink_metadata(path).map_err(io)?;
        let listener = UnixListener::from_std(socket.into()).map_err(io)?;
        Ok(Self {
            listener,
            path: path.into(),
            identity: Some(identity(&meta)),
        })
    }

    /// A socket that somebody else made, with its rights, and looks after.
    pub(crate) fn inherited(
        listener: std::os::unix::net::UnixListener,
        path: &Path,
    ) -> Result<Self> {
        let io = |e| Error::io("listen on", path, e);
        listener.set_nonblocking(true).map_err(io)?;
        Ok(Self {
            listener: UnixListener::from_std(listener).map_err(io)?,
            path: path.into(),
            identity: None,
        })
    }

    /// The next connection.
    pub(crate) async fn accept(&self) -> io::Result<UnixStream> {
        let (stream, _) = self.listener.accept().await?;
        Ok(stream)
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        let Some(ours) = self.identity else {
            return;
        };
        let found = fs::symlink_metadata(&self.path).map(|meta| identity(&meta));
        if found.is_ok_and(|found| found == ours) {
            drop(fs::remove_file(&self.path));
        }
    }
}

/// The name that a socket has before it is ready.
fn private_name(path: &Path) -> PathBuf {
    let mut private = path.as_os_str().to_owned();
    private.push(format!(".{}", std::process::id()));
    private.into()
}

/// Refuses a path that does not fit an address.
pub(crate) fn check_path(path: &Path) -> Result<()> {
    let len = private_name(path).as_os_str().as_bytes().len();
    if len <= PATH_BYTES_MAX {
        return Ok(());
    }
    Err(Error::SocketPath {
        path: path.into(),
        len,
        max: PATH_BYTES_MAX,
    })
}

/// Makes the folder of a socket; one that is there stays as it is.
fn make_folder(folder: &Path, group: Option<u32>) -> Result<()> {
    let was_there = folder.exists();
    make_private(folder)?;
    if group.is_some() && !was_there {
        let failed = |e: rustix::io::Errno| Error::io("open to the group", folder, e.into());
        allow(folder, group, 0o750).map_err(failed)?;
    }
    Ok(())
}

/// Gives a path its group, if it has one, and its rights.
fn allow(path: &Path, group: Option<u32>, mode: u32) -> rustix::io::Result<()> {
    if let Some(group) = group {
        rustix::fs::chown(path, None, Some(Gid::from_raw(group)))?;
    }
    rustix::fs::chmod(path, Mode::from_raw_mode(mode))
}

/// The socket on a path on which nobody listens any more, if there is one.
fn stale(path: &Path) -> Result<Option<Identity>> {
    let io = |e| Error::io("listen on", path, e);
    let meta = match fs::symlink_metadata(path) {
        Ok(meta) => meta,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(io(e)),
    };
    if !meta.file_type().is_socket() {
        let kind = io::Error::new(io::ErrorKind::AlreadyExists, "it is not a socket");
        return Err(io(kind));
    }
    match BlockingStream::connect(path) {
        Ok(_) => Err(Error::SocketInUse { path: path.into() }),
        Err(e) if e.kind() == io::ErrorKind::ConnectionRefused => Ok(Some(identity(&meta))),
        Err(e) => Err(io(e)),
    }
}

/// Takes a stale socket away. Another daemon may have done so before us, and listen there by now: then what we took is
/// put back.
fn take_away(path: &Path, stale: Identity) -> Result<()> {
    let mut away = private_name(path).into_os_string();
    away.push("-");
    let away = PathBuf::from(away);
    let io = |e| Error::io("listen on", path, e);
    match fs::rename(path, &away) {
        Ok(()) => {}
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(e) => return Err(io(e)),
    }
    let found = fs::symlink_metadata(&away).map_err(io)?;
    if identity(&found) == stale {
        return fs::remove_file(&away).map_err(io);
    }
    put(&away, path)?;
    Err(Error::SocketInUse { path: path.into() })
}

/// Gives a socket its name, unless another has it by now.
fn put(from: &Path, path: &Path) -> Result<()> {
    match rustix::fs::renameat_with(CWD, from, CWD, path, RenameFlags::NOREPLACE) {
        Ok(()) => Ok(()),
        Err(Errno::EXIST) => Err(Error::SocketInUse { path: path.into() }),
        // The file system can't do that in one step.
        Err(Errno::INVAL | Errno::NOSYS) if !path.exists() => {
            fs::rename(from, path).map_err(|e| Error::io("listen on", path, e))
        }
        Err(e) => Err(Error::io("listen on", path, e.into())),
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
        let socket = Socket::bind(&path, None).unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&path), 0o600);
        assert_eq!(mode(path.parent().unwrap()), 0o700);
        let error = Socket::bind(&path, None).unwrap_err();
        assert!(matches!(error, Error::SocketInUse { .. }), "{error}");
        drop(socket);
        assert!(!path.exists(), "a socket that is closed keeps no name");
    }

    #[tokio::test]
    async fn a_socket_for_a_group_lets_the_group_in_and_nobody_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run/amemd.sock");
        // Our own group: we may always give it.
        let group = rustix::process::getegid().as_raw();
        let _socket = Socket::bind(&path, Some(group)).unwrap();
        let of = |path: &Path| fs::metadata(path).unwrap();
        assert_eq!(of(&path).permissions().mode() & 0o777, 0o660);
        assert_eq!(
            of(path.parent().unwrap()).permissions().mode() & 0o777,
            0o750
        );
        assert_eq!(of(&path).gid(), group);
    }

    #[tokio::test]
    async fn a_socket_that_a_dead_daemon_left_is_replaced_and_a_file_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("amemd.sock");
        drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
        assert!(path.exists());
        drop(Socket::bind(&path, None).unwrap());
        fs::write(&path, "mine").unwrap();
        let error = Socket::bind(&path, None).unwrap_err();
        assert!(error.to_string().contains("not a socket"), "{error}");
        assert_eq!(fs::read(&path).unwrap(), b"mine");
    }

    #[tokio::test]
    async fn a_socket_that_is_lent_keeps_its_name() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("amemd.sock");
        let made = std::os::unix::net::UnixListener::bind(&path).unwrap();
        drop(Socket::inherited(made.try_clone().unwrap(), &path).unwrap());
        BlockingStream::connect(&path).expect("its owner still listens");
    }

    #[tokio::test]
    async fn a_socket_that_another_daemon_put_there_meanwhile_is_not_taken() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("amemd.sock");
        drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
        let seen = stale(&path).unwrap().unwrap();
        let other = Socket::bind(&path, None).unwrap();
        // We still believe that what lies there is the stale one.
        let error = take_away(&path, seen).unwrap_err();
        assert!(matches!(error, Error::SocketInUse { .. }), "{error}");
        BlockingStream::connect(&path).expect("it lost its name");
        let mine = folder.path().join("mine");
        let _mine = std::os::unix::net::UnixListener::bind(&mine).unwrap();
        let error = put(&mine, &path).unwrap_err();
        assert!(matches!(error, Error::SocketInUse { .. }), "{error}");
        drop(other);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[tokio::test]
    async fn a_folder_in_which_others_can_write_is_none_for_a_socket() {
        let folder = tempfile::tempdir().unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o777)).unwrap();
        let error = Socket::bind(&folder.path().join("s"), None).unwrap_err();
        assert!(error.to_string().contains("chmod go-w"), "{error}");
    }

    #[tokio::test]
    async fn a_path_that_fits_no_address_is_named_with_its_length() {
        let folder = tempfile::tempdir().unwrap();
        let error = Socket::bind(&folder.path().join("s".repeat(108)), None).unwrap_err();
        assert!(
            matches!(error, Error::SocketPath { max: 107, .. }),
            "{error}"
        );
    }
}
