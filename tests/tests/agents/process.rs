//! One agent: a process that reads and writes lines.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

/// How long one may be silent.
const PATIENCE: Duration = Duration::from_secs(180);

/// It is killed when it is dropped.
pub(crate) struct Member {
    child: Child,
    said: Receiver<String>,
}

impl Member {
    pub(crate) fn spawn(command: &mut Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        let (say, said) = mpsc::channel();
        thread::spawn(move || {
            for line in out.lines().map_while(Result::ok) {
                drop(say.send(line));
            }
        });
        Self { child, said }
    }

    /// The next line; nothing if it has ended.
    pub(crate) fn line(&self) -> String {
        match self.said.recv_timeout(PATIENCE) {
            Ok(line) => line,
            Err(mpsc::RecvTimeoutError::Disconnected) => String::new(),
            Err(mpsc::RecvTimeoutError::Timeout) => panic!("silent for {PATIENCE:?}"),
        }
    }

    /// Waits until it says a word.
    pub(crate) fn says(&self, word: &str) {
        assert_eq!(self.line(), word);
    }

    /// Sends it a word.
    pub(crate) fn tell(&self, word: &str) {
        writeln!(self.child.stdin.as_ref().unwrap(), "{word}").unwrap();
    }

    /// SIGKILL.
    pub(crate) fn kill(mut self) {
        let ended = self.child.try_wait().unwrap();
        assert_eq!(ended, None, "it had ended by itself");
    }

    /// Waits until it has ended, and well.
    pub(crate) fn ends(mut self, said: &str) {
        assert!(self.child.wait().unwrap().success(), "{said}");
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
