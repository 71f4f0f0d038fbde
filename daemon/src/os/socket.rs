//! The Unix socket.
//!
//! Promises: the socket has its mode and its group before it listens; the socket of a running daemon is never removed.
//! Not here: who connects (`ingress`).

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

/// Bytes of a socket's path: the 108 of the kernel include a final zero.
const PATH_BYTES_MAX: usize = 107;
/// Connections that wait to be accepted.
const BACKLOG: i32 = 128;

/// Device, inode, and time of creation: a new file may get the inode of a removed one.
type SocketIdentity = (u64, u64, i64, i64);

fn identity(meta: &fs::Metadata) -> SocketIdentity {
    (meta.dev(), meta.ino(), meta.mtime(), meta.mtime_nsec())
}

/// A listening socket. Dropping it removes its path, unless another socket has that by now or it is inherited.
#[derive(Debug)]
pub struct Socket {
    listener: UnixListener,
    path: PathBuf,
    /// `None` if it is inherited.
    identity: Option<SocketIdentity>,
}

impl Socket {
    /// Listens on a path, and creates its folder if it is missing: for the daemon's user (mode 0600 in 0700), or also
    /// for a group (mode 0660 in 0750).
    pub fn bind(path: &Path, group: Option<u32>) -> Result<Self> {
        let folder = path.parent().unwrap_or(Path::new("/"));
        make_folder(folder, group)?;
        check_socket_folder(folder)?;
        let stale = stale(path)?;
        // It gets its mode under a private name, and its own name once it is ready.
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
            .and_then(|()| stale.map_or(Ok(()), |stale| remove_stale(path, stale)))
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

    /// A socket that the service manager made and owns.
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

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

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

/// The name of a socket before it is ready.
fn private_name(path: &Path) -> PathBuf {
    let mut private = path.as_os_str().to_owned();
    private.push(format!(".{}", std::process::id()));
    private.into()
}

/// Refuses a path that is too long for a socket address.
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

/// Creates the folder of a socket; an existing one is not changed.
fn make_folder(folder: &Path, group: Option<u32>) -> Result<()> {
    let was_there = folder.exists();
    make_private(folder)?;
    if group.is_some() && !was_there {
        let failed = |e: rustix::io::Errno| Error::io("give the group access to", folder, e.into());
        allow(folder, group, 0o750).map_err(failed)?;
    }
    Ok(())
}

/// Sets the group, if there is one, and the mode.
fn allow(path: &Path, group: Option<u32>, mode: u32) -> rustix::io::Result<()> {
    if let Some(group) = group {
        rustix::fs::chown(path, None, Some(Gid::from_raw(group)))?;
    }
    rustix::fs::chmod(path, Mode::from_raw_mode(mode))
}

/// The socket that a dead daemon left on a path, if there is one.
fn stale(path: &Path) -> Result<Option<SocketIdentity>> {
    let io = |e| Error::io("listen on", path, e);
    let meta = match fs::symlink_metadata(path) {
        Ok(meta) => meta,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(io(e)),
    };
    if !meta.file_type().is_socket() {
        let kind = io::Error::new(io::ErrorKind::AlreadyExists, "the file is not a socket");
        return Err(io(kind));
    }
    match BlockingStream::connect(path) {
        Ok(_) => Err(Error::SocketInUse { path: path.into() }),
        Err(e) if e.kind() == io::ErrorKind::ConnectionRefused => Ok(Some(identity(&meta))),
        Err(e) => Err(io(e)),
    }
}

/// Removes a stale socket. If another daemon has replaced it meanwhile, that daemon's socket is put back.
fn remove_stale(path: &Path, stale: SocketIdentity) -> Result<()> {
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

/// Renames a socket to its path, unless another socket has that by now.
fn put(from: &Path, path: &Path) -> Result<()> {
    match rustix::fs::renameat_with(CWD, from, CWD, path, RenameFlags::NOREPLACE) {
        Ok(()) => Ok(()),
        Err(Errno::EXIST) => Err(Error::SocketInUse { path: path.into() }),
        // The file system has no RENAME_NOREPLACE.
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
        // A process may always give a file to its own group.
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
        // `seen` is out of date by now.
        let error = remove_stale(&path, seen).unwrap_err();
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
