//! The watch over the runtime: it reports what stands still, and cuts off an end that does.
//!
//! It is a plain thread: it goes on while every thread of the runtime is blocked. It sees a poll that lasts too long
//! by its name (`amem_engine::polls`), and a runtime without a free thread by a task that does not run.
//!
//! Promises: each standstill is logged and counted once; an end that was asked for ends the process within
//! `END_WITHIN`, and within `STALL_AFTER` if no thread of the runtime is free. What was acknowledged is durable then,
//! as after `kill -9`. Saving brains without files has more time (`SAVE`) while the runtime is alive.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};
use std::{io, process};

use amem_engine::polls::polls_under_way;
use tokio::runtime::Handle;

use super::ending::ProcessEnd;
use crate::limits::{END_LOOK_EVERY, END_WITHIN, LAST_LINES, STALL_AFTER, STALL_LOOK_EVERY};
use crate::log;
use crate::metrics::STALLS;

/// The exit code of a process that was cut off.
const CUT_OFF: i32 = 1;

/// The limits of the watch; tests have shorter ones.
#[derive(Debug, Clone, Copy)]
pub(super) struct WatchLimits {
    pub(super) stall_after: Duration,
    pub(super) end_within: Duration,
    pub(super) look_every: Duration,
}

impl Default for WatchLimits {
    fn default() -> Self {
        Self {
            stall_after: STALL_AFTER,
            end_within: END_WITHIN,
            look_every: STALL_LOOK_EVERY,
        }
    }
}

/// The thread that watches; it ends when this is dropped.
#[derive(Debug)]
pub(super) struct WatchThread {
    _stop: mpsc::Sender<()>,
}

/// A standstill that was reported, until it is over.
#[derive(Debug, Clone)]
struct ReportedPoll {
    call: Arc<str>,
    since: Instant,
}

/// What the watch knows.
struct Watch {
    runtime: Handle,
    limits: WatchLimits,
    end: &'static ProcessEnd,
    pulse: Pulse,
    /// Reported polls, by number.
    polls: HashMap<u64, ReportedPoll>,
    is_dead_reported: bool,
    /// How long an end took so far, without the time of saving.
    ending: Duration,
    looked: Instant,
}

/// Watches a runtime; `cut_off` ends the process, with the reason.
pub(super) fn watch(
    runtime: Handle,
    limits: WatchLimits,
    end: &'static ProcessEnd,
    mut cut_off: impl FnMut(String) + Send + 'static,
) -> io::Result<WatchThread> {
    let (stop, stopped) = mpsc::channel();
    let mut watch = Watch {
        runtime,
        limits,
        end,
        pulse: Pulse::new(),
        polls: HashMap::new(),
        is_dead_reported: false,
        ending: Duration::ZERO,
        looked: Instant::now(),
    };
    let look = move || {
        while stopped.recv_timeout(watch.pause()) == Err(RecvTimeoutError::Timeout) {
            if let Some(why) = watch.look(Instant::now()) {
                return cut_off(why);
            }
        }
    };
    thread::Builder::new()
        .name("standstill".into())
        .spawn(look)?;
    Ok(WatchThread { _stop: stop })
}

/// Ends the process at once, as `kill -9` would.
pub(super) fn cut_off(why: String) {
    tracing::error!("the end is cut off: {why}; what was acknowledged is durable");
    log::flush(LAST_LINES);
    process::exit(CUT_OFF);
}

impl Watch {
    fn pause(&self) -> Duration {
        match self.end.begun() {
            Some(_) => self.limits.look_every.min(END_LOOK_EVERY),
            None => self.limits.look_every,
        }
    }

    /// Reports what stands still now; the reason if the process must be cut off.
    fn look(&mut self, now: Instant) -> Option<String> {
        let since_look = now.saturating_duration_since(self.looked);
        self.looked = now;
        if since_look >= self.limits.look_every + self.limits.stall_after {
            // The whole process stood still, as after SIGSTOP: nothing is known of its parts.
            self.pulse = Pulse::new();
            return None;
        }
        let silent = self.pulse.silent_for(&self.runtime, now);
        self.look_at_polls(now);
        self.look_at_runtime(silent);
        let begun = self.end.begun()?;
        if !self.end.is_saving() {
            let since_begun = now.saturating_duration_since(begun);
            self.ending += since_look.min(since_begun);
        }
        let stall_after = self.limits.stall_after;
        if silent >= stall_after && now.saturating_duration_since(begun) >= stall_after {
            let polled = self.polled();
            return Some(format!("no thread of the runtime is free{polled}"));
        }
        (self.ending >= self.limits.end_within).then(|| {
            let within = self.limits.end_within;
            format!("it was not done within {within:?}{}", self.polled())
        })
    }

    fn look_at_polls(&mut self, now: Instant) {
        let under_way = polls_under_way();
        self.polls.retain(|id, reported| {
            let goes_on = under_way.iter().any(|poll| poll.id == *id);
            if !goes_on {
                let seconds = now.saturating_duration_since(reported.since).as_secs_f64();
                tracing::warn!(
                    call = &*reported.call,
                    seconds,
                    "a call that stood still is over"
                );
            }
            goes_on
        });
        for poll in under_way {
            let stands = now.saturating_duration_since(poll.since);
            if stands < self.limits.stall_after || self.polls.contains_key(&poll.id) {
                continue;
            }
            STALLS.add(1);
            let seconds = stands.as_secs_f64();
            tracing::warn!(
                call = &*poll.name,
                seconds,
                "a call stands still: it holds a thread that serves all calls"
            );
            let (call, since) = (poll.name, poll.since);
            self.polls.insert(poll.id, ReportedPoll { call, since });
        }
    }

    fn look_at_runtime(&mut self, silent: Duration) {
        let is_dead = silent >= self.limits.stall_after;
        if is_dead && !self.is_dead_reported {
            let seconds = silent.as_secs_f64();
            let polled = self.polled();
            STALLS.add(1);
            tracing::warn!(seconds, "no thread is free: nothing is answered{polled}");
        }
        if !is_dead && self.is_dead_reported {
            tracing::warn!("a thread is free again: calls are answered");
        }
        self.is_dead_reported = is_dead;
    }

    /// What stands still, as the end of a sentence.
    fn polled(&self) -> String {
        let mut calls: Vec<&str> = self.polls.values().map(|poll| &*poll.call).collect();
        calls.sort_unstable();
        calls.dedup();
        match calls.is_empty() {
            true => String::new(),
            false => format!("; what stands still: {}", calls.join(", ")),
        }
    }
}

/// Whether a thread of the runtime is free: the time of the last task that ran there.
struct Pulse {
    began: Instant,
    /// Milliseconds from the beginning to the last answer.
    answered: Arc<AtomicU64>,
    /// When the task was given to the runtime that has not run yet.
    asked: Option<Instant>,
}

impl Pulse {
    fn new() -> Self {
        Self {
            began: Instant::now(),
            answered: Arc::new(AtomicU64::new(0)),
            asked: None,
        }
    }

    /// How long a task has waited for a thread; asks again once it has run.
    fn silent_for(&mut self, runtime: &Handle, now: Instant) -> Duration {
        let answered = Duration::from_millis(self.answered.load(Ordering::Acquire));
        match self.asked {
            Some(asked) if self.began + answered < asked => {
                return now.saturating_duration_since(asked);
            }
            _ => {}
        }
        self.asked = Some(now);
        let (began, cell) = (self.began, self.answered.clone());
        runtime.spawn(async move {
            // Rounded up: an answer is never before its question.
            let millis = began.elapsed().as_millis() + 1;
            cell.store(u64::try_from(millis).unwrap_or(u64::MAX), Ordering::Release);
        });
        Duration::ZERO
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::Receiver;
    use tokio::runtime::{Builder, Runtime};

    const PATIENCE: Duration = Duration::from_secs(20);
    const LIMITS: WatchLimits = WatchLimits {
        stall_after: Duration::from_millis(300),
        end_within: Duration::from_millis(600),
        look_every: Duration::from_millis(20),
    };

    fn runtime() -> Runtime {
        Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap()
    }

    /// Blocks the only thread of a runtime until the sender is dropped.
    fn block(runtime: &Runtime, name: &'static str) -> mpsc::Sender<()> {
        let (release, held) = mpsc::channel::<()>();
        let (hangs, hanging) = mpsc::channel();
        runtime.spawn(amem_engine::polls::named(name, async move {
            hangs.send(()).unwrap();
            _ = held.recv();
        }));
        hanging.recv_timeout(PATIENCE).unwrap();
        release
    }

    fn watched(runtime: &Runtime, end: &'static ProcessEnd) -> (WatchThread, Receiver<String>) {
        let (cut, cut_off) = mpsc::channel();
        let handle = runtime.handle().clone();
        let watch = watch(handle, LIMITS, end, move |why| cut.send(why).unwrap());
        (watch.unwrap(), cut_off)
    }

    #[test]
    fn a_call_that_blocks_is_counted_once_and_named_when_the_end_is_cut_off() {
        static END: ProcessEnd = ProcessEnd::new();
        let runtime = runtime();
        let before = STALLS.get();
        let release = block(&runtime, "/amem.v1.Test/Block");
        let (_watch, cut_off) = watched(&runtime, &END);
        // Nothing is cut off that is not asked to end.
        let none = cut_off.recv_timeout(LIMITS.stall_after * 3);
        assert_eq!(none, Err(RecvTimeoutError::Timeout));
        assert!(STALLS.get() >= before + 2, "the call, and the runtime");
        END.begin();
        let why = cut_off.recv_timeout(PATIENCE).unwrap();
        assert!(why.contains("no thread of the runtime is free"), "{why}");
        assert!(why.contains("/amem.v1.Test/Block"), "{why}");
        drop(release);
    }

    #[test]
    fn an_end_that_takes_too_long_is_cut_off_unless_it_saves() {
        static END: ProcessEnd = ProcessEnd::new();
        let runtime = runtime();
        END.saves(true);
        END.begin();
        let (_watch, cut_off) = watched(&runtime, &END);
        let none = cut_off.recv_timeout(LIMITS.end_within * 2);
        assert_eq!(none, Err(RecvTimeoutError::Timeout));
        END.saves(false);
        let why = cut_off.recv_timeout(PATIENCE).unwrap();
        assert!(why.contains("not done within 600ms"), "{why}");
    }

    #[test]
    fn a_runtime_that_is_busy_and_answers_is_left_alone() {
        static END: ProcessEnd = ProcessEnd::new();
        let runtime = runtime();
        let mut watch = Watch {
            runtime: runtime.handle().clone(),
            limits: LIMITS,
            end: &END,
            pulse: Pulse::new(),
            polls: HashMap::new(),
            is_dead_reported: false,
            ending: Duration::ZERO,
            looked: Instant::now(),
        };
        for _ in 0..5 {
            assert_eq!(watch.look(Instant::now()), None);
            runtime.block_on(async { tokio::spawn(async {}).await.unwrap() });
        }
        assert!(!watch.is_dead_reported);
        // Dropped, it ends its thread.
        let (stop, cut_off) = watched(&runtime, &END);
        drop(stop);
        let ended = cut_off.recv_timeout(PATIENCE);
        assert_eq!(ended, Err(RecvTimeoutError::Disconnected));
    }
}
