//! Measurements, each a command of its own.
//!
//! `scale` makes a brain of a given size through its writer, folds it, opens it, and asks it everything.

#![forbid(unsafe_code)]

mod data;
mod scale;

use std::path::PathBuf;

use clap::Parser;

/// Measurements of amemd.
#[derive(Parser)]
struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    /// Make a brain of a given size, fold it, open it, and ask it everything.
    Scale {
        /// Events.
        #[arg(long, default_value_t = 100_000)]
        nodes: u64,
        /// The folder in which the brain is made and removed again.
        #[arg(long, default_value = ".")]
        folder: PathBuf,
    },
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    match Args::parse().command {
        Command::Scale { nodes, folder } => scale::run(nodes, &folder),
    }
}
