//! The process: flags, log, signals, exit codes.

use std::env;
use std::future::Future;
use std::process::ExitCode;
use std::sync::Arc;

use amem_proto::place::IN_USE;
use clap::Parser;
use tokio::signal::unix::{SignalKind, signal};

use crate::config::{Config, Flags};
use crate::error::{Error, Result};
use crate::folder::open_folder;
use crate::limits::{CLOSE, DRAIN, LEAVE};
use crate::listen::{Lent, Listeners};
use crate::server::run;
use crate::traces::{self, Exporter};
use crate::{check, descriptors, log};

/// Service managers and containers kill after ten seconds.
const _: () = assert!(DRAIN.as_millis() + CLOSE.as_millis() + LEAVE.as_millis() < 10_000);

/// Runs the daemon as this process until SIGTERM or SIGINT; SIGHUP has it read its configuration again. Sockets that a
/// service manager lends (LISTEN_FDS) are used instead of making them.
///
/// Exit codes: 0 stopped in order, or the configuration does; 1 could not start or serve, or the configuration does
/// not do; 2 wrong flags; 75 another daemon has the folder or the socket (EX_TEMPFAIL of sysexits.h: it may be gone in
/// a moment). The log goes to standard error.
///
/// Spans are told by `exporter`, if the settings name a collector; without one such settings are refused.
pub fn main(exporter: Option<Exporter>) -> ExitCode {
    let flags = Flags::parse();
    if let Err(why) = amem_process::disable_core_dumps() {
        eprintln!("amemd: warning: a core dump of this process would have its secrets: {why}");
    }
    let check_only = flags.check_config;
    let loaded = Config::load(flags, Arc::new(|name| env::var_os(name)));
    let done = match check_only {
        true => loaded.and_then(|config| check(&config, exporter)),
        // What is lent is taken while there are no threads yet.
        false => loaded.and_then(|config| run_to_end(serve(config, Lent::take()?, exporter))),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("amemd: {error}");
            match error.is_in_use() {
                true => ExitCode::from(IN_USE),
                false => ExitCode::FAILURE,
            }
        }
    }
}

fn check(config: &Config, exporter: Option<Exporter>) -> Result<()> {
    print!("{}", check::show(config));
    for warning in check::check(config, exporter)? {
        eprintln!("amemd: warning: {warning}");
    }
    Ok(())
}

/// Runs the process's work. What it left to threads that may be kept busy is not waited for without bound: the end of
/// a daemon must not wait for a query.
fn run_to_end<T>(work: impl Future<Output = Result<T>>) -> Result<T> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build();
    let runtime = runtime.map_err(Error::Threads)?;
    let done = runtime.block_on(work);
    runtime.shutdown_timeout(LEAVE);
    done
}

async fn serve(mut config: Config, lent: Lent, exporter: Option<Exporter>) -> Result<()> {
    let (spans, told) = traces::start(&config, exporter)?;
    log::install(&config.log_filter, config.log_format, spans).map_err(Error::Log)?;
    descriptors::raise();
    let on = |kind| signal(kind).map_err(Error::Signals);
    let mut terminate = on(SignalKind::terminate())?;
    let mut interrupt = on(SignalKind::interrupt())?;
    amem_process::fail_writes_beyond_limit().map_err(Error::Signals)?;
    if let Some((_, path)) = &lent.unix {
        config.socket = path.clone();
    }
    // The folder first: who can't have it must not take the socket of who has it.
    let folder = open_folder(&config)?;
    let listeners = Listeners::bind(&config, lent).await?;
    let ran = run(config, folder, listeners, async {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    })
    .await;
    traces::finish(told).await;
    ran
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;
    use std::time::Duration;

    #[test]
    fn the_end_does_not_wait_for_work_that_goes_on() {
        let (release, held) = mpsc::channel::<()>();
        let (ended, end) = mpsc::channel();
        std::thread::spawn(move || {
            let done = run_to_end(async {
                tokio::task::spawn_blocking(move || held.recv());
                Ok(7)
            });
            ended.send(done.unwrap()).unwrap();
        });
        assert_eq!(end.recv_timeout(Duration::from_secs(9)), Ok(7));
        drop(release);
    }
}
