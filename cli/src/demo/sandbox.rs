//! The folder and the processes of the demo. All are gone when it ends, also if a check fails or a signal ends it.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use std::{env, fs, io, thread};

use amem_host::child::foreign_command;
use amem_locks::LockResultExt;
use rustix::process::{Pid, Signal, kill_process};
use tokio::runtime::{Builder, Runtime};
use tokio::signal::unix::{SignalKind, signal};

use super::transcript::wrong;
use crate::connection::autostart;
use crate::connection::remote::Remote;
use crate::exit::Exit;
use crate::failure::Failure;

/// How long a process may take to answer, or to end.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);
const REMEDY: &str =
    "build amemd beside this program with `cargo build --release`, or set AMEMD to its path";

/// A private folder and the processes that work in it. Dropping it, or a signal that ends this process, kills them and
/// removes the folder.
pub(super) struct Sandbox {
    pub(super) folder: PathBuf,
    children: Arc<Mutex<Vec<Child>>>,
    /// Waits for signals.
    _signals: Runtime,
}

/// Polls until `look` returns a value. The claim fails after `PATIENCE`.
pub(super) fn poll<T>(
    claim: &str,
    mut look: impl FnMut() -> Result<Option<T>, Failure>,
) -> Result<T, Failure> {
    let began = Instant::now();
    while began.elapsed() < PATIENCE {
        if let Some(value) = look()? {
            return Ok(value);
        }
        thread::sleep(Duration::from_millis(1));
    }
    Err(wrong(claim))
}

impl Sandbox {
    pub(super) fn new() -> Result<Self, Failure> {
        let folder = tempfile::Builder::new().prefix("amem-demo-").tempdir();
        let folder = folder.map_err(|e| Failure::io("make a folder in", &env::temp_dir(), &e))?;
        let (folder, children) = (folder.keep(), Arc::default());
        let signals = clean_on_signals(&folder, &children);
        Ok(Self {
            _signals: signals.map_err(|e| Failure::io("wait for signals in", &folder, &e))?,
            folder,
            children,
        })
    }

    pub(super) fn socket(&self) -> PathBuf {
        self.folder.join("run/amemd.sock")
    }

    /// Runs a command of this program on the demo's daemon and returns its output. Spaces separate the words of
    /// `command`; `texts` are passed as they are.
    pub(super) fn amemctl(&self, command: &str, texts: &[&str]) -> Result<String, Failure> {
        let program = env::current_exe().map_err(|e| Failure::io("find", &self.folder, &e))?;
        // Without the user's own settings of amemd.
        let mut process = foreign_command(program);
        process.arg("--socket").arg(self.socket());
        process.arg("--no-autostart");
        self.run(process.args(command.split_whitespace()).args(texts))
    }

    /// Runs a process to its end and returns its output.
    pub(super) fn run(&self, command: &mut Command) -> Result<String, Failure> {
        let child = self.spawn(command.stdout(Stdio::piped()))?;
        let stdout = self.children.lock().unpoisoned()[child].stdout.take();
        let output = stdout.map(io::read_to_string).transpose();
        let output = output.map_err(|e| Failure::io("read in", &self.folder, &e))?;
        let (status, output) = (self.wait(child)?, output.unwrap_or_default());
        if status.success() {
            return Ok(output);
        }
        Err(wrong(format!("{command:?} succeeds ({status}): {output}")))
    }

    /// Returns the index of the process.
    fn spawn(&self, command: &mut Command) -> Result<usize, Failure> {
        // Locked meanwhile, so that a signal finds every process.
        let mut children = self.children.lock().unpoisoned();
        let child = command.stdin(Stdio::null()).spawn();
        let program = Path::new(command.get_program());
        children.push(child.map_err(|e| Failure::io("run", program, &e))?);
        Ok(children.len() - 1)
    }

    /// `None` while the process runs.
    fn ended(&self, child: usize) -> Result<Option<ExitStatus>, Failure> {
        let status = self.children.lock().unpoisoned()[child].try_wait();
        status.map_err(|e| Failure::io("wait for a process in", &self.folder, &e))
    }

    fn wait(&self, child: usize) -> Result<ExitStatus, Failure> {
        let claim = format!("a process ends within {} s", PATIENCE.as_secs());
        poll(&claim, || self.ended(child))
    }

    pub(super) fn pid(&self, child: usize) -> u32 {
        self.children.lock().unpoisoned()[child].id()
    }

    /// Starts a daemon and waits until it answers.
    pub(super) fn start_daemon(&self) -> Result<(usize, Remote), Failure> {
        let (brains, log) = (self.folder.join("brains"), self.folder.join("amemd.log"));
        let mut command = foreign_command(autostart::program()?);
        fs::create_dir_all(&brains).map_err(|e| Failure::io("make", &brains, &e))?;
        let stderr = fs::File::create(&log).map_err(|e| Failure::io("make", &log, &e))?;
        command.args(["--config", "/dev/null", "--folder"]);
        command.arg(&brains).arg("--socket").arg(self.socket());
        let child = self.spawn(command.stdout(Stdio::null()).stderr(stderr))?;
        let started = poll("amemd does not answer", || {
            if let Ok(remote) = Remote::connect(&self.socket()) {
                return Ok(Some((child, remote)));
            }
            let ended = |status| wrong(format!("amemd ended at once ({status})"));
            self.ended(child)?.map_or(Ok(None), |s| Err(ended(s)))
        });
        started.map_err(|failure| {
            let log = fs::read_to_string(&log).unwrap_or_default();
            let why = format!("{}: {}", failure.message, log.trim());
            Failure::new(Exit::Unavailable, "no_daemon", why, REMEDY)
        })
    }

    /// Sends the signal and waits until the process has ended.
    pub(super) fn end(&self, child: usize, signal: Signal) -> Result<ExitStatus, Failure> {
        let sent = kill_process(
            Pid::from_child(&self.children.lock().unpoisoned()[child]),
            signal,
        );
        sent.map_err(|e| Failure::io("signal a process in", &self.folder, &e.into()))?;
        self.wait(child)
    }

    /// Returns whether the folder and all processes are gone.
    pub(super) fn clean(&self) -> bool {
        let mut children = self.children.lock().unpoisoned();
        clean(&self.folder, &mut children);
        let is_gone = |child: &mut Child| matches!(child.try_wait(), Ok(Some(_)));
        !self.folder.exists() && children.iter_mut().all(is_gone)
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        self.clean();
    }
}

fn clean_on_signals(folder: &Path, children: &Arc<Mutex<Vec<Child>>>) -> io::Result<Runtime> {
    let mut builder = Builder::new_multi_thread();
    let runtime = builder.worker_threads(1).enable_io().build()?;
    let entered = runtime.enter();
    let signals = [SignalKind::interrupt(), SignalKind::terminate()];
    for kind in signals.into_iter().chain([SignalKind::hangup()]) {
        let (folder, children, mut signals) = (folder.to_owned(), children.clone(), signal(kind)?);
        runtime.spawn(async move {
            if signals.recv().await.is_some() {
                // Locked until the exit: nothing is started after this.
                let mut children = children.lock().unpoisoned();
                clean(&folder, &mut children);
                // The exit code of a program that a signal ended.
                std::process::exit(128 + kind.as_raw_value());
            }
        });
    }
    drop(entered);
    Ok(runtime)
}

fn clean(folder: &Path, children: &mut [Child]) {
    for child in children {
        let _ended_already = child.kill();
        // Until it has been waited for, it is still in the table of processes.
        let _waited_for_already = child.wait();
    }
    // A process that was just ending may have made a file: try for a second.
    for _ in 0..100 {
        if fs::remove_dir_all(folder).is_ok() || !folder.exists() {
            return;
        }
        thread::sleep(Duration::from_millis(10));
    }
    eprintln!("cannot remove {}: remove it by hand", folder.display());
}
