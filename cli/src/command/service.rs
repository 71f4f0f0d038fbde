//! `amemctl service`: amemd as a service that begins by itself.
//!
//! Here is whose service is meant and what the acts share; each act has a file of its own.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand, ValueEnum};
use serde::Serialize;

use super::service_install::Install;
use super::service_status;
use super::service_uninstall::Uninstall;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::context::Context;
use crate::render::Page;
use crate::service::{Command, Condition, Found, Launchd, Plan, Planned, Scope, Systemd};

#[derive(Debug, Args)]
pub(crate) struct Service {
    #[command(subcommand)]
    act: Act,
}

#[derive(Debug, Subcommand)]
enum Act {
    /// Has amemd begin by itself, for you or for all users of the machine.
    Install(Install),
    /// Takes that back; brains stay.
    Uninstall(Uninstall),
    /// Tells how the service is, and whether it runs what is installed.
    #[command(after_help = "Examples:
  amemctl service status
  amemctl service status --system")]
    Status(Which),
}

/// Whose service, and of which manager.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct Which {
    /// The machine's service, for all users; needs root.
    #[arg(long)]
    pub(crate) system: bool,
    /// The service manager [default: that of this system].
    #[arg(long, value_enum, value_name = "NAME", hide_short_help = true)]
    pub(crate) manager: Option<Name>,
}

/// A service manager.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Name {
    /// Of Linux.
    Systemd,
    /// Of macOS.
    Launchd,
}

/// A service manager with whose service it is.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Manager {
    /// systemd, for a user or the machine.
    Systemd(Systemd),
    /// launchd, for a user.
    Launchd(Launchd),
}

/// What was done, or would be.
#[derive(Serialize)]
pub(super) struct Done {
    pub(super) program: Option<PathBuf>,
    pub(super) files: Vec<FileJson>,
    pub(super) commands: Vec<Command>,
    pub(super) brains: Option<PathBuf>,
    pub(super) notes: Vec<String>,
}

/// What became of a file, or would.
#[derive(Serialize)]
pub(super) struct FileJson {
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

impl Which {
    /// The manager that is meant.
    pub(crate) fn manager(self) -> Result<Manager, Failure> {
        let usual = match cfg!(target_os = "macos") {
            true => Name::Launchd,
            false => Name::Systemd,
        };
        match (self.manager.unwrap_or(usual), self.system) {
            (Name::Systemd, true) => Ok(Manager::Systemd(Systemd(Scope::System))),
            (Name::Systemd, false) => Ok(Manager::Systemd(Systemd(Scope::User))),
            (Name::Launchd, false) => Ok(Manager::Launchd(Launchd)),
            (Name::Launchd, true) => Err(Failure::argument(
                "there is no service of the machine for launchd",
                "leave --system out: the agent of a user is what launchd runs",
            )),
        }
    }
}

impl Manager {
    /// Files and commands; with a manager that is asked for its version if it has to be there.
    pub(crate) fn plan(self, program: &Path, must_be_there: bool) -> Result<Plan, Failure> {
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
    pub(crate) fn condition(self) -> Result<Condition, Failure> {
        match self {
            Self::Systemd(systemd) => systemd.condition(),
            Self::Launchd(launchd) => Ok(launchd.condition()),
        }
    }

    /// What runs what is new.
    pub(crate) fn restart(self) -> Command {
        match self {
            Self::Systemd(systemd) => systemd.restart(),
            Self::Launchd(launchd) => launchd.restart(),
        }
    }

    /// True if it is the service of the machine.
    pub(super) fn is_system(self) -> bool {
        matches!(self, Self::Systemd(Systemd(Scope::System)))
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

impl Service {
    /// What is done, as it is typed.
    pub(crate) fn name(&self) -> &'static str {
        match self.act {
            Act::Install(_) => "install",
            Act::Uninstall(_) => "uninstall",
            Act::Status(_) => "status",
        }
    }

    pub(crate) fn run(&self, cx: &mut Context) -> Result<Exit, Failure> {
        match &self.act {
            Act::Install(install) => install.run(cx),
            Act::Uninstall(uninstall) => uninstall.run(cx),
            Act::Status(which) => service_status::run(*which, cx),
        }
    }
}

/// Tells what became of a file, or would.
pub(super) fn tell_file(file: &FileJson, would: bool, page: &mut Page) {
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
pub(crate) fn found(files: &[Planned]) -> Result<Vec<(&Planned, Found)>, Failure> {
    let each = files.iter().map(|file| Ok((file, file.found()?)));
    each.collect()
}

/// Runs one after the other, up to the first that fails.
pub(super) fn run_all(commands: &[Command]) -> Result<(), Failure> {
    commands
        .iter()
        .try_for_each(|command| command.run().map(drop))
}
