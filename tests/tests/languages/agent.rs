//! One run of an agent's script: its steps are printed, its daemon is killed and started again when it asks.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

use amem_tests::daemon::DaemonHome;

use crate::kit::{Kit, say};

/// How long a script may be silent.
const PATIENCE: Duration = Duration::from_secs(120);

/// An agent that is about to run.
pub(crate) struct Agent<'a> {
    kit: &'a Kit,
    target: &'a str,
    token: Option<&'a str>,
}

impl<'a> Agent<'a> {
    /// An agent that talks to this target, and shows this token.
    pub(crate) fn new(kit: &'a Kit, target: &'a str, token: Option<&'a str>) -> Self {
        Self { kit, target, token }
    }

    /// Runs it beside a daemon; fails with the step that failed.
    pub(crate) fn run(&self, place: &DaemonHome) {
        let mut daemon = place.start();
        let mut command = self.kit.command();
        command.args(["--target", self.target]);
        if let Some(token) = self.token {
            command.args(["--token", token]);
        }
        let mut script = Script::start(command);
        let mut last = String::new();
        while let Some(line) = script.line() {
            if line == "RESTART" {
                daemon.kill();
                daemon = place.start();
                writeln!(script.child.stdin.as_ref().unwrap(), "restarted").unwrap();
                continue;
            }
            say(&format!("{}, {}: {line}", self.kit.name, self.target));
            last = line;
        }
        let status = script.child.wait().unwrap();
        assert!(status.success(), "{}: {last}", self.kit.name);
        assert!(daemon.stop().success());
    }
}

/// A script that runs; it is killed when it is dropped.
struct Script {
    child: Child,
    lines: Receiver<String>,
}

impl Script {
    fn start(mut command: Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        let (told, lines) = mpsc::channel();
        thread::spawn(move || {
            for line in out.lines().map_while(Result::ok) {
                drop(told.send(line));
            }
        });
        Self { child, lines }
    }

    /// The next line; none at its end.
    fn line(&self) -> Option<String> {
        match self.lines.recv_timeout(PATIENCE) {
            Ok(line) => Some(line),
            Err(mpsc::RecvTimeoutError::Disconnected) => None,
            Err(mpsc::RecvTimeoutError::Timeout) => panic!("the script is silent"),
        }
    }
}

impl Drop for Script {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
