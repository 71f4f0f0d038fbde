//! `amemctl service install`: writes the files of a service manager, and starts the service.

use clap::Args;

use super::service_common::{
    FileChange, ServiceManager, ServiceOutput, WhichService, found, run_all, tell_file,
};
use super::service_status;
use crate::connection::autostart;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::context::CommandContext;
use crate::service::{FileState, PlannedFile, ServiceScope, Systemd};

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  amemctl service install                 for you: systemctl --user, or launchd on macOS
  sudo amemctl service install --system   for all users of the machine
  amemctl service install --print         shows what would be written and run

The files name the amemd beside this program. A file that you changed is not replaced without --force; put your
changes into a drop-in instead (`systemctl --user edit amemd`). Repeating the command changes nothing.")]
pub(super) struct InstallArgs {
    #[command(flatten)]
    which: WhichService,
    /// Show what would be written and run, and change nothing.
    #[arg(long)]
    print: bool,
    /// Replace files that were changed.
    #[arg(long)]
    force: bool,
    /// Write the files, and start nothing.
    #[arg(long)]
    no_start: bool,
}

impl InstallArgs {
    pub(super) fn run(&self, cx: &mut CommandContext) -> Result<Exit, Failure> {
        let manager = self.which.manager()?;
        let program = autostart::program()?;
        let program =
            std::path::absolute(&program).map_err(|e| Failure::io("find", &program, &e))?;
        if !self.print {
            manager.check_rights()?;
        }
        let plan = manager.plan(&program, !self.print)?;
        let mut notes = if manager.is_system() {
            Vec::new()
        } else {
            unseen_settings()
        };
        if let ServiceManager::Systemd(systemd) = manager
            && systemd.hides(&program)
        {
            let hidden = format!(
                "the service of the machine cannot see {}",
                program.display()
            );
            if self.print {
                notes.push(hidden)
            } else {
                let remedy = "install amemd and amemctl in /usr/local/bin first";
                return Err(Failure::refused("hidden_program", hidden, remedy));
            }
        }
        let found = found(&plan.files)?;
        if !self.print {
            self.check_unchanged(&found)?;
            if !self.no_start && !manager.is_system() {
                check_free(cx, manager)?;
            }
        }
        let was_there = found.iter().any(|(_, found)| *found == FileState::Older);
        let files = found
            .into_iter()
            .map(|(file, found)| self.settle(file, found));
        let files = files.collect::<Result<Vec<_>, _>>()?;
        let mut commands = plan.prepare;
        if !self.no_start {
            commands.extend(plan.start);
        }
        if !self.print {
            run_all(&commands)?;
            if was_there && manager.condition()?.pid.is_some() {
                let restart = manager.restart();
                notes.push(format!(
                    "the running daemon is older: `{restart}` starts the new one"
                ));
            }
        }
        let done = ServiceOutput {
            program: Some(program),
            files,
            commands,
            brains: plan.brains,
            notes,
        };
        self.tell(cx, manager, &done)
    }

    /// Refuses to replace a changed file, and shows the difference.
    fn check_unchanged(&self, found: &[(&PlannedFile, FileState)]) -> Result<(), Failure> {
        let changed = found.iter().find_map(|(file, found)| match found {
            FileState::Changed(lines) if !self.force => Some((file, lines)),
            _ => None,
        });
        let Some((file, lines)) = changed else {
            return Ok(());
        };
        Err(Failure::refused(
            "changed",
            format!(
                "{} was changed; nothing was written; present (-) and new (+): {}",
                file.path.display(),
                lines.join(" | ")
            ),
            "put your changes into a drop-in (`systemctl edit`), or replace the file with --force",
        ))
    }

    fn settle(&self, file: &PlannedFile, found: FileState) -> Result<FileChange, Failure> {
        let is_written = matches!(found, FileState::Nothing | FileState::Older)
            || (self.force && matches!(found, FileState::Changed(_)));
        if is_written && !self.print {
            file.write()?;
        }
        Ok(FileChange {
            path: file.path.clone(),
            was: found.word(),
            now: match (is_written, &found) {
                (true, _) => "written",
                (false, FileState::Same) => "unchanged",
                (false, _) => "kept",
            },
            differs: match found {
                FileState::Changed(lines) => lines,
                _ => Vec::new(),
            },
            text: self.print.then(|| file.text.clone()),
        })
    }

    fn tell(
        &self,
        cx: &mut CommandContext,
        manager: ServiceManager,
        done: &ServiceOutput,
    ) -> Result<Exit, Failure> {
        cx.done(None, done, |page| {
            for file in &done.files {
                tell_file(file, self.print, page);
            }
            let verb = if self.print { "would run" } else { "ran" };
            for command in &done.commands {
                page.line(format!("{verb}: {command}"));
            }
            for note in &done.notes {
                page.line(format!("note: {note}"));
            }
            if matches!(
                manager,
                ServiceManager::Systemd(Systemd(ServiceScope::User))
            ) {
                page.aside("it stops when you log out, unless `loginctl enable-linger` is set");
            }
        })?;
        Ok(Exit::Ok)
    }
}

/// Refuses to start a service while another daemon has its folder.
fn check_free(cx: &CommandContext, manager: ServiceManager) -> Result<(), Failure> {
    let condition = manager.condition()?;
    // A connection to the manager's socket would start the service.
    if condition.pid.is_some() || condition.socket_state == "active" {
        return Ok(());
    }
    let Some(pid) = service_status::own_daemon(cx) else {
        return Ok(());
    };
    Err(Failure::refused(
        "daemon_runs",
        format!("amemd already runs (process {pid}), not as a service, and has the brains"),
        "stop it with `amemctl shutdown`, then repeat this",
    ))
}

/// Variables of this environment that a service does not see.
fn unseen_settings() -> Vec<String> {
    let names = [
        "AMEMD_FOLDER",
        "AMEMD_CONFIG",
        "XDG_DATA_HOME",
        "XDG_CONFIG_HOME",
    ];
    let is_set = |name: &&str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let set = names.into_iter().filter(is_set);
    set.map(|name| {
        format!("{name} is set here, but the service may not see it: set it in the configuration")
    })
    .collect()
}
