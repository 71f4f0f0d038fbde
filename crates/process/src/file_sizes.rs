//! The size limit for files (`ulimit -f`, `LimitFSIZE=`).
//!
//! By default SIGXFSZ ends a process that writes beyond the limit: one brain that has grown would take the daemon and
//! all other brains with it, at each start again. With a handler the write fails (EFBIG), as it does on a full disk.

use std::io;

use rustix::process::Signal;
use tokio::runtime::{Builder, Handle};
use tokio::signal::unix::{SignalKind, signal};

/// Has writes beyond the limit fail, from now until the process ends. Within a runtime that one is used.
pub fn fail_writes_beyond_limit() -> io::Result<()> {
    let own = match Handle::try_current() {
        Ok(_) => None,
        Err(_) => Some(Builder::new_current_thread().enable_io().build()?),
    };
    let _entered = own.as_ref().map(|runtime| runtime.enter());
    // The handler stays, whether or not anything waits for the signal.
    signal(SignalKind::from_raw(Signal::XFSZ.as_raw())).map(drop)
}
