//! The largest file that the process may make (`ulimit -f`): a write beyond it fails, and is told.
//!
//! Unless somebody waits for SIGXFSZ, the system ends who writes beyond it, which tells nobody why and leaves an
//! unfinished file. With somebody there the write fails (EFBIG), as it does on a full disk.

use std::io;

use rustix::process::Signal;
use tokio::runtime::Builder;
use tokio::signal::unix::{SignalKind, signal};

/// Has writes beyond the limit fail from now on.
pub(crate) fn fail_beyond() -> io::Result<()> {
    let runtime = Builder::new_current_thread().enable_io().build()?;
    let _entered = runtime.enter();
    // The handler stays for the life of the process, whether or not anybody goes on waiting.
    signal(SignalKind::from_raw(Signal::XFSZ.as_raw())).map(drop)
}
