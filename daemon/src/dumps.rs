//! Core dumps: there are none of amemd.
//!
//! The memory of the process has what its callers wrote, its keys and, for a moment, the tokens that callers show. A
//! dump would be a file of all that, with the rights of another program and for as long as nobody looks.

use std::io;

use rustix::process::{Resource, Rlimit, setrlimit};

/// Has the system write none. Programs that take them in its place (systemd-coredump, apport) keep to the same limit.
pub(crate) fn never() -> io::Result<()> {
    let none = Rlimit {
        current: Some(0),
        maximum: Some(0),
    };
    Ok(setrlimit(Resource::Core, none)?)
}
