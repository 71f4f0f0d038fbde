//! Core dumps: there are none of amemd.
//!
//! The memory of the process has what its callers wrote, its keys and, for a moment, the tokens that callers show. A
//! dump would be a file of all that, with the rights of another program and for as long as nobody looks.

use std::fs;
use std::io;

use rustix::process::{Resource, Rlimit, setrlimit};

/// Which parts of the memory a dump has, core(5).
const PARTS: &str = "/proc/self/coredump_filter";

/// Has the system write none. A program that takes dumps in its place (`kernel.core_pattern`) may disregard the limit:
/// the dump that it gets has none of the memory.
pub(crate) fn never() -> io::Result<()> {
    let none = Rlimit {
        current: Some(0),
        maximum: Some(0),
    };
    setrlimit(Resource::Core, none)?;
    match fs::write(PARTS, "0") {
        // Other systems than Linux hand no dumps to programs.
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e),
        _ => Ok(()),
    }
}
