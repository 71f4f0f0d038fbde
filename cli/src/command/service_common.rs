//! What the service commands share: whose service is meant, its manager, and what is printed.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use serde::Serialize;

use crate::failure::Failure;
use crate::render::TextPage;
use crate::service::{
    FileState, Launchd, ManagerCommand, PlannedFile, ServicePlan, ServiceScope, ServiceState,
    Systemd,
};

/// Whose service, and of which manager.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct WhichService {
    /// The machine's service, for all users; needs root.
    #[arg(long)]
    pub(crate) system: bool,
    /// The service manager [default: that of this system].
    #[arg(long, value_enum, value_name = "NAME", hide_short_help = true)]
    pub(crate) manager: Option<ManagerName>,
}

/// A service manager.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ManagerName {
    /// Of Linux.
    Systemd,
    /// Of macOS.
    Launchd,
}

/// A service manager with whose service it is.
#[derive(Debug, Clone, Copy)]
pub(crate) enum ServiceManager {
    /// systemd, for a user or the machine.
    Systemd(Systemd),
    /// launchd, for a user.
    Launchd(Launchd),
}

/// What was done, or would be.
#[derive(Serialize)]
pub(super) struct ServiceOutput {
    pub(super) program: Option<PathBuf>,
    pub(super) files: Vec<FileChange>,
    pub(super) commands: Vec<ManagerCommand>,
    pub(super) brains: Option<PathBuf>,
    pub(super) notes: Vec<String>,
}

/// What became of a file, or would.
#[derive(Serialize)]
pub(super) struct FileChange {
    pub(super) path: PathBuf,
    /// What was there before.
    pub(super) was: &'static str,
    /// What became of it, or would become: written, unchanged, kept, removed, absent.
    pub(super) now: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) differs: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) text: Option<String>,
}

impl WhichService {
    /// The manager that is meant.
    pub(crate) fn manager(self) -> Result<ServiceManager, Failure> {
        let usual = match cfg!(target_os = "macos") {
            true => ManagerName::Launchd,
            false => ManagerName::Systemd,
        };
        match (self.manager.unwrap_or(usual), self.system) {
            (ManagerName::Systemd, true) => {
                Ok(ServiceManager::Systemd(Systemd(ServiceScope::System)))
            }
            (ManagerName::Systemd, false) => {
                Ok(ServiceManager::Systemd(Systemd(ServiceScope::User)))
            }
            (ManagerName::Launchd, false) => Ok(ServiceManager::Launchd(Launchd)),
            (ManagerName::Launchd, true) => Err(Failure::argument(
                "there is no service of the machine for launchd",
                "leave --system out: the agent of a user is what launchd runs",
            )),
        }
    }
}

impl ServiceManager {
    /// Files and commands; with a manager that is asked for its version if it has to be there.
    pub(crate) fn plan(self, program: &Path, must_be_there: bool) -> Result<ServicePlan, Failure> {
        match self {
            Self::Systemd(systemd) => {
                let version = systemd.version();
                let version = match must_be_there {
                    true => version?,
                    // Shown is what a new one would get.
                    false => version.unwrap_or(u32::MAX),
                };
                systemd.plan(program, version)
            }
            Self::Launchd(launchd) => launchd.plan(program),
        }
    }

    /// How the service is.
    pub(crate) fn condition(self) -> Result<ServiceState, Failure> {
        match self {
            Self::Systemd(systemd) => systemd.condition(),
            Self::Launchd(launchd) => Ok(launchd.condition()),
        }
    }

    /// What runs what is new.
    pub(crate) fn restart(self) -> ManagerCommand {
        match self {
            Self::Systemd(systemd) => systemd.restart(),
            Self::Launchd(launchd) => launchd.restart(),
        }
    }

    /// True if it is the service of the machine.
    pub(super) fn is_system(self) -> bool {
        matches!(self, Self::Systemd(Systemd(ServiceScope::System)))
    }

    /// Refuses what only root may do.
    pub(super) fn check_rights(self) -> Result<(), Failure> {
        match self.is_system() && !rustix::process::geteuid().is_root() {
            false => Ok(()),
            true => Err(Failure::refused(
                "not_root",
                "the service of the machine is root's to change",
                "use sudo, or leave --system out for a service of your own",
            )),
        }
    }
}

/// Tells what became of a file, or would.
pub(super) fn tell_file(file: &FileChange, would: bool, page: &mut TextPage) {
    let path = file.path.display();
    let word = match (would, file.now) {
        (true, "written") => "would write",
        (true, "removed") => "would remove",
        (_, now) => now,
    };
    match file.was {
        "changed" => page.line(format!("{word}: {path}, which somebody has changed")),
        _ => page.line(format!("{word}: {path}")),
    }
    for line in &file.differs {
        page.line(format!("    {line}"));
    }
    if let Some(text) = &file.text {
        for line in text.lines() {
            page.line(format!("  | {line}"));
        }
    }
}

/// Each file with what is there.
pub(crate) fn found(files: &[PlannedFile]) -> Result<Vec<(&PlannedFile, FileState)>, Failure> {
    let each = files.iter().map(|file| Ok((file, file.found()?)));
    each.collect()
}

/// Runs one after the other, up to the first that fails.
pub(super) fn run_all(commands: &[ManagerCommand]) -> Result<(), Failure> {
    commands
        .iter()
        .try_for_each(|command| command.run().map(drop))
}
