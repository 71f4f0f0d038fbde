//! Starting amemd where none runs, so that the first command of a new user works.
//!
//! The daemon outlives this process and its terminal: it is made by a process of ours that leaves the session first
//! (`start-daemon`, hidden), reads nothing, and writes what it logs into a file.
//!
//! Promises: a daemon that can't start says why here, not only in its log; of two that are started at once one wins,
//! and both callers find it. Not here: when it is started (`reach`).

use std::env;
use std::fs::{self, File, OpenOptions};
use std::io::{Read, Seek, SeekFrom};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::exit::Exit;
use crate::failure::Failure;
use crate::remote::{Remote, RemoteError};

/// The hidden command that becomes the daemon.
pub(crate) const START: &str = "start-daemon";
/// Names the daemon's program where it is not beside this one.
pub(crate) const PROGRAM: &str = "AMEMD";
/// How long a daemon may take until it answers; recovery of its brains is part of that.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long another one may take to answer after ours gave way to it.
const PATIENCE_WITH_OTHERS: Duration = Duration::from_secs(1);
/// How often it is asked meanwhile.
const ASK_EVERY: Duration = Duration::from_millis(10);
/// Bytes of the log that are told of a daemon that did not start.
const TOLD_BYTES: u64 = 2000;

/// A daemon that was started.
pub(crate) struct Started {
    /// A connection to it.
    pub(crate) remote: Remote,
    /// Its log.
    pub(crate) log: PathBuf,
}

/// Starts a daemon that listens on a socket, and waits until it answers.
pub(crate) fn start(socket: &Path) -> Result<Started, Failure> {
    let program = program()?;
    let log = log_file()?;
    let began = fs::metadata(&log).map_or(0, |meta| meta.len());
    let mut daemon = spawn(&program, socket, &log)?;
    let since = Instant::now();
    let mut ended = None;
    loop {
        let error = match Remote::connect(socket) {
            Ok(remote) => return Ok(Started { remote, log }),
            Err(error) => error,
        };
        if ended.is_none() {
            let status = daemon.try_wait();
            let status = status.map_err(|e| Failure::io("wait for", &program, &e))?;
            ended = status.map(|_| Instant::now());
        }
        let is_late = since.elapsed() > PATIENCE;
        if is_late || ended.is_some_and(|at| at.elapsed() > PATIENCE_WITH_OTHERS) {
            return Err(silent(&program, &log, began, &error));
        }
        thread::sleep(ASK_EVERY);
    }
}

fn silent(program: &Path, log: &Path, from: u64, error: &RemoteError) -> Failure {
    let said = tail(log, from);
    let said = match said.trim() {
        "" => error.to_string(),
        said => said.to_owned(),
    };
    Failure::new(
        Exit::Unavailable,
        "no_daemon",
        format!("{} does not start: {said}", program.display()),
        format!(
            "mend what it says; its log is {}; `amemd --check-config` shows its settings",
            log.display()
        ),
    )
}

/// The end of what was logged since.
fn tail(log: &Path, from: u64) -> String {
    let read = || {
        let mut file = File::open(log)?;
        let len = file.metadata()?.len();
        file.seek(SeekFrom::Start(from.max(len.saturating_sub(TOLD_BYTES))))?;
        let mut bytes = Vec::new();
        file.take(TOLD_BYTES).read_to_end(&mut bytes)?;
        Ok::<_, std::io::Error>(String::from_utf8_lossy(&bytes).into_owned())
    };
    // A log that can't be read has nothing to tell; what the connection said is told instead.
    read().unwrap_or_default()
}

/// Our own program, on its way to become the daemon.
fn spawn(program: &Path, socket: &Path, log: &Path) -> Result<Child, Failure> {
    let ours = env::current_exe().map_err(|e| Failure::io("find", Path::new("amemctl"), &e))?;
    let failed = |e| Failure::io("write", log, &e);
    let output = OpenOptions::new().append(true).open(log).map_err(failed)?;
    Command::new(&ours)
        .arg(START)
        .arg(program)
        .arg(socket)
        // The folder of the first command is none that the daemon should hold on to.
        .current_dir("/")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(output)
        .spawn()
        .map_err(|e| Failure::io("run", &ours, &e))
}

/// Leaves the session and becomes the daemon; comes back only if that fails.
pub(crate) fn become_daemon(program: &Path, socket: &Path) -> Failure {
    // Fails if this process leads a group already: then it has been let go by its terminal in another way.
    let _leader = rustix::process::setsid();
    let error = Command::new(program).arg("--socket").arg(socket).exec();
    Failure::io("run", program, &error)
}

/// The daemon's program: the one that `AMEMD` names, the one beside this program, or the first on the path.
fn program() -> Result<PathBuf, Failure> {
    if let Some(named) = env::var_os(PROGRAM).filter(|name| !name.is_empty()) {
        return Ok(named.into());
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
            "no amemd runs, and there is none beside amemctl or on PATH to be started",
            format!("install amemd beside amemctl, or set {PROGRAM} to its path"),
        )
    })
}

/// Where a daemon that nobody looks after logs: `$XDG_STATE_HOME/amem/amemd.log`, for us alone.
fn log_file() -> Result<PathBuf, Failure> {
    let absolute = |name| {
        let path = env::var_os(name).map(PathBuf::from);
        path.filter(|path| path.is_absolute())
    };
    let state = absolute("XDG_STATE_HOME")
        .or_else(|| Some(absolute("HOME")?.join(".local/state")))
        .ok_or_else(|| {
            Failure::new(
                Exit::Unavailable,
                "no_daemon",
                "no amemd runs, and nothing says where one that is started may log",
                "set HOME or XDG_STATE_HOME, or start amemd yourself",
            )
        })?;
    let folder = state.join("amem");
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(&folder)
        .map_err(|e| Failure::io("make", &folder, &e))?;
    let log = folder.join("amemd.log");
    OpenOptions::new()
        .append(true)
        .create(true)
        .mode(0o600)
        .open(&log)
        .map_err(|e| Failure::io("write", &log, &e))?;
    Ok(log)
}
