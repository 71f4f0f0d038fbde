//! Starts amemd if none runs, so that the first command of a new user works.
//!
//! The daemon outlives this process and its terminal: a helper process (`start-daemon`, hidden) leaves the session,
//! closes stdin, logs to a file and executes amemd.
//!
//! Promises: if the daemon cannot start, the reason is reported here; of two daemons started at once one wins, and both
//! callers find it. Not here: when to start one (`flags`).

use std::env;
use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileExt, MetadataExt, OpenOptionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use amem_client::paths::{self, DaemonRecord, IN_USE};
use amem_client::v1;
use rustix::fs::OFlags;
use tonic::Code;

use crate::connection::own_program::own_command;
use crate::connection::remote::Remote;
use crate::connection::silence::{self, SILENCE_MAX};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::render::printable;

pub(crate) const START: &str = "start-daemon";
/// Names the daemon's program.
const PROGRAM: &str = "AMEMD";
/// Limits the arenas of malloc (mallopt(3)).
const ARENAS: &str = "MALLOC_ARENA_MAX";
/// Includes recovery of its brains, and the end of another daemon that had the folder.
const PATIENCE: Duration = Duration::from_secs(30);
const ASK_EVERY: Duration = Duration::from_millis(10);
/// Pause before another start, while another daemon has the folder.
const TRY_EVERY: Duration = Duration::from_millis(250);
/// Size at which the log is rotated; one older log stays.
const LOG_BYTES_MAX: u64 = 8 << 20;
/// Bytes of the log shown if the daemon does not start.
const LOG_TAIL_BYTES: u64 = 2000;

pub(crate) struct StartedDaemon {
    pub(crate) remote: Remote,
    pub(crate) socket: PathBuf,
    /// `None` if another daemon had the folder.
    pub(crate) log: Option<PathBuf>,
}

/// Starts a daemon and waits until it answers. If another daemon has the folder, that one may be about to listen or to
/// end: waits for both. `sockets` lists where a daemon may listen; `owner` says who has the folder.
pub(crate) fn start(
    socket: Option<&Path>,
    sockets: impl Fn() -> Vec<PathBuf>,
    owner: impl Fn() -> DaemonRecord,
) -> Result<StartedDaemon, Failure> {
    // The daemon has another working directory.
    let socket = socket.map(absolute).transpose()?;
    let program = absolute(&program()?)?;
    let log = DaemonLog::open()?;
    let since = Instant::now();
    let mut daemon = Some(spawn(&program, socket.as_deref(), &log)?);
    let mut tried = Instant::now();
    loop {
        let found = sockets()
            .into_iter()
            // A connection costs a runtime, a missing file nothing.
            .filter(|socket| socket.exists())
            .find_map(|socket| Some((answering(&socket)?, socket)));
        if let Some((remote, socket)) = found {
            return Ok(StartedDaemon {
                remote,
                socket,
                log: daemon.is_some().then_some(log.path),
            });
        }
        if let Some(child) = &mut daemon {
            let status = child.try_wait();
            let status = status.map_err(|e| Failure::io("wait for", &program, &e))?;
            match status.map(|status| status.code()) {
                None => {}
                Some(Some(code)) if code == i32::from(IN_USE) => {
                    if let Some(socket) = &socket {
                        check_owner(socket, &owner())?;
                    }
                    (daemon, tried) = (None, Instant::now())
                }
                Some(_) => return Err(silent(&program, &log)),
            }
        }
        if since.elapsed() > PATIENCE {
            return Err(silent(&program, &log));
        }
        if since.elapsed() > SILENCE_MAX {
            let what = if daemon.is_some() {
                "amemd has started and does not answer yet"
            } else {
                "another amemd has the folder and does not answer yet"
            };
            silence::say(&format!(
                "{what}; waiting; its log is {}",
                printable(&log.path.display().to_string())
            ));
        }
        if daemon.is_none() && tried.elapsed() > TRY_EVERY {
            daemon = Some(spawn(&program, socket.as_deref(), &log)?);
        }
        thread::sleep(ASK_EVERY);
    }
}

/// Refuses to wait at a socket while the daemon that has the folder answers at another.
pub(crate) fn check_owner(socket: &Path, owner: &DaemonRecord) -> Result<(), Failure> {
    let Some(other) = owner.socket.as_ref().filter(|other| *other != socket) else {
        return Ok(());
    };
    if answering(other).is_none() {
        return Ok(());
    }
    let pid = owner.pid.unwrap_or_default();
    Err(Failure::new(
        Exit::Unavailable,
        "no_daemon",
        format!(
            "amemd (process {pid}) has the folder and listens on {}, not on {}",
            other.display(),
            socket.display()
        ),
        "omit --socket (AMEMD_SOCKET), or start the amemd of that socket: `amemd --folder FOLDER --socket SOCKET`",
    ))
}

/// A daemon that listens may still be recovering its brains: it must answer.
fn answering(socket: &Path) -> Option<Remote> {
    let remote = Remote::connect(socket).ok()?;
    let status = remote.call(remote.client.admin().get_status(v1::GetStatusRequest {}));
    // A refusal is an answer.
    let is_there = match status {
        Ok(_) => true,
        Err(error) => error.code() == Code::PermissionDenied,
    };
    is_there.then_some(remote)
}

fn absolute(path: &Path) -> Result<PathBuf, Failure> {
    std::path::absolute(path).map_err(|e| Failure::io("look for", path, &e))
}

fn silent(program: &Path, log: &DaemonLog) -> Failure {
    let said = once_each(&log.tail());
    let said = if said.is_empty() {
        "it printed nothing".to_owned()
    } else {
        said
    };
    Failure::new(
        Exit::Unavailable,
        "no_daemon",
        format!("{} does not start: {said}", program.display()),
        format!(
            "correct what it reports; its log is {}; `amemd --check-config` shows its settings",
            log.path.display()
        ),
    )
}

/// The lines of a log, each once: a daemon that is started again says the same.
fn once_each(log: &str) -> String {
    let mut seen: Vec<&str> = Vec::new();
    for line in log.lines().map(str::trim).filter(|line| !line.is_empty()) {
        if !seen.contains(&line) {
            seen.push(line);
        }
    }
    seen.join("; ")
}

fn spawn(program: &Path, socket: Option<&Path>, log: &DaemonLog) -> Result<Child, Failure> {
    let ours = env::current_exe().map_err(|e| Failure::io("find", Path::new("amemctl"), &e))?;
    let failed = |e| Failure::io("write", &log.path, &e);
    let output = log.file.try_clone().map_err(failed)?;
    let mut command = own_command(&ours);
    for (name, value) in env::vars_os() {
        if let Some(path) = is_relative_path(&name, &value) {
            command.env(name, absolute(&path)?);
        }
    }
    // As in the units: malloc otherwise keeps memory for each thread.
    if env::var_os(ARENAS).is_none() {
        command.env(ARENAS, "2");
    }
    command
        .arg(START)
        .arg(program)
        .args(socket)
        // The daemon must not keep this folder busy.
        .current_dir("/")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(output)
        .spawn()
        .map_err(|e| Failure::io("run", &ours, &e))
}

/// A variable of amemd that is a path relative to this folder.
fn is_relative_path(name: &OsStr, value: &OsStr) -> Option<PathBuf> {
    let name = name.to_str().filter(|name| name.starts_with("AMEMD_"))?;
    let ends = ["FOLDER", "CONFIG", "_FILE", "_CERTIFICATE", "_KEY", "_CA"];
    let path = Path::new(value);
    let is_meant = ends.iter().any(|end| name.ends_with(end)) && !value.is_empty();
    (is_meant && path.is_relative()).then(|| path.to_owned())
}

/// Leaves the session and executes the daemon; returns only if that fails.
pub(crate) fn become_daemon(program: &Path, socket: Option<&Path>) -> Failure {
    // Fails for a group leader, which has no terminal to leave.
    let _leader = rustix::process::setsid();
    // `spawn` cleaned the environment of this process.
    let mut command = Command::new(program);
    if let Some(socket) = socket {
        command.arg("--socket").arg(socket);
    }
    let error = command.exec();
    Failure::io("run", program, &error)
}

/// `$AMEMD`, else `amemd` beside this program, else the first on PATH.
pub(crate) fn program() -> Result<PathBuf, Failure> {
    if let Some(named) = env::var_os(PROGRAM).filter(|name| !name.is_empty()) {
        let named = PathBuf::from(named);
        return if named.is_file() {
            Ok(named)
        } else {
            Err(Failure::new(
                Exit::Unavailable,
                "no_daemon",
                format!(
                    "{PROGRAM} names {}, and there is no such file",
                    named.display()
                ),
                format!("set {PROGRAM} to the path of amemd, or unset it"),
            ))
        };
    }
    let beside = env::current_exe().map(|ours| ours.with_file_name("amemd"));
    let path = env::var_os("PATH").unwrap_or_default();
    let found = beside
        .into_iter()
        .chain(env::split_paths(&path).map(|folder| folder.join("amemd")))
        .find(|program| program.is_file());
    found.ok_or_else(|| {
        Failure::new(
            Exit::Unavailable,
            "no_daemon",
            "there is no amemd beside amemctl or on PATH",
            format!("build or install amemd beside amemctl, or set {PROGRAM} to its path"),
        )
    })
}

/// `$XDG_STATE_HOME/amem/amemd.log`.
struct DaemonLog {
    path: PathBuf,
    file: File,
    /// The size when it was opened.
    from: u64,
}

impl DaemonLog {
    /// The file and its folder must belong to this user: the log is written with this user's rights.
    fn open() -> Result<Self, Failure> {
        let folder = state_folder()?;
        fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&folder)
            .map_err(|e| Failure::io("make", &folder, &e))?;
        let path = log_path()?;
        let failed = |e: io::Error| Failure::io("write", &path, &e);
        check_ours(&folder, &fs::symlink_metadata(&folder).map_err(failed)?)?;
        if fs::symlink_metadata(&path).is_ok_and(|meta| meta.len() > LOG_BYTES_MAX) {
            fs::rename(&path, folder.join("amemd.log.1")).map_err(failed)?;
        }
        let file = OpenOptions::new()
            .read(true)
            .append(true)
            .create(true)
            .mode(0o600)
            // Follow no link, wait for no pipe.
            .custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits() as i32)
            .open(&path)
            .map_err(failed)?;
        let meta = file.metadata().map_err(failed)?;
        check_ours(&path, &meta)?;
        if !meta.is_file() {
            return Err(not_ours(&path, "is not a regular file"));
        }
        Ok(Self {
            from: meta.len(),
            path,
            file,
        })
    }

    /// What was logged since.
    fn tail(&self) -> String {
        let read = || {
            let len = self.file.metadata()?.len();
            let from = self.from.max(len.saturating_sub(LOG_TAIL_BYTES));
            let mut bytes = vec![0; usize::try_from(len.saturating_sub(from)).unwrap_or_default()];
            self.file.read_exact_at(&mut bytes, from)?;
            Ok::<_, io::Error>(String::from_utf8_lossy(&bytes).into_owned())
        };
        // Without a log the failure is reported without a reason.
        read().unwrap_or_default()
    }
}

/// The log of a daemon that a command starts.
pub(crate) fn log_path() -> Result<PathBuf, Failure> {
    Ok(state_folder()?.join("amemd.log"))
}

fn state_folder() -> Result<PathBuf, Failure> {
    let path_of = |name| {
        let path = env::var_os(name).map(PathBuf::from);
        path.filter(|path| path.is_absolute())
    };
    let state = path_of("XDG_STATE_HOME")
        .or_else(|| {
            let home = path_of("HOME").or_else(paths::password_home)?;
            Some(home.join(".local/state"))
        })
        .ok_or_else(|| {
            Failure::new(
                Exit::Unavailable,
                "no_daemon",
                "no amemd runs, and there is no folder for the log of a new one",
                "set HOME or XDG_STATE_HOME, or start amemd yourself",
            )
        })?;
    Ok(state.join("amem"))
}

/// Another user could redirect what we write.
fn check_ours(path: &Path, meta: &fs::Metadata) -> Result<(), Failure> {
    if meta.uid() == rustix::process::geteuid().as_raw() {
        Ok(())
    } else {
        Err(not_ours(path, "belongs to another user"))
    }
}

fn not_ours(path: &Path, why: &str) -> Failure {
    Failure::new(
        Exit::Unavailable,
        "no_daemon",
        format!(
            "no amemd runs, and a new one cannot log: {} {why}",
            path.display()
        ),
        "move it, set XDG_STATE_HOME to a folder that you own, or start amemd yourself",
    )
}
