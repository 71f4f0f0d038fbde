//! The largest file that the process may make (`ulimit -f`, `LimitFSIZE=`): a write beyond it fails, and nothing else.
//!
//! Unless somebody waits for SIGXFSZ, the system ends who writes beyond it: one brain that has grown would take all
//! others with it, at each start anew. With somebody there the write fails (EFBIG), as it does on a full disk.

use std::io;

use rustix::process::Signal;
use tokio::signal::unix::{SignalKind, signal};

/// Has writes beyond the limit fail from now on. To be called within a runtime.
pub(crate) fn fail_beyond() -> io::Result<()> {
    // The handler stays for the life of the process, whether or not anybody goes on waiting.
    signal(SignalKind::from_raw(Signal::XFSZ.as_raw())).map(drop)
}
