//! The log of the process: its format, and its filter, which can change while the daemon runs.
//!
//! `process` installs it once. Without it (in tests) a change of the filter has no effect.

use std::backtrace::{Backtrace, BacktraceStatus};
use std::io::{self, IsTerminal, Write};
use std::panic::PanicHookInfo;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use amem_locks::LockResultExt;
use tracing_subscriber::filter::{EnvFilter, dynamic_filter_fn};
use tracing_subscriber::layer::{Layer, SubscriberExt};
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{Registry, fmt, reload};

use crate::config::LogFormat;
use crate::config::log_filter::parse;
use crate::limits::FOREIGN_LINES_PER_SECOND;
use crate::log_queue::LogQueue;
use crate::traces::SpanLayer;

static FILTER: OnceLock<reload::Handle<EnvFilter, Registry>> = OnceLock::new();

static QUEUE: OnceLock<LogQueue> = OnceLock::new();

/// How long a panic waits until its report is written, at most.
const PANIC_FLUSH: Duration = Duration::from_millis(100);

/// Writes the log and the reports of panics to standard error from now on, on a thread of its own, and passes spans on
/// to `spans`.
pub(crate) fn install(
    filter: &str,
    format: LogFormat,
    spans: Option<SpanLayer>,
) -> Result<(), String> {
    let (filter, handle) = reload::Layer::new(parse(filter)?);
    let registry = tracing_subscriber::registry().with(filter).with(spans);
    let colours = io::stderr().is_terminal();
    let queue = LogQueue::start(io::stderr()).map_err(|e| e.to_string())?;
    let lines = fmt::layer().with_ansi(colours).with_writer(queue.clone());
    let bounded = || dynamic_filter_fn(|line, _| FOREIGN.is_within(line.target(), Instant::now()));
    let installed = match format {
        LogFormat::Text => registry.with(lines.with_filter(bounded())).try_init(),
        LogFormat::Json => registry
            .with(lines.json().with_filter(bounded()))
            .try_init(),
    };
    installed.map_err(|e| e.to_string())?;
    drop(FILTER.set(handle));
    // A line that goes to standard error directly waits for its reader, and the thread of the panic with it.
    let panics = queue.clone();
    std::panic::set_hook(Box::new(move |panic| report_panic(&panics, panic)));
    drop(QUEUE.set(queue));
    Ok(())
}

/// Queues what Rust would write to standard error. Outside of the subscriber: that may be what panics.
fn report_panic(mut queue: &LogQueue, panic: &PanicHookInfo<'_>) {
    let thread = thread::current();
    let name = thread.name().unwrap_or("<unnamed>");
    let mut report = format!("thread '{name}' {panic}\n");
    let trace = Backtrace::capture();
    if trace.status() == BacktraceStatus::Captured {
        report += &format!("stack backtrace:\n{trace}\n");
    }
    // The queue takes a line, or counts it as dropped.
    drop(queue.write_all(report.as_bytes()));
    // The process may end with this panic.
    queue.flush(PANIC_FLUSH);
}

/// Waits until the lines so far are written, or for this long.
pub(crate) fn flush(within: Duration) {
    if let Some(queue) = QUEUE.get() {
        queue.flush(within);
    }
}

/// The lines of libraries in the current second.
static FOREIGN: LineRate = LineRate {
    second: Mutex::new(None),
    dropped: AtomicU64::new(0),
};

/// Bounds the lines that come from other crates than ours.
#[derive(Debug)]
struct LineRate {
    /// When the current second began, and its lines.
    second: Mutex<Option<(Instant, u64)>>,
    /// Lines that were dropped and are not reported yet.
    dropped: AtomicU64,
}

impl LineRate {
    /// True if a line of this target may be written.
    fn is_within(&self, target: &str, now: Instant) -> bool {
        if target.starts_with("amem") {
            return true;
        }
        let mut second = self.second.lock().unpoisoned();
        let (began, lines) = second.unwrap_or((now, 0));
        let is_over = now.saturating_duration_since(began) >= Duration::from_secs(1);
        let (began, lines) = if is_over { (now, 0) } else { (began, lines) };
        *second = Some((began, lines.saturating_add(1)));
        let is_within = lines < FOREIGN_LINES_PER_SECOND;
        if !is_within {
            self.dropped.fetch_add(1, Ordering::Relaxed);
        }
        is_within
    }

    fn take_dropped(&self) -> u64 {
        self.dropped.swap(0, Ordering::Relaxed)
    }
}

/// Reports dropped lines once a second, for as long as it is polled.
pub(crate) async fn report_dropped() {
    let mut ticks = tokio::time::interval(Duration::from_secs(1));
    loop {
        ticks.tick().await;
        let lines = FOREIGN.take_dropped();
        if lines > 0 {
            tracing::warn!(lines, "dropped log lines of libraries: there were too many");
        }
        let lines = QUEUE.get().map_or(0, LogQueue::take_dropped);
        if lines > 0 {
            tracing::warn!(
                lines,
                "dropped log lines: they were not read as fast as they came"
            );
        }
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_libraries_are_bounded_and_counted() {
        let rate = LineRate {
            second: Mutex::new(None),
            dropped: AtomicU64::new(0),
        };
        let begun = Instant::now();
        let written = |target: &str, now| {
            let lines = 0..FOREIGN_LINES_PER_SECOND + 50;
            lines.filter(|_| rate.is_within(target, now)).count() as u64
        };
        assert_eq!(
            written("h2::proto::connection", begun),
            FOREIGN_LINES_PER_SECOND
        );
        assert_eq!(rate.take_dropped(), 50);
        assert_eq!(written("amemd::grpc", begun), FOREIGN_LINES_PER_SECOND + 50);
        let next = begun + Duration::from_secs(1);
        assert_eq!(written("rustls", next), FOREIGN_LINES_PER_SECOND);
        assert_eq!((rate.take_dropped(), rate.take_dropped()), (50, 0));
    }
}
