//! Benchmarks, one command each.
//!
//! `scale` writes a brain of a given size, checkpoints it, opens it, and runs every query on it.
//! `checkpoint` checkpoints a brain of a given size, whole and after small changes, beside bare writes and syncs.
//! `stalls` compares writes beside a running job with writes beside none.
//! `latency` compares the daemon's calls with a bare echo of tonic and a bare fdatasync.
//! `report` measures every row of the page of figures, beside the reference and other crates.
//! `ask` sends questions to a brain of a daemon, for `retrieval/run.py`.

#![forbid(unsafe_code)]

mod ask;
mod batch;
mod checkpoint;
mod data;
mod empty;
mod latency;
mod memory;
mod report;
mod scale;
mod stalls;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;

/// Benchmarks of amemd.
#[derive(Parser)]
struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    /// Write a brain of a given size, checkpoint it, open it, and run every query on it.
    Scale {
        /// Events.
        #[arg(long, default_value_t = 100_000)]
        nodes: u64,
        /// The folder for the brain, which is removed at the end.
        #[arg(long, default_value = ".")]
        folder: PathBuf,
    },
    /// Checkpoint a brain of a given size, whole and after changes of one event in a hundred, and commit meanwhile.
    Checkpoint {
        /// Events.
        #[arg(long, default_value_t = 100_000)]
        nodes: u64,
        /// Checkpoints of a changed brain.
        #[arg(long, default_value_t = 7)]
        rounds: u32,
        /// The folder for the brain, which is removed at the end.
        #[arg(long, default_value = ".")]
        folder: PathBuf,
    },
    /// Write single events to a brain of a given size while each job of a daemon runs, and while none does.
    Stalls {
        /// Events.
        #[arg(long, default_value_t = 100_000)]
        nodes: u64,
        /// Events that expire, sessions to close, events of the session to summarise.
        #[arg(long, default_value_t = 10_000)]
        much: u64,
        /// Runs of each job.
        #[arg(long, default_value_t = 3)]
        rounds: u32,
        /// The folder for the brain, which is removed at the end.
        #[arg(long, default_value = ".")]
        folder: PathBuf,
    },
    /// Compare GetEvents and Ingest over the daemon's Unix socket with an echo of tonic.
    Latency {
        /// Measurements of each row, interleaved with the others.
        #[arg(long, default_value_t = 10)]
        rounds: u32,
        /// Calls of one caller in a round; with many in flight there are ten times as many.
        #[arg(long, default_value_t = 500)]
        calls: usize,
        /// The folder for the brain, which is removed at the end.
        #[arg(long, default_value = ".")]
        folder: PathBuf,
    },
    /// Serve the echo that `latency` measures.
    #[command(hide = true)]
    Echo {
        /// Its socket.
        socket: PathBuf,
    },
    /// Measure every row of the page of figures; exits with 1 if one misses its goal or is absent.
    Report(report::Options),
    /// Send questions to a brain of a running daemon, and print the hits.
    Ask {
        /// The daemon's socket.
        #[arg(long)]
        socket: PathBuf,
        /// The brain.
        #[arg(long)]
        brain: String,
        /// The query that answers.
        #[arg(long, value_enum, default_value_t = ask::Mode::Search)]
        mode: ask::Mode,
        /// The token budgets of contexts.
        #[arg(long, value_delimiter = ',', default_value = "1000")]
        budgets: Vec<u32>,
        /// The least relevance of contexts [default: the daemon's]
        #[arg(long)]
        min_relevance: Option<f32>,
        /// The questions, one JSON object a line.
        questions: PathBuf,
    },
}

fn main() -> ExitCode {
    // `latency` and `report` start the daemon as a process of its own without having to build another program.
    if std::env::args_os()
        .next()
        .is_some_and(|name| name == latency::peers::DAEMON)
    {
        return amemd::process::main(None, None, None);
    }
    match run() {
        Ok(code) => code,
        Err(why) => {
            eprintln!("amem-benches: {why}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<ExitCode, Box<dyn std::error::Error>> {
    match Args::parse().command {
        Command::Report(options) => return report::run(&options),
        Command::Scale { nodes, folder } => scale::run(nodes, &folder),
        Command::Checkpoint {
            nodes,
            rounds,
            folder,
        } => checkpoint::run(nodes, rounds, &folder),
        Command::Stalls {
            nodes,
            much,
            rounds,
            folder,
        } => stalls::run(nodes, much, rounds, &folder),
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
            budgets,
            min_relevance,
            questions,
        } => ask::run(&socket, &brain, &questions, mode, (&budgets, min_relevance)),
    }?;
    Ok(ExitCode::SUCCESS)
}
