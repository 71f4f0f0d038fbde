//! Lines of the log on their way to a thread that writes them: a reader of the log that stops reading holds up no call.
//!
//! Promises: lines are written in the order in which they were taken; a line that finds no room is dropped and counted.
//! Not here: what is logged, and how a line looks (`log`).

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use tracing_subscriber::fmt::MakeWriter;

use crate::limits::LOG_LINES_WAITING_MAX;

/// Pause before another try to ask the thread for an answer, while there is no room.
const ASK_EVERY: Duration = Duration::from_millis(1);

/// The lines that wait. All clones are the same.
#[derive(Debug, Clone)]
pub(crate) struct LogQueue {
    parts: SyncSender<LogPart>,
    dropped: Arc<AtomicU64>,
}

#[derive(Debug)]
enum LogPart {
    Line(Vec<u8>),
    /// Answered once the lines before it are written.
    Flush(SyncSender<()>),
}

impl LogQueue {
    /// Begins to write lines to a sink.
    pub(crate) fn start(sink: impl Write + Send + 'static) -> io::Result<Self> {
        let (parts, taken) = sync_channel(LOG_LINES_WAITING_MAX);
        let write = move || write_all(&taken, sink);
        thread::Builder::new().name("log".into()).spawn(write)?;
        Ok(Self {
            parts,
            dropped: Arc::default(),
        })
    }

    /// Waits until the lines so far are written; false if that takes longer.
    pub(crate) fn flush(&self, within: Duration) -> bool {
        let until = Instant::now() + within;
        let (written, done) = sync_channel(1);
        let mut part = LogPart::Flush(written);
        loop {
            match self.parts.try_send(part) {
                Ok(()) => break,
                Err(TrySendError::Full(back)) if Instant::now() < until => {
                    part = back;
                    thread::sleep(ASK_EVERY);
                }
                Err(_) => return false,
            }
        }
        let left = until.saturating_duration_since(Instant::now());
        done.recv_timeout(left).is_ok()
    }

    /// Lines that were dropped since the last time.
    pub(crate) fn take_dropped(&self) -> u64 {
        self.dropped.swap(0, Ordering::Relaxed)
    }
}

/// Nothing can be done about a line that the sink does not take.
fn write_all(parts: &Receiver<LogPart>, mut sink: impl Write) {
    for part in parts {
        match part {
            LogPart::Line(line) => _ = sink.write_all(&line),
            LogPart::Flush(written) => {
                _ = sink.flush();
                _ = written.send(());
            }
        }
    }
}

impl Write for &LogQueue {
    /// The subscriber writes a line at a time.
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        if self.parts.try_send(LogPart::Line(line.to_vec())).is_err() {
            self.dropped.fetch_add(1, Ordering::Relaxed);
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for LogQueue {
    type Writer = &'a LogQueue;

    fn make_writer(&'a self) -> Self::Writer {
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    const PATIENCE: Duration = Duration::from_secs(20);

    /// Takes a line when it is allowed to.
    struct SlowSink {
        allowed: mpsc::Receiver<()>,
        taken: mpsc::Sender<String>,
    }

    impl Write for SlowSink {
        fn write(&mut self, line: &[u8]) -> io::Result<usize> {
            _ = self.allowed.recv();
            let text = String::from_utf8_lossy(line).into_owned();
            _ = self.taken.send(text);
            Ok(line.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_sink_that_takes_nothing_holds_up_nothing_and_what_it_misses_is_counted() {
        let (allow, allowed) = mpsc::channel();
        let (taken, lines) = mpsc::channel();
        let queue = LogQueue::start(SlowSink { allowed, taken }).unwrap();
        let all = LOG_LINES_WAITING_MAX + 100;
        for line in 0..all {
            (&queue).write_all(line.to_string().as_bytes()).unwrap();
        }
        assert!(!queue.flush(Duration::from_millis(10)));
        // One may be in the hands of the thread.
        let dropped = queue.take_dropped();
        assert!((99..=100).contains(&dropped), "{dropped}");
        assert_eq!(queue.take_dropped(), 0);
        drop(allow);
        assert!(queue.flush(PATIENCE));
        let written: Vec<_> = lines.try_iter().collect();
        assert_eq!(written.len() as u64 + dropped, all as u64);
        let in_order: Vec<_> = (0..written.len()).map(|line| line.to_string()).collect();
        assert_eq!(written, in_order);
    }
}
