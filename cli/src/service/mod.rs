//! amemd as a service: the files of a service manager, and its commands.
//!
//! `systemd` and `launchd` plan files and commands for the path of the program; `file` writes and removes files, and
//! detects changed ones; `manager` runs commands.
//!
//! Promises: the files are those of `deploy`; a changed file is replaced or removed only on request; brains are never
//! touched. Not here: output (`command::service`).

mod file;
mod launchd;
mod manager;
mod systemd;

use std::path::PathBuf;

pub(crate) use file::{FileState, PlannedFile};
pub(crate) use launchd::{Launchd, log_in as launchd_log};
pub(crate) use manager::{ManagerCommand, ServiceState};
pub(crate) use systemd::{ServiceScope, Systemd};

pub(crate) struct ServicePlan {
    pub(crate) files: Vec<PlannedFile>,
    /// Run once the files are there.
    pub(crate) prepare: Vec<ManagerCommand>,
    /// Start it, now and from now on.
    pub(crate) start: Vec<ManagerCommand>,
    /// Stop it, now and from now on.
    pub(crate) stop: Vec<ManagerCommand>,
    /// Run once the files are gone.
    pub(crate) forget: Vec<ManagerCommand>,
    /// The folder of the brains, which stays.
    pub(crate) brains: Option<PathBuf>,
}
