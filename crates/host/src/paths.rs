//! Where daemon and clients meet: the folder of brains, the socket, and how to find a daemon that listens elsewhere.
//!
//! Daemon and clients share the rules (docs/decisions/0024), so that a client finds the daemon that owns the folder
//! whatever its own environment is. `clients/places.json` has cases that every language is tested by.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// The socket of the system service.
pub const SYSTEM_SOCKET: &str = "/run/amemd/amemd.sock";

/// Exit code of a daemon whose folder or socket another one has: EX_TEMPFAIL of sysexits.h, as a retry may succeed.
pub const IN_USE: u8 = 75;

/// Bytes of a default socket's path above which the short one is used: the kernel takes 107, and the daemon first binds
/// a longer name.
pub const DEFAULT_SOCKET_BYTES_MAX: usize = 90;

/// The variable that forbids clients to start a daemon, unless it is empty or 0.
pub const NO_AUTOSTART: &str = "AMEM_NO_AUTOSTART";

/// Bytes of a socket's path that the system takes (`sun_path`, without its end).
pub const SOCKET_BYTES_MAX: usize = 107;

/// The file, in a folder of brains, that its daemon locks.
const LOCK: &str = ".amemd/lock";
/// The file, in the user's data folder, that names the folder last used.
const LAST_DAEMON: &str = "last-daemon";
/// Bytes of `last-daemon` or a lock that are read.
const LINES_BYTES_MAX: u64 = 16 << 10;

/// The places of one user in one environment.
#[derive(Debug, Clone)]
pub struct UserPaths {
    /// `XDG_DATA_HOME`, if it moves the folder.
    moved: Option<PathBuf>,
    /// `~/.local/share/amem`.
    usual: Option<PathBuf>,
    /// `AMEMD_FOLDER`.
    folder: Option<PathBuf>,
    /// The folder of login sessions' sockets.
    runtime: Option<PathBuf>,
}

/// A daemon as a lock or `last-daemon` describes it: a hint, which may be out of date.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DaemonRecord {
    /// Its process.
    pub pid: Option<u32>,
    /// The folder of its brains.
    pub folder: Option<PathBuf>,
    /// Its socket.
    pub socket: Option<PathBuf>,
    /// The folder that the file was written for: a copy of that folder has the file, too. `None` in files of earlier
    /// releases.
    pub place: Option<FolderIdentity>,
}

/// Which folder a file belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FolderIdentity {
    /// The number of its device.
    pub device: u64,
    /// Its number on that device.
    pub inode: u64,
    /// Its path without links.
    pub path: PathBuf,
}

impl FolderIdentity {
    /// The identity of a folder.
    ///
    /// # Errors
    /// The folder cannot be reached.
    pub fn of(folder: &Path) -> io::Result<Self> {
        let path = fs::canonicalize(folder)?;
        let meta = fs::metadata(&path)?;
        Ok(Self {
            device: meta.dev(),
            inode: meta.ino(),
            path,
        })
    }

    /// `DEVICE INODE PATH`.
    fn parse(value: &[u8]) -> Option<Self> {
        let mut parts = value.splitn(3, |byte| *byte == b' ');
        let mut number = || std::str::from_utf8(parts.next()?).ok()?.parse().ok();
        let (device, inode) = (number()?, number()?);
        let path = PathBuf::from(OsStr::from_bytes(parts.next()?));
        Some(Self {
            device,
            inode,
            path,
        })
    }

    /// True for the same folder, also under another path.
    fn is_same(&self, other: &Self) -> bool {
        (self.device, self.inode) == (other.device, other.inode)
    }
}

impl DaemonRecord {
    /// Reads a lock or `last-daemon`; empty if the file is missing or has another form.
    pub fn read(path: &Path) -> Self {
        let read = || {
            let mut bytes = Vec::new();
            io::Read::read_to_end(
                &mut io::Read::take(fs::File::open(path)?, LINES_BYTES_MAX),
                &mut bytes,
            )?;
            Ok::<_, io::Error>(bytes)
        };
        Self::parse(&read().unwrap_or_default())
    }

    /// Reads the lock of a folder of brains; empty if it was written for another folder, of which this one is a copy.
    /// Its daemon has that one.
    pub fn of_lock(folder: &Path) -> Self {
        let record = Self::read(&folder.join(LOCK));
        let is_own = record.place.as_ref().is_none_or(|place| {
            FolderIdentity::of(folder).is_ok_and(|folder| folder.is_same(place))
        });
        if is_own { record } else { Self::default() }
    }

    /// False for a `last-daemon` that came with a copy of the user's data folder. A folder that was moved has its
    /// numbers still, one that was restored its path: what it points to is outside of it, and right.
    fn is_of_user_data(&self, folder: &Path) -> bool {
        let Some(place) = &self.place else {
            return true;
        };
        let own = FolderIdentity::of(folder);
        own.is_ok_and(|own| own.is_same(place) || own.path == place.path)
    }

    fn parse(bytes: &[u8]) -> Self {
        let mut record = Self::default();
        for line in bytes.split(|byte| *byte == b'\n') {
            let Some(space) = line.iter().position(|byte| *byte == b' ') else {
                continue;
            };
            let value = OsStr::from_bytes(&line[space + 1..]);
            let path = Some(PathBuf::from(value)).filter(|path| path.is_absolute());
            match &line[..space] {
                b"pid" => record.pid = value.to_str().and_then(|pid| pid.parse().ok()),
                b"folder" => record.folder = path,
                b"socket" => record.socket = path,
                b"at" => record.place = FolderIdentity::parse(value.as_bytes()),
                _ => {}
            }
        }
        record
    }

    /// One `key value` a line. A path with a line break is left out.
    pub fn to_lines(&self) -> OsString {
        let mut lines = Vec::new();
        if let Some(pid) = self.pid {
            lines.extend(format!("pid {pid}\n").into_bytes());
        }
        for (key, path) in [("folder", &self.folder), ("socket", &self.socket)] {
            let Some(path) = path.as_ref().map(|path| path.as_os_str().as_bytes()) else {
                continue;
            };
            if !path.contains(&b'\n') {
                lines.extend([key.as_bytes(), b" ", path, b"\n"].concat());
            }
        }
        if let Some(place) = &self.place {
            let path = place.path.as_os_str().as_bytes();
            // The numbers decide; the path of a folder with a line break is left out.
            let path = if path.contains(&b'\n') { b"" } else { path };
            let numbers = format!("at {} {} ", place.device, place.inode);
            lines.extend([numbers.as_bytes(), path, b"\n"].concat());
        }
        OsString::from_vec(lines)
    }
}

impl UserPaths {
    /// The places of this process.
    pub fn of_process() -> Self {
        Self::new(|name| std::env::var_os(name), password_home, current_uid())
    }

    /// The places of an environment. `password_home` is asked for the home folder if `HOME` is no absolute path.
    pub fn new(
        variable: impl Fn(&str) -> Option<OsString>,
        password_home: impl FnOnce() -> Option<PathBuf>,
        uid: Option<u32>,
    ) -> Self {
        let home = absolute(&variable, "HOME").or_else(password_home);
        let runtime = absolute(&variable, "XDG_RUNTIME_DIR")
            .or_else(|| uid.map(|uid| format!("/run/user/{uid}").into()));
        Self {
            moved: absolute(&variable, "XDG_DATA_HOME").map(|data| data.join("amem")),
            usual: home.map(|home| home.join(".local/share/amem")),
            folder: absolute(&variable, "AMEMD_FOLDER"),
            runtime,
        }
    }

    /// The default folder of brains. `None` if neither a home folder nor `XDG_DATA_HOME` is known.
    pub fn folder(&self) -> Option<PathBuf> {
        match self.last_daemon().and_then(|last| last.folder) {
            Some(last) => Some(last),
            None => Some(self.data()?.join("brains")),
        }
    }

    /// The default socket.
    pub fn socket(&self) -> Option<PathBuf> {
        match self.last_daemon().and_then(|last| last.socket) {
            Some(last) => Some(last),
            None => self.usual_socket(),
        }
    }

    /// Every socket where the daemon may listen, the likeliest first. `folder` is that of the brains, if it is known to
    /// be another than the default.
    pub fn sockets(&self, folder: Option<&Path>) -> Vec<PathBuf> {
        let of_lock = |folder: &Path| DaemonRecord::of_lock(folder).socket;
        let default = self.folder();
        let last = self.last_daemon().and_then(|last| last.folder);
        let folder = folder.or(self.folder.as_deref()).or(default.as_deref());
        let candidates = [
            self.socket(),
            self.runtime
                .as_ref()
                .map(|run| run.join("amemd/amemd.sock")),
            folder.and_then(of_lock),
            last.as_deref().and_then(of_lock),
            Some(SYSTEM_SOCKET.into()),
        ];
        let mut sockets: Vec<PathBuf> = Vec::new();
        for socket in candidates.into_iter().flatten() {
            if !sockets.contains(&socket) {
                sockets.push(socket);
            }
        }
        sockets
    }

    /// The daemon that has locked a folder, by its lock; `folder` is that of the brains, if it is known to be another
    /// than the default.
    pub fn owner(&self, folder: Option<&Path>) -> DaemonRecord {
        let default = self.folder();
        let folder = folder.or(self.folder.as_deref()).or(default.as_deref());
        folder.map_or_else(DaemonRecord::default, DaemonRecord::of_lock)
    }

    /// Writes `last-daemon`, for callers without `XDG_DATA_HOME`.
    pub fn record(&self, folder: &Path, socket: &Path) -> io::Result<()> {
        let Some(usual) = &self.usual else {
            return Ok(());
        };
        fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(usual)?;
        let record = DaemonRecord {
            pid: None,
            folder: Some(folder.into()),
            socket: Some(socket.into()),
            place: Some(FolderIdentity::of(usual)?),
        };
        let path = usual.join(LAST_DAEMON);
        if DaemonRecord::read(&path) == record {
            return Ok(());
        }
        // Readers find the old file or the new one.
        let temporary = usual.join(format!("{LAST_DAEMON}.{}", std::process::id()));
        let written = fs::OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&temporary)
            .and_then(|mut file| file.write_all(record.to_lines().as_bytes()))
            .and_then(|()| fs::rename(&temporary, &path));
        if written.is_err() {
            drop(fs::remove_file(&temporary));
        }
        written
    }

    /// The folder of a file of the user that is the same for callers with `HOME` alone: `~/.local/share/amem`.
    pub fn user_data(&self) -> Option<&PathBuf> {
        self.usual.as_ref().or(self.moved.as_ref())
    }

    fn data(&self) -> Option<&PathBuf> {
        self.moved.as_ref().or(self.usual.as_ref())
    }

    fn usual_socket(&self) -> Option<PathBuf> {
        let socket = self.data()?.join("run/amemd.sock");
        let bytes = socket.as_os_str().as_bytes();
        if bytes.len() <= DEFAULT_SOCKET_BYTES_MAX {
            return Some(socket);
        }
        Some(format!("/tmp/amem-{:016x}/amemd.sock", fnv1a(bytes)).into())
    }

    /// The daemon last used, where this environment does not name a folder and the usual one has no brain.
    fn last_daemon(&self) -> Option<DaemonRecord> {
        let usual = self.usual.as_ref().filter(|_| self.moved.is_none())?;
        if has_brains(&usual.join("brains")) {
            return None;
        }
        let record = DaemonRecord::read(&usual.join(LAST_DAEMON));
        let is_there = record.folder.as_ref().is_some_and(|folder| folder.is_dir());
        (is_there && record.socket.is_some() && record.is_of_user_data(usual)).then_some(record)
    }
}

fn has_brains(folder: &Path) -> bool {
    let Ok(entries) = fs::read_dir(folder) else {
        return false;
    };
    entries
        .flatten()
        .any(|entry| entry.file_name().as_bytes().ends_with(b".amem"))
}

/// The 64-bit FNV-1a hash, as <http://www.isthe.com/chongo/tech/comp/fnv/> defines it: short enough to write in any
/// language.
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// The absolute path in a variable; the XDG specification ignores relative ones.
fn absolute(variable: &impl Fn(&str) -> Option<OsString>, name: &str) -> Option<PathBuf> {
    let path = variable(name).map(PathBuf::from);
    path.filter(|path| path.is_absolute())
}

/// The user's settings file of the daemon: `~/.config/amemd/config.toml`, or below `XDG_CONFIG_HOME`. `None` if no home
/// folder is known.
pub fn config_file(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let config = absolute(&variable, "XDG_CONFIG_HOME").or_else(|| {
        let home = absolute(&variable, "HOME").or_else(password_home);
        Some(home?.join(".config"))
    });
    Some(config?.join("amemd/config.toml"))
}

/// The home folder in the password database.
pub fn password_home() -> Option<PathBuf> {
    let is_unset = std::env::var_os("HOME").is_none_or(|home| home.is_empty());
    let found = if is_unset {
        // The standard library asks the C library then, which knows every source of accounts.
        std::env::home_dir()
    } else {
        home_in(&fs::read_to_string("/etc/passwd").ok()?, current_uid()?)
    };
    found.filter(|home| home.is_absolute())
}

/// The home folder of a user in the lines of /etc/passwd.
fn home_in(accounts: &str, uid: u32) -> Option<PathBuf> {
    accounts.lines().find_map(|line| {
        let fields: Vec<&str> = line.split(':').collect();
        let is_it = fields.get(2)?.parse() == Ok(uid);
        is_it.then(|| fields.get(5).map(PathBuf::from)).flatten()
    })
}

fn current_uid() -> Option<u32> {
    Some(rustix::process::getuid().as_raw())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    /// One case of clients/places.json in a folder of its own.
    fn check(case: &Value, root: &Path, uid: u32) {
        let filled = |text: &str| {
            let root = root.to_str().unwrap();
            text.replace("$ROOT", root)
                .replace("$UID", &uid.to_string())
        };
        let path = |value: &Value| value.as_str().map(|text| PathBuf::from(filled(text)));
        for (name, content) in case["files"].as_object().into_iter().flatten() {
            let file = PathBuf::from(filled(name));
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, filled(content.as_str().unwrap())).unwrap();
        }
        let variable = |name: &str| Some(filled(case["variables"][name].as_str()?).into());
        let paths = UserPaths::new(variable, || path(&case["account_home"]), Some(uid));
        let expected: Vec<PathBuf> = case["sockets"]
            .as_array()
            .unwrap()
            .iter()
            .filter_map(path)
            .collect();
        let name = &case["name"];
        assert_eq!(paths.socket(), path(&case["socket"]), "{name}");
        assert_eq!(paths.folder(), path(&case["folder"]), "{name}");
        assert_eq!(paths.sockets(None), expected, "{name}");
    }

    #[test]
    fn daemon_and_clients_meet_in_every_case_of_the_list() {
        let list: Value =
            serde_json::from_str(include_str!("../../../clients/places.json")).unwrap();
        let cases = list["cases"].as_array().unwrap();
        assert!(cases.len() >= 30);
        for case in cases {
            // Long sockets are shortened, so the folder's own path must be short.
            let root = tempfile::Builder::new()
                .prefix("p")
                .rand_bytes(6)
                .tempdir_in("/tmp")
                .unwrap();
            check(case, root.path(), 7);
        }
    }

    #[test]
    fn a_record_is_read_as_it_was_written() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().join("home");
        let variable = |name: &str| (name == "HOME").then(|| home.clone().into());
        let paths = UserPaths::new(variable, || None, None);
        let brains = folder.path().join("other brains");
        fs::create_dir(&brains).unwrap();
        paths.record(&brains, Path::new("/run/s")).unwrap();
        assert_eq!(paths.folder(), Some(brains));
        assert_eq!(paths.socket(), Some("/run/s".into()));
    }

    #[test]
    fn a_copy_of_a_folder_does_not_point_to_the_daemon_of_the_original() {
        let root = tempfile::tempdir().unwrap();
        let places = |home: &str| {
            let home = root.path().join(home);
            UserPaths::new(
                move |name| (name == "HOME").then(|| home.clone().into()),
                || None,
                None,
            )
        };
        let brains = root.path().join("moved brains");
        fs::create_dir_all(brains.join(".amemd")).unwrap();
        places("h").record(&brains, Path::new("/run/s")).unwrap();
        let lock = |folder: &Path| DaemonRecord {
            socket: Some("/run/t".into()),
            place: Some(FolderIdentity::of(folder).unwrap()),
            ..DaemonRecord::default()
        };
        let written = lock(&brains).to_lines();
        fs::write(brains.join(LOCK), written.as_bytes()).unwrap();
        let copied = |from: &Path, to: &str, file: &str| {
            let to = root.path().join(to);
            fs::create_dir_all(to.join(file).parent().unwrap()).unwrap();
            fs::copy(from.join(file), to.join(file)).unwrap();
            to
        };
        // The data folder: its pointer is that of the original.
        let data = ".local/share/amem/last-daemon";
        copied(&root.path().join("h"), "copy", data);
        assert_eq!(places("h").socket(), Some("/run/s".into()));
        assert_eq!(places("copy").last_daemon(), None);
        // Moved as a whole, it is the same folder.
        fs::rename(root.path().join("h"), root.path().join("g")).unwrap();
        assert_eq!(places("g").socket(), Some("/run/s".into()));
        // Restored at its path, it is the same data.
        copied(&root.path().join("g"), "h", data);
        assert_eq!(places("h").socket(), Some("/run/s".into()));
        // The lock of a copied folder of brains names nobody.
        let copy = copied(&brains, "copied brains", LOCK);
        assert_eq!(DaemonRecord::of_lock(&brains), lock(&brains));
        assert_eq!(DaemonRecord::of_lock(&copy), DaemonRecord::default());
        let here = places("new").sockets(Some(&brains));
        assert!(here.contains(&"/run/t".into()), "{here:?}");
        let there = places("new").sockets(Some(&copy));
        assert!(!there.contains(&"/run/t".into()), "{there:?}");
    }

    #[test]
    fn the_home_folder_of_an_account_is_its_sixth_field() {
        let accounts = "root:x:0:0:root:/root:/bin/sh\nada:x:7:7::/h/ada:/bin/sh\n";
        assert_eq!(home_in(accounts, 7), Some("/h/ada".into()));
        assert_eq!(home_in(accounts, 8), None);
    }
}
