//! amemctl: the command line of amemd.
//!
//! Most commands work on a path, without a daemon: they read a brain (live or a copy), a file of the reference
//! or a spec-1 file, and write new files only. One file per command is under `command`; what they share is how
//! a path becomes a view (`source`), how an answer is shown (`context`, `render`), how a failure is told
//! (`failure`), and how a new file comes to be (`new_file`). Those that need a daemon ask it through `remote`.
//!
//! Promises: every failure names the thing and a remedy; exit codes are those of `exit`; with `--json` every
//! answer and every failure is one envelope on stdout (`context`), except for streams of lines.
//! Not here: what a query means and what a file holds (`amem-core`), writing to brains that exist (`amemd`).

#![forbid(unsafe_code)]

mod asking;
mod autostart;
mod command;
mod context;
mod conversation;
mod convert;
mod demo;
mod event;
mod exit;
mod failure;
mod id;
mod input;
mod jsonl;
mod new_file;
mod opened;
mod reach;
mod refusal;
mod remote;
mod render;
mod selected;
mod selecting;
mod shown;
mod source;
mod target;
mod when;
mod writing;

use std::process::ExitCode;

use clap::Parser;

use command::Command;
use context::Context;
use exit::Exit;
use failure::Failure;
use reach::Reach;

/// The command line of amemd: the memory of the AI agents on a machine.
#[derive(Debug, Parser)]
#[command(
    name = "amemctl",
    version,
    after_help = EXAMPLES,
    after_long_help = format!("{EXAMPLES}\n\n{}", exit::help()),
    disable_help_subcommand = true,
    subcommand_required = true,
    arg_required_else_help = true
)]
struct Arguments {
    /// One JSON object on stdout instead of text: {"amemctl":1,"command":…,"brain":…,"data":…} or "error".
    #[arg(long, global = true)]
    json: bool,
    /// Say nothing but answers and failures: no notes, no progress.
    #[arg(short, long, global = true)]
    quiet: bool,
    #[command(flatten)]
    reach: Reach,
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "Examples:
  amemctl info work.amem                      what a brain is and holds
  amemctl ls work.amem --type decision        its decisions, the newest first
  amemctl get work.amem 12 --edges --history  one event, whole
  amemctl resolve work.amem 12                what is believed now instead of event 12
  amemctl why work.amem 12                    what event 12 rests on
  amemctl verify work.amem                    every byte, against its checksums
  amemctl export work.amem --format jsonl     everything, one event a line
  amemctl import old.amem new.amem            a brain made of another file
  amemctl demo                                what all of this is for, shown and checked";

fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => return unparsed(&error).into(),
    };
    let Arguments {
        json,
        quiet,
        reach,
        command,
    } = arguments;
    let mut cx = Context::new(json, quiet, command.name(), reach);
    let done = command
        .run(&mut cx)
        .and_then(|exit| cx.finish().map(|()| exit));
    match done {
        Ok(exit) => exit,
        Err(failure) => cx.fail(&failure),
    }
    .into()
}

/// Help, the version, or a command line that makes no sense.
fn unparsed(error: &clap::Error) -> Exit {
    let wants_json = std::env::args_os().any(|argument| argument == "--json");
    if error.use_stderr() && wants_json {
        return Context::new(true, false, "", Reach::default()).fail(&Failure::usage(error));
    }
    // If not even that can be printed there is nobody to tell.
    let _unseen = error.print();
    if error.use_stderr() {
        Exit::Usage
    } else {
        Exit::Ok
    }
}
