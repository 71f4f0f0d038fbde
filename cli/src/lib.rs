//! amemctl: the command line of amemd.
//!
//! A brain is a name at amemd or a path (`target`). A question is one message either way, answered by the daemon or
//! from the file (`opened`); a change goes to the daemon (`writing`), which is found and, if none runs, started
//! (`reach`, `autostart`). One file per command is under `command`; what they share is how a path becomes a view
//! (`source`), how an answer is shown (`context`, `shown`, `render`), how a failure is told (`failure`, `refusal`), and
//! how a new file comes to be (`new_file`, by the steps of `whole`, which the tests crash). `service` has what a
//! service manager is told of amemd.
//!
//! Promises: every failure names the thing and a remedy; exit codes are those of `exit`; with `--json` every
//! answer and every failure is one envelope on stdout (`context`), except for streams of lines.
//! Not here: what a query means and what a file holds (`amem-format`), writing to brains that exist (`amemd`).

#![forbid(unsafe_code)]

mod appending;
mod args;
pub mod atomic_file;
mod brain;
mod command;
mod connection;
mod demo;
mod entries;
mod exit;
mod failure;
mod help;
mod json;
mod jsonl;
mod lines;
mod listing;
mod live;
mod output;
mod render;
mod service;
mod types;
mod vitals;
mod when;

use std::process::ExitCode;

use clap::parser::ValueSource;
use clap::{ArgMatches, FromArgMatches, Parser};

use command::Command;
use connection::flags::{ConnectionArgs, FlagsOnLine};
use exit::Exit;
use failure::Failure;
use output::context::Context;

/// The memory of AI agents: keeps it in brains of amemd, and asks it, there or in files.
#[derive(Debug, Parser)]
#[command(
    name = "amemctl",
    version,
    subcommand_required = true,
    arg_required_else_help = true
)]
struct Arguments {
    /// One JSON object on stdout instead of text.
    #[arg(long, global = true, help_heading = "Output")]
    json: bool,
    /// Say nothing but answers and failures: no notes, no progress.
    #[arg(short, long, global = true, help_heading = "Output")]
    quiet: bool,
    #[command(flatten)]
    connection: ConnectionArgs,
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "Examples:
  amemctl demo                                  what all of this is for, shown and checked
  amemctl brain create work                     a brain; amemd is started if none runs
  amemctl add work \"backups take 4 hours\"       something to remember
  amemctl search work how long do backups take  what fits a question
  amemctl why work 12                           what event 12 rests on
  amemctl ls work --type decision               its decisions, the newest first
  amemctl why work.amem 12                      the same of a file, without a daemon

`amemctl COMMAND --help` has the options and examples of each.";

/// Runs amemctl as this process: its arguments, standard output and error; exit codes are those of `amemctl --help`.
pub fn main() -> ExitCode {
    if let Err(why) = amem_process::disable_core_dumps() {
        eprintln!("amemctl: note: a core dump of this process would have what it reads: {why}");
    }
    if let Err(why) = amem_process::fail_writes_beyond_limit() {
        eprintln!(
            "amemctl: note: a file that grows beyond `ulimit -f` would end this process: {why}"
        );
    }
    let parsed = help::command().try_get_matches();
    let parsed = parsed.and_then(|matches| {
        let mut arguments = Arguments::from_arg_matches(&matches)?;
        arguments.connection.settle(flags_on_line(&matches));
        Ok((arguments, command_name(&matches)))
    });
    let (arguments, name) = match parsed {
        Ok(parsed) => parsed,
        Err(error) => return unparsed(&error).into(),
    };
    let Arguments {
        json,
        quiet,
        connection,
        command,
    } = arguments;
    let mut cx = Context::new(json, quiet, name, connection);
    let done = command
        .run(&mut cx)
        .and_then(|exit| cx.finish().map(|()| exit));
    match done {
        Ok(exit) => exit,
        Err(failure) => cx.fail(&failure),
    }
    .into()
}

/// The command with its subcommand, as in "brain ls".
fn command_name(matches: &ArgMatches) -> String {
    let mut names = Vec::new();
    let mut below = matches.subcommand();
    while let Some((name, matches)) = below {
        names.push(name);
        below = matches.subcommand();
    }
    names.join(" ")
}

/// The flags of the connection that are on the command line: they beat variables.
fn flags_on_line(matches: &ArgMatches) -> FlagsOnLine {
    let is_on_line = |id| matches.value_source(id) == Some(ValueSource::CommandLine);
    FlagsOnLine {
        socket: is_on_line("socket"),
        address: is_on_line("address"),
        token_file: is_on_line("token_file"),
    }
}

/// Help, the version, or a command line that makes no sense.
fn unparsed(error: &clap::Error) -> Exit {
    let wants_json = std::env::args_os().any(|argument| argument == "--json");
    if error.use_stderr() && wants_json {
        let command = help::named_in(std::env::args().skip(1));
        return Context::new(true, false, command, ConnectionArgs::default())
            .fail(&Failure::usage(error));
    }
    // If not even that can be printed there is nobody to tell.
    let _unseen = error.print();
    if error.use_stderr() {
        Exit::Usage
    } else {
        Exit::Ok
    }
}
