//! The limit of file sizes (`ulimit -f`, `LimitFSIZE=`): a write beyond it fails, and nothing else.
//!
//! Without a handler for SIGXFSZ the kernel kills a process that writes beyond the limit: one large brain would end the
//! daemon, at every start. With a handler the write fails (EFBIG), as on a full disk.

use std::io;

use rustix::process::Signal;
use tokio::signal::unix::{SignalKind, signal};

/// Installs the handler. Call it within a tokio runtime.
pub(crate) fn fail_beyond() -> io::Result<()> {
    // The handler stays installed after the stream is dropped.
    signal(SignalKind::from_raw(Signal::XFSZ.as_raw())).map(drop)
}
