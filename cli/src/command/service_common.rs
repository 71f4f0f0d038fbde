//! What the service commands share: the service manager, files, output.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use serde::Serialize;

use crate::failure::Failure;
use crate::render::TextPage;
use crate::service::{
    FileState, Launchd, ManagerCommand, PlannedFile, ServicePlan, ServiceScope, ServiceState,
    Systemd,
};

#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct WhichService {
    /// The service of the machine, for all users; needs root.
    #[arg(long)]
    pub(crate) system: bool,
    /// The service manager [default: that of this system].
    #[arg(long, value_enum, value_name = "NAME", hide_short_help = true)]
    pub(crate) manager: Option<ManagerName>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ManagerName {
    /// On Linux.
    Systemd,
    /// On macOS.
    Launchd,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum ServiceManager {
    Systemd(Systemd),
    Launchd(Launchd),
}

#[derive(Serialize)]
pub(super) struct ServiceOutput {
    pub(super) program: Option<PathBuf>,
    pub(super) files: Vec<FileChange>,
    pub(super) commands: Vec<ManagerCommand>,
    pub(super) brains: Option<PathBuf>,
    pub(super) notes: Vec<String>,
}

#[derive(Serialize)]
pub(super) struct FileChange {
    pub(super) path: PathBuf,
    pub(super) was: &'static str,
    /// written, unchanged, kept, removed, absent.
    pub(super) now: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) differs: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) text: Option<String>,
}

impl WhichService {
    pub(crate) fn manager(self) -> Result<ServiceManager, Failure> {
        let usual = if cfg!(target_os = "macos") {
            ManagerName::Launchd
        } else {
            ManagerName::Systemd
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
                "launchd has no service of the machine here",
                "omit --system: amemd runs as the agent of a user",
            )),
        }
    }
}

impl ServiceManager {
    /// The files and commands. Asks the manager for its version; fails if `must_be_there` and it does not answer.
    pub(crate) fn plan(self, program: &Path, must_be_there: bool) -> Result<ServicePlan, Failure> {
        match self {
            Self::Systemd(systemd) => {
                let version = systemd.version();
                let version = if must_be_there {
                    version?
                } else {
                    // Shows what a new manager would get.
                    version.unwrap_or(u32::MAX)
                };
                systemd.plan(program, version)
            }
            Self::Launchd(launchd) => launchd.plan(program),
        }
    }

    pub(crate) fn condition(self) -> Result<ServiceState, Failure> {
        match self {
            Self::Systemd(systemd) => systemd.condition(),
            Self::Launchd(launchd) => Ok(launchd.condition()),
        }
    }

    /// The command that restarts the service.
    pub(crate) fn restart(self) -> ManagerCommand {
        match self {
            Self::Systemd(systemd) => systemd.restart(),
            Self::Launchd(launchd) => launchd.restart(),
        }
    }

    pub(super) fn is_system(self) -> bool {
        matches!(self, Self::Systemd(Systemd(ServiceScope::System)))
    }

    pub(super) fn check_rights(self) -> Result<(), Failure> {
        if self.is_system() && !rustix::process::geteuid().is_root() {
            Err(Failure::refused(
                "not_root",
                "only root may change the service of the machine",
                "use sudo, or omit --system for a service of your own",
            ))
        } else {
            Ok(())
        }
    }
}

pub(super) fn tell_file(file: &FileChange, would: bool, page: &mut TextPage) {
    let path = file.path.display();
    let word = match (would, file.now) {
        (true, "written") => "would write",
        (true, "removed") => "would remove",
        (_, now) => now,
    };
    match file.was {
        "changed" => page.line(format!("{word}: {path}, which was changed")),
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

pub(crate) fn found(files: &[PlannedFile]) -> Result<Vec<(&PlannedFile, FileState)>, Failure> {
    let each = files.iter().map(|file| Ok((file, file.found()?)));
    each.collect()
}

/// Stops at the first failure.
pub(super) fn run_all(commands: &[ManagerCommand]) -> Result<(), Failure> {
    commands
        .iter()
        .try_for_each(|command| command.run().map(drop))
}
