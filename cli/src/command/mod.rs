//! The commands: one file each, with its options and its `run`.

mod dump_journal;
mod export;
mod get;
mod import;
mod info;
mod ls;
mod repair;
mod resolve;
mod verify;
mod why;

use clap::Subcommand;

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// What a brain is and holds.
    Info(info::Info),
    /// Lists events.
    Ls(ls::Ls),
    /// Shows events, whole.
    Get(get::Get),
    /// Shows what is believed now instead of an event.
    Resolve(resolve::Resolve),
    /// Shows what an event rests on.
    Why(why::Why),
    /// Checks every byte of a file.
    Verify(verify::Verify),
    /// Saves what is whole of a damaged file into a new one.
    Repair(repair::Repair),
    /// Shows the journal: every commit since the last checkpoint.
    DumpJournal(dump_journal::DumpJournal),
    /// Writes a brain in another form.
    Export(export::Export),
    /// Makes a brain of a file of another form.
    Import(import::Import),
}

impl Command {
    /// Its name, as it is typed.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Info(_) => "info",
            Self::Ls(_) => "ls",
            Self::Get(_) => "get",
            Self::Resolve(_) => "resolve",
            Self::Why(_) => "why",
            Self::Verify(_) => "verify",
            Self::Repair(_) => "repair",
            Self::DumpJournal(_) => "dump-journal",
            Self::Export(_) => "export",
            Self::Import(_) => "import",
        }
    }

    /// Does it.
    pub(crate) fn run(&self, cx: &mut Context) -> Result<Exit, Failure> {
        match self {
            Self::Info(command) => command.run(cx),
            Self::Ls(command) => command.run(cx),
            Self::Get(command) => command.run(cx),
            Self::Resolve(command) => command.run(cx),
            Self::Why(command) => command.run(cx),
            Self::Verify(command) => command.run(cx),
            Self::Repair(command) => command.run(cx),
            Self::DumpJournal(command) => command.run(cx),
            Self::Export(command) => command.run(cx),
            Self::Import(command) => command.run(cx),
        }
    }
}
