//! What the system says of a running process: its memory, its descriptors, its threads.

use std::fs;
use std::io;

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
