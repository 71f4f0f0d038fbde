//! The log of this process: its filter, which can change while it runs, and its form.
//!
//! The log is the process's, as signals are: it is set up once, by `process`. Where it was not, there is nothing to
//! change.

use std::io::{self, IsTerminal};
use std::sync::OnceLock;

use tracing_subscriber::filter::EnvFilter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{Registry, fmt, reload};

use crate::config::LogFormat;
use crate::traces::Spans;

static FILTER: OnceLock<reload::Handle<EnvFilter, Registry>> = OnceLock::new();

/// Says what is wrong with a filter.
pub(crate) fn check(filter: &str) -> Result<(), String> {
    parse(filter).map(drop)
}

fn parse(filter: &str) -> Result<EnvFilter, String> {
    EnvFilter::builder()
        .parse(filter)
        .map_err(|e| format!("{e}; such as info, debug, or amemd=trace,info"))
}

/// Writes the log of this process to standard error from now on, and tells of spans if there is somebody to tell.
pub(crate) fn install(filter: &str, format: LogFormat, spans: Option<Spans>) -> Result<(), String> {
    let (filter, handle) = reload::Layer::new(parse(filter)?);
    let registry = tracing_subscriber::registry().with(filter).with(spans);
    let colours = io::stderr().is_terminal();
    let lines = fmt::layer().with_ansi(colours).with_writer(io::stderr);
    let installed = match format {
        LogFormat::Text => registry.with(lines).try_init(),
        LogFormat::Json => registry.with(lines.json()).try_init(),
    };
    installed.map_err(|e| e.to_string())?;
    drop(FILTER.set(handle));
    Ok(())
}

/// Changes the filter.
pub(crate) fn set_filter(filter: &str) -> Result<(), String> {
    let filter = parse(filter)?;
    match FILTER.get() {
        Some(handle) => handle.reload(filter).map_err(|e| e.to_string()),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_that_means_nothing_is_refused_with_one_that_does() {
        assert_eq!(check("amemd=trace,info"), Ok(()));
        let why = check("amemd=loud").unwrap_err();
        assert!(why.contains("such as"), "{why}");
    }
}
