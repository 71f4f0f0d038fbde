//! Core dumps of amemd are disabled.
//!
//! The memory of the process has what callers wrote, TLS keys and, for a moment, tokens. A dump would be a file of all
//! that, with the permissions of another program.

use std::fs;
use std::io;

use rustix::process::{Resource, Rlimit, setrlimit};

/// Selects the mappings that a dump contains, core(5).
const PARTS: &str = "/proc/self/coredump_filter";

/// Disables core dumps. A program that receives dumps (`kernel.core_pattern`) may ignore the limit: its dump has no
/// memory.
pub(crate) fn never() -> io::Result<()> {
    let none = Rlimit {
        current: Some(0),
        maximum: Some(0),
    };
    setrlimit(Resource::Core, none)?;
    match fs::write(PARTS, "0") {
        // Only Linux has the file, and passes dumps to programs.
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e),
        _ => Ok(()),
    }
}
