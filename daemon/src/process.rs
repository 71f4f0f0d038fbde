//! The process: flags, log, signals, exit codes.

use std::io;
use std::process::ExitCode;

use clap::Parser;
use tokio::signal::unix::{SignalKind, signal};
use tracing_subscriber::EnvFilter;

use crate::config::Flags;
use crate::error::{Error, Result};
use crate::server::{open_folder, run};
use crate::socket::Socket;

/// Runs the daemon as this process until SIGTERM or SIGINT.
///
/// Exit codes: 0 stopped in order, 1 could not start or serve, 2 wrong flags. The log goes to standard error; the
/// variable `AMEMD_LOG` filters it (`debug`, `amemd=trace`; `info` unless it is set).
pub fn main() -> ExitCode {
    let flags = Flags::parse();
    let filter = EnvFilter::try_from_env("AMEMD_LOG").unwrap_or_else(|_| EnvFilter::new("info"));
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(io::stderr)
        .init();
    match serve(flags) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("amemd: {error}");
            ExitCode::FAILURE
        }
    }
}

#[tokio::main]
async fn serve(flags: Flags) -> Result<()> {
    let config = flags.resolve(|name| std::env::var_os(name))?;
    let on = |kind| signal(kind).map_err(Error::Signals);
    let mut terminate = on(SignalKind::terminate())?;
    let mut interrupt = on(SignalKind::interrupt())?;
    // The folder first: who can't have it must not take the socket of who has it.
    let folder = open_folder(&config)?;
    let socket = Socket::bind(&config.socket)?;
    run(config, folder, socket, async {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    })
    .await
}
