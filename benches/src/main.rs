//! Measurements, each a command of its own.
//!
//! `scale` makes a brain of a given size through its writer, folds it, opens it, and asks it everything.
//! `latency` holds the daemon's calls beside a bare echo of tonic and a bare fdatasync.
//! `ask` puts questions to a brain of a daemon, for `retrieval/run.py`.

#![forbid(unsafe_code)]

mod ask;
mod data;
mod latency;
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
    /// Hold GetEvents and Ingest over the daemon's Unix socket beside an echo of tonic, with `amemd` beside this program.
    Latency {
        /// How often each row is measured, in turn with the others.
        #[arg(long, default_value_t = 10)]
        rounds: u32,
        /// Calls of one caller in a round; with many in flight there are ten times as many.
        #[arg(long, default_value_t = 500)]
        calls: usize,
        /// The folder in which the brain is made and removed again.
        #[arg(long, default_value = ".")]
        folder: PathBuf,
    },
    /// Serve the echo that `latency` measures.
    #[command(hide = true)]
    Echo {
        /// Its socket.
        socket: PathBuf,
    },
    /// Put questions to a brain of a running daemon, and print what it found.
    Ask {
        /// The daemon's socket.
        #[arg(long)]
        socket: PathBuf,
        /// The brain.
        #[arg(long)]
        brain: String,
        /// What answers.
        #[arg(long, value_enum, default_value_t = ask::Mode::Search)]
        mode: ask::Mode,
        /// The questions, one JSON object a line.
        questions: PathBuf,
    },
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    match Args::parse().command {
        Command::Scale { nodes, folder } => scale::run(nodes, &folder),
        Command::Latency {
            rounds,
            calls,
            folder,
        } => latency::run(rounds, calls, &folder),
        Command::Echo { socket } => latency::echo::serve(&socket),
        Command::Ask {
            socket,
            brain,
            mode,
            questions,
        } => ask::run(&socket, &brain, &questions, mode),
    }
}
