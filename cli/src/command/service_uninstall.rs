//! `amemctl service uninstall`: stops the service, and removes the files that `install` wrote. Brains stay.

use clap::Args;

use super::service_common::{
    FileChange, ServiceManager, ServiceOutput, WhichService, found, run_all, tell_file,
};
use crate::connection::autostart;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::context::CommandContext;
use crate::service::{FileState, PlannedFile};

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  amemctl service uninstall
  sudo amemctl service uninstall --system

Brains and settings stay where they are.")]
pub(super) struct UninstallArgs {
    #[command(flatten)]
    which: WhichService,
    /// Show what would be removed and run, and change nothing.
    #[arg(long)]
    print: bool,
    /// Also remove files that were changed.
    #[arg(long)]
    force: bool,
}

impl UninstallArgs {
    pub(super) fn run(&self, cx: &mut CommandContext) -> Result<Exit, Failure> {
        let manager = self.which.manager()?;
        if !self.print {
            manager.check_rights()?;
        }
        // The path does not matter: a line in the files identifies their writer.
        let program = autostart::program().unwrap_or_else(|_| "/usr/bin/amemd".into());
        // Without a version the plan has every file that any version may need.
        let plan = match manager {
            ServiceManager::Systemd(systemd) => systemd.plan(&program, 0)?,
            ServiceManager::Launchd(launchd) => launchd.plan(&program)?,
        };
        let found = found(&plan.files)?;
        let is_there = |found: &FileState| !matches!(found, FileState::Nothing | FileState::Theirs);
        let commands = if found.iter().any(|(_, found)| is_there(found)) {
            [plan.stop, plan.forget].concat()
        } else {
            Vec::new()
        };
        let stops = usize::from(!commands.is_empty());
        if !self.print {
            run_all(&commands[..stops])?;
        }
        let files = found
            .into_iter()
            .map(|(file, found)| self.settle(file, found));
        let files = files.collect::<Result<Vec<_>, _>>()?;
        if !self.print {
            run_all(&commands[stops..])?;
        }
        let done = ServiceOutput {
            program: None,
            files,
            commands,
            brains: plan.brains,
            notes: Vec::new(),
        };
        self.tell(cx, manager, &done)
    }

    fn settle(&self, file: &PlannedFile, found: FileState) -> Result<FileChange, Failure> {
        let now = match &found {
            FileState::Nothing => "absent",
            FileState::Theirs => "kept",
            FileState::Changed(_) if !self.force => "kept",
            _ => "removed",
        };
        if now == "removed" && !self.print {
            file.remove()?;
        }
        Ok(FileChange {
            path: file.path.clone(),
            was: found.word(),
            now,
            differs: Vec::new(),
            text: None,
        })
    }

    fn tell(
        &self,
        cx: &mut CommandContext,
        manager: ServiceManager,
        done: &ServiceOutput,
    ) -> Result<Exit, Failure> {
        cx.done(None, done, |page| {
            if done.commands.is_empty() {
                page.line("no service of amemd is installed");
            }
            let verb = if self.print { "would run" } else { "ran" };
            for command in &done.commands {
                page.line(format!("{verb}: {command}"));
            }
            for file in done.files.iter().filter(|file| file.now != "absent") {
                tell_file(file, self.print, page);
            }
            if let Some(brains) = &done.brains {
                page.line(format!("brains stay: {}", brains.display()));
            }
            if manager.is_system() && !done.commands.is_empty() {
                page.aside("the user amemd and the group amem stay, too");
            }
        })?;
        Ok(Exit::Ok)
    }
}
