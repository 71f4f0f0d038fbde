//! The process: flags, log, signals, exit codes.

use std::env;
use std::fmt::Display;
use std::future::Future;
use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::Arc;

use amem_host::paths::IN_USE;
use clap::Parser;

use super::check;
use super::ending::{PROCESS_END, end_on_signals};
use super::folder::open_folder;
use super::manual;
use super::server::run;
use super::standstill::{WatchLimits, cut_off, watch};
use crate::config::{Config, Flags};
use crate::error::{Error, Result};
use crate::http;
use crate::ingress::Listeners;
use crate::limits::{CLOSE, DRAIN, END_LOOK_EVERY, END_WITHIN, LAST_LINES, LEAVE, TASKS_END};
use crate::log;
use crate::os::InheritedSockets;
use crate::traces::{self, Exporter};
use crate::{models, webhooks};

/// Service managers and containers kill a process ten seconds after SIGTERM.
const _: () = assert!(
    2 * TASKS_END.as_millis() + DRAIN.as_millis() + CLOSE.as_millis() + LEAVE.as_millis()
        < END_WITHIN.as_millis()
);
const _: () =
    assert!(END_WITHIN.as_millis() + END_LOOK_EVERY.as_millis() + LAST_LINES.as_millis() <= 10_000);

/// Runs the daemon as this process until SIGTERM or SIGINT; SIGHUP reloads its configuration. It uses the sockets that
/// a service manager passes (LISTEN_FDS).
///
/// Exit codes: 0 stopped in order, or the configuration is valid; 1 could not start or serve, was cut off because its
/// end took too long, or the configuration is invalid; 2 invalid flags; 75 another daemon has the folder or the socket
/// (EX_TEMPFAIL of sysexits.h: a retry may succeed). The log goes to standard error.
///
/// `exporter` sends spans to the configured collector, `webhooks` posts to configured hosts, `models` opens configured
/// models; what is configured and has none of them is an error.
pub fn main(
    exporter: Option<Exporter>,
    webhooks: Option<webhooks::Starter>,
    models: Option<models::Starter>,
) -> ExitCode {
    let flags = Flags::parse();
    if let Err(why) = amem_host::disable_core_dumps() {
        eprintln!("amemd: warning: a core dump of this process would contain its secrets: {why}");
    }
    if let Some(folder) = &flags.man {
        return code_of(manual::write(folder));
    }
    if flags.openapi {
        return code_of(io::stdout().write_all(http::description().as_bytes()));
    }
    let check_only = flags.check_config;
    let loaded = Config::load(flags, Arc::new(|name| env::var_os(name)));
    let done = loaded.and_then(|config| {
        if check_only {
            return check(&config, exporter, webhooks, models);
        }
        // Before any thread starts: this changes the environment.
        let inherited = InheritedSockets::take()?;
        run_to_end(serve(config, inherited, exporter, webhooks, models))
    });
    log::flush(LAST_LINES);
    let is_in_use = done.as_ref().is_err_and(Error::is_in_use);
    let code = code_of(done);
    if is_in_use {
        ExitCode::from(IN_USE)
    } else {
        code
    }
}

/// The exit code; an error goes to standard error.
fn code_of<E: Display>(done: std::result::Result<(), E>) -> ExitCode {
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("amemd: {error}");
            ExitCode::FAILURE
        }
    }
}

fn check(
    config: &Config,
    exporter: Option<Exporter>,
    webhooks: Option<webhooks::Starter>,
    models: Option<models::Starter>,
) -> Result<()> {
    print!("{}", check::show(config));
    for warning in check::check(config, exporter, (webhooks, models))? {
        eprintln!("amemd: warning: {warning}");
    }
    Ok(())
}

/// Runs the work of the process under the watch. Blocking threads get `LEAVE` to end: the end of the daemon must not
/// wait for a query.
fn run_to_end<T>(work: impl Future<Output = Result<T>>) -> Result<T> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build();
    let runtime = runtime.map_err(Error::Threads)?;
    let handle = runtime.handle().clone();
    let watching = watch(handle, WatchLimits::default(), &PROCESS_END, cut_off);
    let _watching = watching.map_err(Error::Threads)?;
    let done = runtime.block_on(work);
    runtime.shutdown_timeout(LEAVE);
    done
}

async fn serve(
    mut config: Config,
    inherited: InheritedSockets,
    exporter: Option<Exporter>,
    webhooks: Option<webhooks::Starter>,
    models: Option<models::Starter>,
) -> Result<()> {
    let (spans, end) = traces::start(&config, exporter)?;
    log::install(&config.log_filter, config.log_format, spans).map_err(Error::Log)?;
    amem_engine::raise_descriptor_limit();
    end_on_signals(&PROCESS_END).map_err(Error::Signals)?;
    amem_host::fail_writes_beyond_limit().map_err(Error::Signals)?;
    if let Some((_, path)) = &inherited.unix {
        config.socket = path.clone();
    }
    // The folder first: a daemon that cannot lock it must not take the socket of the one that holds it.
    let folder = open_folder(&config)?;
    let listeners = Listeners::bind(&config, inherited).await?;
    if let Err(error) = config.record_place() {
        tracing::warn!(
            "cannot record where amemd listens: {error}; callers without XDG_DATA_HOME look in the default places only"
        );
    }
    let asked = PROCESS_END.asked();
    let ran = run(config, folder, listeners, (webhooks, models), asked).await;
    traces::finish(end).await;
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
