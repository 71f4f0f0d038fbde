//! The folder and the processes of the demo. None is left, whether it ends well, badly, or by a signal.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use std::{env, thread};

use amem_process::locked;
use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use tokio::runtime::{Builder, Runtime};
use tokio::signal::unix::{SignalKind, signal};

use super::transcript::wrong;
use crate::connection::autostart;
use crate::connection::remote::Remote;
use crate::exit::Exit;
use crate::failure::Failure;

/// The name of the brain.
pub(super) const BRAIN: &str = "marina";
/// How long a process may take to answer, or to end.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);
/// How often it is polled meanwhile.
pub(super) const POLL_EVERY: Duration = Duration::from_millis(5);
/// The exit code of a program that a signal ended is this plus the signal's number.
const SIGNALLED: i32 = 128;

/// A private folder and the processes that work in it. Dropping it ends them and removes it, and so do the signals
/// that ask this process to end.
pub(super) struct Sandbox {
    contents: Arc<Mutex<Contents>>,
    folder: PathBuf,
    /// Waits for the signals.
    _signals: Runtime,
}

struct Contents {
    folder: PathBuf,
    children: Vec<Child>,
}

/// An amemd of the demo's own.
pub(super) struct Daemon(Pid);

impl Sandbox {
    pub(super) fn new() -> Result<Self, Failure> {
        let failed = |e| Failure::io("make a folder in", &env::temp_dir(), &e);
        let folder = tempfile::Builder::new().prefix("amem-demo-").tempdir();
        let folder = folder.map_err(failed)?.keep();
        let contents = Contents {
            folder: folder.clone(),
            children: Vec::new(),
        };
        let contents = Arc::new(Mutex::new(contents));
        let signals = clean_on_signals(&contents);
        let _signals = signals.map_err(|e| Failure::io("wait for signals in", &folder, &e))?;
        Ok(Self {
            contents,
            folder,
            _signals,
        })
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(super) fn socket(&self) -> PathBuf {
        self.folder.join("run/amemd.sock")
    }

    /// Cleans up. Returns the folder that was removed, and whether a process runs all the same.
    pub(super) fn clean(&self) -> (PathBuf, bool) {
        let mut contents = locked(&self.contents);
        let pids: Vec<Pid> = contents.children.iter().map(Pid::from_child).collect();
        contents.clean();
        (
            self.folder.clone(),
            pids.into_iter().any(|pid| test_kill_process(pid).is_ok()),
        )
    }

    /// Runs a command of this program on the demo's daemon. Returns what it prints. The words of the command are
    /// separated by spaces; texts, which may have spaces, follow.
    pub(super) fn amemctl(&self, command: &str, texts: &[&str]) -> Result<String, Failure> {
        let ours = env::current_exe().map_err(|e| Failure::io("find", Path::new("amemctl"), &e))?;
        let mut process = Command::new(ours);
        without_settings(&mut process)
            .arg("--socket")
            .arg(self.socket())
            .arg("--no-autostart");
        process
            .args(command.split(' ').filter(|word| !word.is_empty()))
            .args(texts);
        Ok(String::from_utf8_lossy(&self.run(&mut process)?).into_owned())
    }

    /// Runs a process to its end. Returns what it prints.
    pub(super) fn run(&self, command: &mut Command) -> Result<Vec<u8>, Failure> {
        let (pid, stdout) = self.spawn(command.stdin(Stdio::null()).stdout(Stdio::piped()))?;
        let (mut output, name) = (Vec::new(), Path::new(command.get_program()));
        if let Some(mut from) = stdout {
            from.read_to_end(&mut output)
                .map_err(|e| Failure::io("read from", name, &e))?;
        }
        let status = self.wait(pid)?;
        if status.success() {
            return Ok(output);
        }
        Err(wrong(format!(
            "{command:?} does it ({status}): {}",
            String::from_utf8_lossy(&output)
        )))
    }

    fn spawn(&self, command: &mut Command) -> Result<(Pid, Option<ChildStdout>), Failure> {
        // Locked meanwhile, so that a signal finds every process.
        let mut contents = locked(&self.contents);
        let child = command.spawn();
        let mut child =
            child.map_err(|e| Failure::io("run", Path::new(command.get_program()), &e))?;
        let (pid, stdout) = (Pid::from_child(&child), child.stdout.take());
        contents.children.push(child);
        Ok((pid, stdout))
    }

    /// How a process ended, if it has.
    fn ended(&self, pid: Pid) -> Result<Option<ExitStatus>, Failure> {
        let mut contents = locked(&self.contents);
        let at = contents
            .children
            .iter()
            .position(|child| Pid::from_child(child) == pid);
        let at = at.ok_or_else(|| wrong(format!("{pid:?} is a process of the demo")))?;
        let status = contents.children[at].try_wait();
        let status = status.map_err(|e| Failure::io("wait for a process in", &self.folder, &e))?;
        if status.is_some() {
            drop(contents.children.swap_remove(at));
        }
        Ok(status)
    }

    fn wait(&self, pid: Pid) -> Result<ExitStatus, Failure> {
        let began = Instant::now();
        loop {
            if let Some(status) = self.ended(pid)? {
                return Ok(status);
            }
            if began.elapsed() > PATIENCE {
                return Err(wrong(format!(
                    "a process ends within {} s",
                    PATIENCE.as_secs()
                )));
            }
            thread::sleep(Duration::from_millis(1));
        }
    }
}

fn clean_on_signals(contents: &Arc<Mutex<Contents>>) -> std::io::Result<Runtime> {
    let runtime = Builder::new_multi_thread()
        .worker_threads(1)
        .enable_io()
        .build()?;
    let entered = runtime.enter();
    for kind in [
        SignalKind::interrupt(),
        SignalKind::terminate(),
        SignalKind::hangup(),
    ] {
        let (contents, mut signals) = (contents.clone(), signal(kind)?);
        runtime.spawn(async move {
            if signals.recv().await.is_some() {
                // Held to the end: nothing is started after this.
                let mut contents = locked(&contents);
                contents.clean();
                std::process::exit(SIGNALLED + kind.as_raw_value());
            }
        });
    }
    drop(entered);
    Ok(runtime)
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        locked(&self.contents).clean();
    }
}

impl Contents {
    fn clean(&mut self) {
        for mut child in self.children.drain(..) {
            let _ended_already = child.kill();
            // Until it has been waited for, it is still in the table of processes.
            let _waited_for_already = child.wait();
        }
        // A process that was just ending may have made a file: try again for a second.
        for _ in 0..100 {
            if fs::remove_dir_all(&self.folder).is_ok() || !self.folder.exists() {
                return;
            }
            thread::sleep(Duration::from_millis(10));
        }
        eprintln!("cannot remove {}: remove it by hand", self.folder.display());
    }
}

/// The user's own settings are not the demo's.
fn without_settings(command: &mut Command) -> &mut Command {
    let names = env::vars_os().map(|(name, _)| name);
    let ours = names.filter(|name| name.to_str().is_some_and(|name| name.starts_with("AMEM")));
    ours.fold(command, |command, name| command.env_remove(name))
}

impl Daemon {
    /// Starts it, and waits until it answers.
    pub(super) fn start(sandbox: &Sandbox) -> Result<(Self, Remote), Failure> {
        let program = autostart::program()?;
        let (brains, log) = (
            sandbox.folder.join("brains"),
            sandbox.folder.join("amemd.log"),
        );
        fs::create_dir_all(&brains).map_err(|e| Failure::io("make", &brains, &e))?;
        let output = fs::File::create(&log).map_err(|e| Failure::io("make", &log, &e))?;
        let mut command = Command::new(program);
        without_settings(&mut command)
            .args(["--config", "/dev/null", "--folder"])
            .arg(&brains);
        command.arg("--socket").arg(sandbox.socket());
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(output);
        let ((pid, _), began) = (sandbox.spawn(&mut command)?, Instant::now());
        loop {
            let error = match Remote::connect(&sandbox.socket()) {
                Ok(remote) => return Ok((Self(pid), remote)),
                Err(error) => error,
            };
            let why = match sandbox.ended(pid)? {
                Some(status) => format!("amemd ended at once ({status})"),
                None if began.elapsed() > PATIENCE => format!("amemd does not answer: {error}"),
                None => {
                    thread::sleep(POLL_EVERY);
                    continue;
                }
            };
            let why = format!(
                "{why}: {}",
                fs::read_to_string(&log).unwrap_or_default().trim()
            );
            let remedy = "build amemd beside this program with `cargo build --release`, or set AMEMD to its path";
            return Err(Failure::new(Exit::Unavailable, "no_daemon", why, remedy));
        }
    }

    pub(super) fn pid(&self) -> u32 {
        self.0.as_raw_nonzero().get().unsigned_abs()
    }

    /// Asks it to end, and waits until it has.
    pub(super) fn stop(&self, sandbox: &Sandbox) -> Result<ExitStatus, Failure> {
        self.end(sandbox, Signal::TERM)
    }

    /// Kills it, as a crash would.
    pub(super) fn kill(&self, sandbox: &Sandbox) -> Result<ExitStatus, Failure> {
        self.end(sandbox, Signal::KILL)
    }

    fn end(&self, sandbox: &Sandbox, signal: Signal) -> Result<ExitStatus, Failure> {
        let sent = kill_process(self.0, signal);
        sent.map_err(|e| Failure::io("signal a process in", &sandbox.folder, &e.into()))?;
        sandbox.wait(self.0)
    }
}
