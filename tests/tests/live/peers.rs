//! Readers in other processes.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

/// One of them.
pub(crate) struct Peer {
    child: Child,
    out: BufReader<ChildStdout>,
    /// Its place on the board.
    pub(crate) number: u64,
}

impl Peer {
    /// Starts one, and waits until it has opened the file.
    pub(crate) fn start(brain: &Path, board: &Path, how: &str, number: u64) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_amem-peer"))
            .args([brain, board])
            .args([how, &number.to_string()])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        out.read_line(&mut line).unwrap();
        assert_eq!(line.trim(), "ready");
        Self { child, out, number }
    }

    /// True if it has come to its end.
    pub(crate) fn has_ended(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some()
    }

    /// What it saw, or what it found wrong, once it has ended.
    pub(crate) fn finish(mut self) -> Result<String, String> {
        let mut line = String::new();
        self.out.read_line(&mut line).unwrap();
        let status = self.child.wait().unwrap();
        let said = line.trim().to_owned();
        if status.success() {
            return Ok(said);
        }
        Err(if said.is_empty() {
            status.to_string()
        } else {
            said
        })
    }
}

impl Drop for Peer {
    /// A test that fails leaves no reader behind.
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
