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

pub(crate) use file::{FileState, PlannedFile};
pub(crate) use launchd::Launchd;
pub(crate) use manager::{ManagerCommand, ServiceState};
pub(crate) use systemd::{ServiceScope, Systemd};

/// What a service is made of.
pub(crate) struct ServicePlan {
    /// The files.
    pub(crate) files: Vec<PlannedFile>,
    /// What is run once they are there.
    pub(crate) prepare: Vec<ManagerCommand>,
    /// What starts it, now and from now on.
    pub(crate) start: Vec<ManagerCommand>,
    /// What ends it, now and from now on.
    pub(crate) stop: Vec<ManagerCommand>,
    /// What is run once the files are gone.
    pub(crate) forget: Vec<ManagerCommand>,
    /// The brains' folder, which stays.
    pub(crate) brains: Option<PathBuf>,
}
