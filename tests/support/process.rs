//! Running processes: that one is ready, and what the system says of its memory and its descriptors.

use std::fs;
use std::io::{self, BufRead, BufReader};
use std::process::{Child, Command, Stdio};

/// Bytes of its memory that are in use now.
///
/// # Errors
/// If there is no such process.
pub fn resident(pid: u32) -> io::Result<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status"))?;
    // What is mapped from files is the page cache's, which goes when it is needed.
    let kilobytes = |line: &str| line.split_whitespace().nth(1)?.parse::<u64>().ok();
    let line = status.lines().find(|line| line.starts_with("RssAnon:"));
    let bytes = line.and_then(kilobytes).map(|kilobytes| kilobytes << 10);
    bytes.ok_or_else(|| io::Error::other("no RssAnon in its status"))
}

/// Its open descriptors.
///
/// # Errors
/// If there is no such process, or it is another user's.
pub fn descriptors(pid: u32) -> io::Result<usize> {
    Ok(fs::read_dir(format!("/proc/{pid}/fd"))?.count())
}

/// Starts a program that listens to its input and says `ready` once it has begun; then it may say more.
///
/// # Panics
/// If it can't be started, or says something else first.
pub fn start_ready(command: &mut Command) -> Child {
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let started = command.spawn();
    let mut child = started.unwrap_or_else(|e| panic!("cannot start {command:?}: {e}"));
    let mut line = String::new();
    if let Some(out) = &mut child.stdout {
        // An error leaves the line empty.
        drop(BufReader::new(out).read_line(&mut line));
    }
    assert_eq!(line, "ready\n", "the first words of {command:?}");
    child
}
