//! amemctl, the command line of amemd.
//!
//! A brain is a name at amemd or a path (`brain::target`). A query is one message, answered by the daemon or from the
//! file (`brain::opened`). A change goes to the daemon (`brain::writable`), which is started if none runs
//! (`connection`). `command` has a file per command.
//!
//! Promises: every failure names what failed and a remedy; exit codes are those of `exit`; with `--json` every answer
//! and every failure is one envelope on stdout (`output::context`), except for streams of lines.
//!
//! Not here: what a query means and what a file holds (`amem-format`), writing to brains (`amemd`).

#![forbid(unsafe_code)]
#![allow(
    missing_docs,
    reason = "the library of a program: its public items are for tests"
)]

mod agent_line;
mod appending;
mod args;
mod arguments;
pub mod atomic_file;
mod authors;
mod brain;
mod command;
mod completion;
mod connection;
mod demo;
mod entries;
mod exit;
mod failure;
mod help;
mod hook;
mod importing;
mod json;
mod jsonl;
mod lines;
mod listing;
mod live;
mod mcp;
mod named_file;
mod output;
mod render;
mod service;
mod types;
mod vitals;
mod when;

use std::process::ExitCode;

use clap::parser::ValueSource;
use clap::{ArgMatches, FromArgMatches};

use agent_line::{AgentCommand, AgentLine};
use arguments::Arguments;
use connection::flags::{ConnectionArgs, FlagsOnLine};
use exit::Exit;
use failure::Failure;
use output::context::CommandContext;

/// Runs amemctl as this process. Exit codes are those of `amemctl --help`.
pub fn main() -> ExitCode {
    if let Err(why) = amem_host::disable_core_dumps() {
        eprintln!("amemctl: note: a core dump of this process would contain what it reads: {why}");
    }
    if let Err(why) = amem_host::fail_writes_beyond_limit() {
        eprintln!("amemctl: note: writing beyond `ulimit -f` would kill this process: {why}");
    }
    if let Some(exit) = for_agent() {
        return exit.into();
    }
    let tree = help::command();
    let arguments = args::literal::protect_text(&tree, std::env::args_os().collect());
    if let Some(note) = when::choose_zone(&arguments) {
        eprintln!("amemctl: note: {}", render::printable(&note));
    }
    let parsed = tree.try_get_matches_from(arguments);
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
        utc: _,
        connection,
        command,
    } = arguments;
    if quiet {
        connection::silence::keep_quiet();
    }
    let mut cx = CommandContext::new(json, quiet, name, connection);
    let done = command
        .run(&mut cx, help::command)
        .and_then(|exit| cx.finish().map(|()| exit));
    match done {
        Ok(exit) => exit,
        Err(failure) => cx.fail(&failure),
    }
    .into()
}

/// Runs a command that agents run, if it is one.
fn for_agent() -> Option<Exit> {
    let words: Vec<_> = std::env::args_os().collect();
    let (line, matches) = AgentLine::read(&words)?;
    if let Some(note) = when::choose_zone(&words) {
        eprintln!("amemctl: note: {}", render::printable(&note));
    }
    if line.quiet {
        connection::silence::keep_quiet();
    }
    let mut connection = line.connection;
    connection.settle(flags_on_line(&matches));
    let name = command_name(&matches);
    let mut cx = CommandContext::new(line.json, line.quiet, name, connection);
    let done = match &line.command {
        AgentCommand::Hook(command) => command.run(&mut cx),
        AgentCommand::Mcp(command) => command.run(&mut cx),
    };
    let done = done.and_then(|exit| cx.finish().map(|()| exit));
    Some(done.unwrap_or_else(|failure| cx.fail(&failure)))
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
        agent: is_on_line("agent"),
    }
}

/// Prints help or the version, or reports a command line that clap rejects.
fn unparsed(error: &clap::Error) -> Exit {
    let wants_json = std::env::args_os().any(|argument| argument == "--json");
    let command = help::named_in(std::env::args().skip(1));
    if let Some(failure) = help::tip(error, &command) {
        return CommandContext::new(wants_json, false, command, ConnectionArgs::default())
            .fail(&failure);
    }
    if error.use_stderr() && wants_json {
        return CommandContext::new(true, false, command, ConnectionArgs::default())
            .fail(&Failure::usage(error));
    }
    // Nothing is left to report a failed print to.
    let _unseen = error.print();
    let arguments: Vec<_> = std::env::args_os().collect();
    if error.use_stderr() || args::literal::asks_help_as_text(&help::command(), &arguments) {
        Exit::Usage
    } else {
        Exit::Ok
    }
}
