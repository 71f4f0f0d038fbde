//! `amemctl completions` and `amemctl man`.

use std::fs;
use std::io::Write;
use std::path::PathBuf;

use clap::{Args, Command};
use clap_complete::Shell;

use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::context::CommandContext;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  amemctl completions bash > ~/.local/share/bash-completion/completions/amemctl
  amemctl completions zsh > ~/.zfunc/_amemctl
  amemctl completions fish > ~/.config/fish/completions/amemctl.fish")]
pub(crate) struct CompletionsArgs {
    /// The shell.
    #[arg(value_enum)]
    shell: Shell,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  amemctl man | man -l -
  amemctl man --folder ~/.local/share/man/man1      a page for every command")]
pub(crate) struct ManArgs {
    /// Write a page for each command into this folder, instead of the first page to stdout.
    #[arg(long, value_name = "FOLDER")]
    folder: Option<PathBuf>,
}

impl CompletionsArgs {
    pub(crate) fn run(&self, cx: &mut CommandContext, mut whole: Command) -> Result<Exit, Failure> {
        let mut out = Vec::new();
        clap_complete::generate(self.shell, &mut whole, "amemctl", &mut out);
        cx.stream()
            .write_all(&out)
            .map_err(|e| Failure::output(&e))?;
        Ok(Exit::Ok)
    }
}

impl ManArgs {
    pub(crate) fn run(&self, cx: &mut CommandContext, whole: Command) -> Result<Exit, Failure> {
        let command = unabridged(whole);
        let Some(folder) = &self.folder else {
            let mut out = Vec::new();
            let rendered = clap_mangen::Man::new(command).render(&mut out);
            rendered
                .and_then(|()| cx.stream().write_all(&out))
                .map_err(|e| Failure::output(&e))?;
            return Ok(Exit::Ok);
        };
        fs::create_dir_all(folder).map_err(|e| Failure::io("make", folder, &e))?;
        clap_mangen::generate_to(command, folder)
            .map_err(|e| Failure::io("write into", folder, &e))?;
        Ok(Exit::Ok)
    }
}

/// For manual pages: they show options that short help hides.
fn unabridged(command: Command) -> Command {
    command
        .mut_args(|arg| arg.hide_short_help(false).hide_env_values(false))
        .mut_subcommands(unabridged)
}
