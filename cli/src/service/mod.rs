//! amemd as a service: the files that a service manager reads, and what it is told.
//!
//! `systemd` and `launchd` say which files there are and which commands follow, with the path of the program filled in;
//! `file` writes and removes them, and tells a file that somebody changed; `manager` runs commands.
//!
//! Promises: the files are those of the repository's `deploy`; a file that somebody changed is replaced or removed only
//! if that is asked for; brains are never touched. Not here: what is shown (`command::service`).

mod file;
mod launchd;
mod manager;
mod systemd;

use std::path::PathBuf;

pub(crate) use file::{Found, Planned};
pub(crate) use launchd::Launchd;
pub(crate) use manager::{Command, Condition};
pub(crate) use systemd::{Scope, Systemd};

/// What a service is made of.
pub(crate) struct Plan {
    /// The files.
    pub(crate) files: Vec<Planned>,
    /// What is run once they are there.
    pub(crate) prepare: Vec<Command>,
    /// What starts it, now and from now on.
    pub(crate) start: Vec<Command>,
    /// What ends it, now and from now on.
    pub(crate) stop: Vec<Command>,
    /// What is run once the files are gone.
    pub(crate) forget: Vec<Command>,
    /// The brains' folder, which stays.
    pub(crate) brains: Option<PathBuf>,
}
