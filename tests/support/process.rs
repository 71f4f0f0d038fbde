//! Running processes: readiness, memory and descriptors as the system counts them, and reduced rights.

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

/// The same program, started where it may make no file larger than so many blocks (512 bytes, or 1024 where the shell
/// counts so). Of the environment it has what was set or removed; whether it has the rest, and where its output goes,
/// is to be said again.
pub fn with_small_files(command: &Command, blocks: u32) -> Command {
    limited(command, &format!("-f {blocks}"))
}

/// The same where it may have so many open files.
pub fn with_few_descriptors(command: &Command, count: u32) -> Command {
    limited(command, &format!("-n {count}"))
}

fn limited(command: &Command, limit: &str) -> Command {
    let mut shell = Command::new("/bin/sh");
    shell.arg("-c");
    shell.arg(format!("ulimit {limit} && exec \"$0\" \"$@\""));
    shell.arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => shell.env(name, value),
            None => shell.env_remove(name),
        };
    }
    if let Some(folder) = command.get_current_dir() {
        shell.current_dir(folder);
    }
    shell
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
