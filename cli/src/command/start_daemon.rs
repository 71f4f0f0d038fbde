//! `amemctl start-daemon`: what becomes the daemon that another command starts. Not for people.

use std::path::PathBuf;

use clap::Args;

use crate::connection::autostart;
use crate::failure::Failure;

/// Options.
#[derive(Debug, Args)]
pub(crate) struct StartDaemonArgs {
    /// The daemon's program.
    program: PathBuf,
    /// Its socket.
    listen: PathBuf,
}

impl StartDaemonArgs {
    /// Comes back only if it fails.
    pub(crate) fn run(&self) -> Failure {
        autostart::become_daemon(&self.program, &self.listen)
    }
}
