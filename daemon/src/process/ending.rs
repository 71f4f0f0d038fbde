//! The end of the process: who asks for it, and how long it may take.
//!
//! SIGTERM and SIGINT arrive on a thread with a runtime of its own: they are heard while every thread of the daemon's
//! runtime is blocked. Not here: the order of an ordinary end (`server`), cutting one off (`standstill`).

use std::io;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Instant;

use amem_locks::LockResultExt;
use tokio::runtime::Builder;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::Notify;

/// The end of this process.
pub(super) static PROCESS_END: ProcessEnd = ProcessEnd::new();

/// Whether an end was asked for, and whether it may take longer than ends do.
#[derive(Debug)]
pub(super) struct ProcessEnd {
    begun: Mutex<Option<Instant>>,
    asked: Notify,
    saves: AtomicBool,
}

impl ProcessEnd {
    pub(super) const fn new() -> Self {
        Self {
            begun: Mutex::new(None),
            asked: Notify::const_new(),
            saves: AtomicBool::new(false),
        }
    }

    /// Asks for the end. From the first time on it is bounded.
    pub(super) fn begin(&self) {
        let mut begun = self.begun.lock().unpoisoned();
        begun.get_or_insert_with(Instant::now);
        drop(begun);
        self.asked.notify_waiters();
    }

    /// When the end was asked for.
    pub(super) fn begun(&self) -> Option<Instant> {
        *self.begun.lock().unpoisoned()
    }

    /// Ready once the end was asked for.
    pub(super) async fn asked(&self) {
        let asked = self.asked.notified();
        if self.begun().is_none() {
            asked.await;
        }
    }

    /// Tells that brains without files are being saved, which has a limit of its own (`SAVE`).
    pub(super) fn saves(&self, saves: bool) {
        self.saves.store(saves, Ordering::Release);
    }

    pub(super) fn is_saving(&self) -> bool {
        self.saves.load(Ordering::Acquire)
    }
}

/// Asks for the end at the first SIGTERM or SIGINT; the signals end nothing by themselves from now on.
pub(super) fn end_on_signals(end: &'static ProcessEnd) -> io::Result<()> {
    let runtime = Builder::new_current_thread().enable_io().build()?;
    let (mut terminate, mut interrupt) = {
        let _within = runtime.enter();
        (
            signal(SignalKind::terminate())?,
            signal(SignalKind::interrupt())?,
        )
    };
    let wait = move || {
        runtime.block_on(async {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
            }
        });
        end.begin();
    };
    thread::Builder::new().name("signals".into()).spawn(wait)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[tokio::test]
    async fn an_end_that_was_asked_for_is_seen_before_and_after() {
        static END: ProcessEnd = ProcessEnd::new();
        let waits = tokio::spawn(END.asked());
        tokio::task::yield_now().await;
        assert!(!waits.is_finished() && END.begun().is_none());
        END.begin();
        let patience = Duration::from_secs(20);
        tokio::time::timeout(patience, waits)
            .await
            .unwrap()
            .unwrap();
        let begun = END.begun();
        END.begin();
        assert_eq!(END.begun(), begun, "a second signal gives it no more time");
        tokio::time::timeout(patience, END.asked()).await.unwrap();
    }
}
