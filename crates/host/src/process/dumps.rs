//! Core dumps. The memory of the process has tokens, keys and the content of brains, and a dump would write them to a
//! file with the permissions of another program. A crash is realistic: truncating a mapped file raises SIGBUS.

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
