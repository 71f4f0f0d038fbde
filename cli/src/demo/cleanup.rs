//! What the demo leaves behind: nothing, whether it ends well, badly, or is interrupted.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::process::{Pid, Signal, WaitOptions, kill_process, test_kill_process, waitpid};
use tokio::runtime::{Builder, Runtime};
use tokio::signal::unix::{SignalKind, signal};

use super::stage::{DemoError, Result};

/// Exit code of a program that a signal ended is this plus the signal's number.
const SIGNALLED: i32 = 128;

/// A private folder and the processes that work in it. Dropping it ends them and removes it; so do the signals
/// that ask this process to end.
pub(crate) struct Cleanup {
    left: Arc<Mutex<Left>>,
    folder: PathBuf,
    /// Waits for the signals.
    _signals: Runtime,
}

struct Left {
    folder: PathBuf,
    /// Those that have not been waited for.
    children: Vec<Pid>,
    /// Every one that there was.
    adopted: Vec<Pid>,
}

/// What is there after cleaning up.
pub(crate) struct Remains {
    /// The folder that was removed.
    pub(crate) folder: PathBuf,
    /// Processes that should have ended and have not.
    pub(crate) processes: Vec<Pid>,
}

impl Cleanup {
    /// Makes the folder, among the system's temporary ones.
    pub(crate) fn new() -> Result<Self> {
        let folder = tempfile::Builder::new()
            .prefix("amem-demo-")
            .tempdir()
            .map_err(DemoError::io("make a temporary folder"))?
            .keep();
        let left = Arc::new(Mutex::new(Left {
            folder: folder.clone(),
            children: Vec::new(),
            adopted: Vec::new(),
        }));
        let signals = Builder::new_multi_thread()
            .worker_threads(1)
            .enable_io()
            .build()
            .map_err(DemoError::io("wait for signals"))?;
        {
            let _entered = signals.enter();
            for kind in [
                SignalKind::interrupt(),
                SignalKind::terminate(),
                SignalKind::hangup(),
            ] {
                let left = left.clone();
                let mut asked = signal(kind).map_err(DemoError::io("wait for signals"))?;
                signals.spawn(async move {
                    if asked.recv().await.is_some() {
                        // Held to the end: nothing is started after this.
                        let mut left = locked(&left);
                        left.clean();
                        std::process::exit(SIGNALLED + kind.as_raw_value());
                    }
                });
            }
        }
        Ok(Self {
            left,
            folder,
            _signals: signals,
        })
    }

    /// The private folder.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Cleans up, and tells what is left all the same.
    pub(crate) fn clean(self) -> Remains {
        let mut left = locked(&self.left);
        left.clean();
        let adopted = left.adopted.iter().copied();
        Remains {
            folder: self.folder.clone(),
            processes: adopted
                .filter(|&pid| test_kill_process(pid).is_ok())
                .collect(),
        }
    }

    /// Starts a process that has to end when this does.
    pub(crate) fn spawn(&self, command: &mut Command) -> std::io::Result<Ward> {
        // Locked meanwhile, so that a signal never finds a process that is not known yet.
        let mut left = locked(&self.left);
        let child = command.spawn()?;
        let pid = Pid::from_child(&child);
        left.children.push(pid);
        left.adopted.push(pid);
        Ok(Ward {
            child,
            pid,
            left: self.left.clone(),
        })
    }

    /// Runs a process to its end; gives how it ended, and what it wrote.
    pub(crate) fn output(&self, command: &mut Command) -> std::io::Result<(ExitStatus, Vec<u8>)> {
        let mut ward = self.spawn(command.stdin(Stdio::null()).stdout(Stdio::piped()))?;
        let mut said = Vec::new();
        if let Some(out) = &mut ward.child().stdout {
            out.read_to_end(&mut said)?;
        }
        Ok((ward.child().wait()?, said))
    }
}

impl Drop for Cleanup {
    fn drop(&mut self) {
        locked(&self.left).clean();
    }
}

impl Left {
    fn clean(&mut self) {
        for pid in self.children.drain(..) {
            let _gone_already = kill_process(pid, Signal::KILL);
            // Until it has been waited for, it is still in the table of processes.
            let _waited_for_already = waitpid(Some(pid), WaitOptions::empty());
        }
        // A process that is just ending may still make a file: once more, then it has had its time.
        for _ in 0..100 {
            if fs::remove_dir_all(&self.folder).is_ok() || !self.folder.exists() {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        eprintln!("cannot remove {}: remove it by hand", self.folder.display());
    }
}

fn locked(left: &Mutex<Left>) -> MutexGuard<'_, Left> {
    left.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A process that ends with the demo. Dropping it kills it.
pub(crate) struct Ward {
    child: Child,
    pid: Pid,
    left: Arc<Mutex<Left>>,
}

impl Ward {
    /// Its number.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// The process itself.
    pub(crate) fn child(&mut self) -> &mut Child {
        &mut self.child
    }

    /// Sends a signal.
    pub(crate) fn signal(&self, signal: Signal) -> Result<()> {
        kill_process(self.pid, signal).map_err(|e| DemoError::Io {
            action: format!("signal process {}", self.child.id()),
            source: e.into(),
        })
    }
}

impl Drop for Ward {
    fn drop(&mut self) {
        let mut left = locked(&self.left);
        // A number may belong to another process once this one has been waited for.
        left.children.retain(|&pid| pid != self.pid);
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
