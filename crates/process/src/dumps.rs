//! Core dumps: the memory of the process holds tokens, keys and what callers wrote. A dump would be a file of all that,
//! with the rights of another program. A file that is truncated while it is mapped ends a process by SIGBUS, so a dump
//! is likely enough.

use std::fs;
use std::io;

use rustix::process::{Resource, Rlimit, setrlimit};

/// Which parts of the memory a dump contains, core(5).
const FILTER: &str = "/proc/self/coredump_filter";

/// Disables core dumps. A program that takes dumps over (`kernel.core_pattern`) may disregard the limit: the dump that
/// it gets contains none of the memory.
pub fn disable_core_dumps() -> io::Result<()> {
    let none = Rlimit {
        current: Some(0),
        maximum: Some(0),
    };
    setrlimit(Resource::Core, none)?;
    match fs::write(FILTER, "0") {
        // Only Linux hands dumps to programs.
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e),
        _ => Ok(()),
    }
}
