//! The log of the process: its format, and its filter, which can change while the daemon runs.
//!
//! `process` installs it once. Without it (in tests) a change of the filter has no effect.

use std::io::{self, IsTerminal};
use std::sync::OnceLock;

use tracing_subscriber::filter::EnvFilter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{Registry, fmt, reload};

use crate::config::LogFormat;
use crate::config::log_filter::parse;
use crate::traces::SpanLayer;

static FILTER: OnceLock<reload::Handle<EnvFilter, Registry>> = OnceLock::new();

/// Writes the log to standard error from now on, and passes spans on to `spans`.
pub(crate) fn install(
    filter: &str,
    format: LogFormat,
    spans: Option<SpanLayer>,
) -> Result<(), String> {
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

/// Where the log goes: the absolute path of a file, `journal` for that of systemd, or `stderr`.
pub(crate) fn destination() -> String {
    use std::os::unix::fs::MetadataExt;
    let meta = std::fs::metadata("/proc/self/fd/2").ok();
    // systemd names device and inode of the stream that it connected to its journal.
    let stream = meta
        .as_ref()
        .map(|meta| format!("{}:{}", meta.dev(), meta.ino()));
    if stream.is_some() && std::env::var("JOURNAL_STREAM").ok() == stream {
        return "journal".to_owned();
    }
    let file = std::fs::read_link("/proc/self/fd/2").ok();
    match file.filter(|_| meta.is_some_and(|meta| meta.is_file())) {
        Some(file) => file.display().to_string(),
        None => "stderr".to_owned(),
    }
}

pub(crate) fn set_filter(filter: &str) -> Result<(), String> {
    let filter = parse(filter)?;
    match FILTER.get() {
        Some(handle) => handle.reload(filter).map_err(|e| e.to_string()),
        None => Ok(()),
    }
}
