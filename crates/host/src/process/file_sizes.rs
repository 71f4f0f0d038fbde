//! The size limit for files (`ulimit -f`, `LimitFSIZE=`).
//!
//! By default, SIGXFSZ kills a process that writes beyond the limit: one large brain would stop the daemon and all
//! other brains at each start. With a handler, the write fails with EFBIG, as on a full disk.

use std::io;

use rustix::process::Signal;
use tokio::runtime::{Builder, Handle};
use tokio::signal::unix::{SignalKind, signal};

/// Makes writes beyond the limit fail, until the process ends. Uses the current tokio runtime, if there is one.
pub fn fail_writes_beyond_limit() -> io::Result<()> {
    let own = match Handle::try_current() {
        Ok(_) => None,
        Err(_) => Some(Builder::new_current_thread().enable_io().build()?),
    };
    let _entered = own.as_ref().map(|runtime| runtime.enter());
    // The handler stays, whether or not anything waits for the signal.
    signal(SignalKind::from_raw(Signal::XFSZ.as_raw())).map(drop)
}
