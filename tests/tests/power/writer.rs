//! A writer as a process: `amem-committer`, and what it says until it ends.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::JoinHandle;

use amem_tests::power::{Ask, Flaw, WriterLine};

/// How one is started.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Start {
    /// In which run of the operating system it believes to be.
    pub(crate) boot: u64,
    pub(crate) seed: u64,
    pub(crate) flaw: Flaw,
    /// It only does what is open, and closes the brain in order.
    pub(crate) ends: bool,
}

impl Start {
    /// Starts it on a folder of brains. `open` is what earlier ones were not answered.
    pub(crate) fn on(self, brains: &Path, open: &[Ask]) -> Writer {
        let mut command = Command::new(env!("CARGO_BIN_EXE_amem-committer"));
        command.arg(brains).arg(self.boot.to_string());
        command.arg(self.seed.to_string()).arg(self.flaw.name());
        command.args(self.ends.then_some("end"));
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = String::new();
        for ask in open {
            lines += &serde_json::to_string(ask).unwrap();
            lines.push('\n');
        }
        let out = BufReader::new(child.stdout.take().unwrap());
        let said = std::thread::spawn(move || {
            // The last line of one that is killed may be half of one: no one has read it.
            let lines = out.split(b'\n').map_while(Result::ok);
            lines
                .map_while(|line| serde_json::from_slice(&line).ok())
                .collect()
        });
        // It may have failed by itself, which it has said then.
        drop(writeln!(child.stdin.take().unwrap(), "{lines}"));
        let said = Some(said);
        Writer { child, said }
    }
}

/// A writer under way; it is killed when it is dropped.
pub(crate) struct Writer {
    child: Child,
    said: Option<JoinHandle<Vec<WriterLine>>>,
}

impl Writer {
    /// How it ended, if it has.
    pub(crate) fn has_ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().unwrap()
    }

    /// Waits until it has ended by itself; gives what it said.
    pub(crate) fn end(mut self) -> (ExitStatus, Vec<WriterLine>) {
        let said = self.said.take().unwrap().join().unwrap();
        (self.child.wait().unwrap(), said)
    }

    /// SIGKILL.
    pub(crate) fn kill(mut self) -> (ExitStatus, Vec<WriterLine>) {
        drop(self.child.kill());
        self.end()
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
