//! The command lines that agents run at every prompt: `amemctl hook` and `amemctl mcp`.
//!
//! The whole command line takes most of the time that a hook takes, so these two are read alone. What is not understood
//! here, help among it, is read by the whole command line.

use std::ffi::OsString;

use clap::{ArgMatches, CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::command::{HookArgs, McpArgs};
use crate::connection::flags::ConnectionArgs;

/// The same options as those of `Arguments`.
#[derive(Debug, Parser)]
#[command(
    name = "amemctl",
    disable_help_flag = true,
    disable_help_subcommand = true
)]
pub(crate) struct AgentLine {
    #[arg(long, global = true)]
    pub(crate) json: bool,
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
    #[arg(long, global = true)]
    pub(crate) utc: bool,
    #[command(flatten)]
    pub(crate) connection: ConnectionArgs,
    #[command(subcommand)]
    pub(crate) command: AgentCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum AgentCommand {
    Hook(HookArgs),
    Mcp(McpArgs),
}

impl AgentLine {
    /// Reads a command line that is one of these.
    pub(crate) fn read(line: &[OsString]) -> Option<(Self, ArgMatches)> {
        let is_one = |word: &OsString| word == "hook" || word == "mcp";
        if !line.get(1).is_some_and(is_one) {
            return None;
        }
        let matches = Self::command().try_get_matches_from(line).ok()?;
        let read = Self::from_arg_matches(&matches).ok()?;
        Some((read, matches))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_agents_are_read_and_others_are_left() {
        let read = |line: &str| {
            let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            AgentLine::read(&words)
        };
        let (line, _) = read("amemctl hook --client codex --socket /s Stop").unwrap();
        assert!(matches!(line.command, AgentCommand::Hook(_)) && line.connection.socket.is_some());
        assert!(read("amemctl mcp --compat mem0 --quiet").is_some());
        for other in [
            "amemctl hook --help",
            "amemctl --json hook Stop",
            "amemctl hook --what",
            "amemctl status",
        ] {
            assert!(read(other).is_none(), "{other}");
        }
    }
}
