//! An amemd of the demo's own, on a private folder and socket.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::cleanup::{Cleanup, Ward};
use super::stage::{DemoError, Result};
use crate::autostart;
use crate::remote::Remote;

/// How long the daemon may take to answer, and to end.
const PATIENCE: Duration = Duration::from_secs(10);
/// How often it is looked at meanwhile.
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// A daemon that runs.
pub(crate) struct Daemon {
    process: Ward,
    socket: PathBuf,
    log: PathBuf,
}

impl Daemon {
    /// Starts it, and waits until it answers.
    pub(crate) fn start(cleanup: &Cleanup) -> Result<(Self, Remote)> {
        let program =
            autostart::program().map_err(|failure| DemoError::NoDaemon(failure.message))?;
        let folder = cleanup.folder().join("brains");
        let socket = cleanup.folder().join("run/amemd.sock");
        let log = cleanup.folder().join("amemd.log");
        fs::create_dir_all(&folder).map_err(DemoError::io("make a folder for brains"))?;
        let output = fs::File::create(&log).map_err(DemoError::io("make the daemon's log"))?;
        let mut command = Command::new(&program);
        for (name, _) in env::vars_os() {
            if name.to_str().is_some_and(|name| name.starts_with("AMEM")) {
                command.env_remove(name);
            }
        }
        command
            // The user's own settings are not the demo's.
            .args(["--config", "/dev/null"])
            .arg("--folder")
            .arg(&folder)
            .arg("--socket")
            .arg(&socket)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(output);
        let process = cleanup
            .spawn(&mut command)
            .map_err(DemoError::io(format!("start {}", program.display())))?;
        let mut daemon = Self {
            process,
            socket,
            log,
        };
        let remote = daemon.until_it_answers()?;
        Ok((daemon, remote))
    }

    fn until_it_answers(&mut self) -> Result<Remote> {
        let began = Instant::now();
        loop {
            let error = match Remote::connect(&self.socket) {
                Ok(remote) => return Ok(remote),
                Err(error) => error,
            };
            let ended = self.ended()?;
            if ended.is_some() || began.elapsed() > PATIENCE {
                let said = fs::read_to_string(&self.log).unwrap_or_default();
                return Err(DemoError::NoDaemon(match ended {
                    Some(status) => format!("amemd ended at once ({status}): {}", said.trim()),
                    None => format!("amemd does not answer: {error}; it said: {}", said.trim()),
                }));
            }
            thread::sleep(LOOK_EVERY);
        }
    }

    fn ended(&mut self) -> Result<Option<ExitStatus>> {
        self.process
            .child()
            .try_wait()
            .map_err(DemoError::io("look at amemd"))
    }

    /// Its process.
    pub(crate) fn pid(&self) -> u32 {
        self.process.pid()
    }

    /// Its socket.
    pub(crate) fn socket(&self) -> &Path {
        &self.socket
    }

    /// Asks it to end, and waits until it has.
    pub(crate) fn stop(mut self) -> Result<ExitStatus> {
        self.process.signal(Signal::TERM)?;
        let began = Instant::now();
        loop {
            if let Some(status) = self.ended()? {
                return Ok(status);
            }
            if began.elapsed() > PATIENCE {
                return Err(DemoError::Wrong(format!(
                    "amemd ends within {} s of SIGTERM",
                    PATIENCE.as_secs()
                )));
            }
            thread::sleep(LOOK_EVERY);
        }
    }

    /// Ends it without a chance to tidy up.
    pub(crate) fn kill(mut self) -> Result<()> {
        self.process.signal(Signal::KILL)?;
        let gone = self.process.child().wait();
        gone.map(drop).map_err(DemoError::io("wait for amemd"))
    }
}
