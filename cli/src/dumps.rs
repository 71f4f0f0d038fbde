//! Core dumps: there are none of amemctl.
//!
//! The memory of the process has the token that it shows, and what it read. A file that is cut while it is read ends a
//! process by SIGBUS: a dump would be a file of all that.

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
