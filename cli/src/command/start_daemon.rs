//! `amemctl start-daemon`, hidden: becomes the daemon that another command starts.

use std::path::PathBuf;

use clap::Args;

use crate::connection::autostart;
use crate::failure::Failure;

#[derive(Debug, Args)]
pub(crate) struct StartDaemonArgs {
    /// The daemon's program.
    program: PathBuf,
    /// Its socket; by default, that of its settings.
    listen: Option<PathBuf>,
}

impl StartDaemonArgs {
    /// Returns only if it fails.
    pub(crate) fn run(&self) -> Failure {
        autostart::become_daemon(&self.program, self.listen.as_deref())
    }
}
