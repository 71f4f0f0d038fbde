//! The arguments of the command line.

use clap::Parser;

use crate::command::CliCommand;
use crate::connection::flags::ConnectionArgs;

/// The memory of AI agents: stores it in brains of amemd, and queries them, by name or as files.
#[derive(Debug, Parser)]
#[command(
    name = "amemctl",
    version,
    subcommand_required = true,
    arg_required_else_help = true
)]
pub(crate) struct Arguments {
    /// Print one JSON object instead of text.
    #[arg(long, global = true, help_heading = "Output")]
    pub(crate) json: bool,
    /// Print only answers and failures: no notes, no progress.
    #[arg(short, long, global = true, help_heading = "Output")]
    pub(crate) quiet: bool,
    /// Read and show times in UTC, not in the local zone (or AMEM_UTC=1).
    #[arg(long, global = true, help_heading = "Output")]
    pub(crate) utc: bool,
    #[command(flatten)]
    pub(crate) connection: ConnectionArgs,
    #[command(subcommand)]
    pub(crate) command: CliCommand,
}

pub(crate) const EXAMPLES: &str = "Examples:
  amemctl demo                                  what amemd promises, shown and checked
  amemctl brain create work                     a new brain; starts amemd if none runs
  amemctl add work \"backups take 4 hours\"       something to remember
  amemctl search work how long do backups take  the answers to a question
  amemctl why work 12                           what event 12 rests on
  amemctl ls work --type decision               its decisions, newest first
  amemctl why work.amem 12                      the same from a file, without a daemon

`amemctl COMMAND --help` shows options and examples.";
