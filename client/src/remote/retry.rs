//! The retry policy.

use std::time::Duration;

use amem_proto::answer::{Code, Refusal, Result};
use tokio::time::Instant;
use uuid::Uuid;

use crate::limits::{RETRY_FIRST, RETRY_FOR, RETRY_PAUSE_MAX};

/// How to retry calls that failed temporarily or whose connection was lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retry {
    /// No attempt begins later than this after the first failure. Zero: no retries.
    pub until: Duration,
    /// Upper bound of the first pause. The bound doubles with each attempt; a pause is at least half of its bound.
    pub first: Duration,
    /// Maximum of that bound.
    pub most: Duration,
}

impl Default for Retry {
    fn default() -> Self {
        Self {
            until: RETRY_FOR,
            first: RETRY_FIRST,
            most: RETRY_PAUSE_MAX,
        }
    }
}

/// True if the same request may succeed on retry.
pub(super) fn is_passing(refusal: &Refusal) -> bool {
    match refusal.code {
        Code::Unavailable => true,
        Code::ResourceExhausted => matches!(&*refusal.reason, "QUEUE_FULL" | "LOAD"),
        _ => false,
    }
}

#[derive(Debug)]
pub(super) struct Attempts {
    retry: Retry,
    /// The first failure since the last progress.
    failed: Option<Instant>,
    pause: Duration,
}

impl Attempts {
    pub(super) fn new(retry: &Retry) -> Self {
        Self {
            retry: *retry,
            failed: None,
            pause: retry.first,
        }
    }

    /// Resets the time for retries.
    pub(super) fn progress(&mut self) {
        *self = Self::new(&self.retry);
    }

    /// The pause before the next attempt; `None` to give up.
    pub(super) fn pause(&mut self, refusal: &Refusal) -> Option<Duration> {
        let pause = jittered(self.pause);
        let failed = *self.failed.get_or_insert_with(Instant::now);
        if !is_passing(refusal) || failed.elapsed() + pause > self.retry.until {
            return None;
        }
        self.pause = (self.pause * 2).min(self.retry.most);
        Some(pause)
    }

    /// Waits before the next attempt; returns the refusal to give up.
    pub(super) async fn wait(&mut self, refusal: Refusal) -> Result<()> {
        let Some(pause) = self.pause(&refusal) else {
            return Err(refusal);
        };
        tokio::time::sleep(pause).await;
        Ok(())
    }
}

/// Half of the pause plus a random part of the other half, so that clients that failed together do not retry together.
fn jittered(pause: Duration) -> Duration {
    let random = Uuid::new_v4().as_u128() as u32;
    pause / 2 + (pause / 2).mul_f64(f64::from(random) / f64::from(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_passes_is_tried_again() {
        let rows = [
            (Code::Unavailable, "OUTCOME_UNKNOWN", true),
            (Code::Unavailable, "RECOVERING", true),
            (Code::Unavailable, "CLOSED", true),
            (Code::Unavailable, "CONNECTION_LOST", true),
            (Code::ResourceExhausted, "QUEUE_FULL", true),
            (Code::ResourceExhausted, "LOAD", true),
            (Code::ResourceExhausted, "DISK_FULL", false),
            (Code::ResourceExhausted, "MESSAGE_SIZE", false),
            (Code::Aborted, "CONDITION", false),
            (Code::AlreadyExists, "REQUEST_REUSED", false),
            (Code::InvalidArgument, "INVALID", false),
            (Code::Internal, "INTERNAL", false),
        ];
        for (code, reason, passes) in rows {
            let refusal = Refusal::new(code, reason, "");
            assert_eq!(is_passing(&refusal), passes, "{reason}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn pauses_grow_to_their_most_and_end_with_the_deadline() {
        let retry = Retry {
            until: Duration::from_secs(3600),
            first: Duration::from_millis(100),
            most: Duration::from_millis(800),
        };
        let mut attempts = Attempts::new(&retry);
        let mut pauses = Vec::new();
        for _ in 0..6 {
            let before = tokio::time::Instant::now();
            let refusal = Refusal::new(Code::Unavailable, "RECOVERING", "");
            attempts.wait(refusal).await.unwrap();
            pauses.push(before.elapsed().as_millis());
        }
        for (pause, most) in pauses.iter().zip([100, 200, 400, 800, 800, 800]) {
            assert!((most / 2..=most + 1).contains(pause), "{pauses:?}");
        }
        // Idle time before a failure does not count, and progress resets it.
        let short = Retry {
            until: Duration::from_secs(1),
            ..retry
        };
        let mut attempts = Attempts::new(&short);
        let refusal = Refusal::new(Code::Unavailable, "RECOVERING", "");
        for _ in 0..2 {
            tokio::time::advance(Duration::from_secs(3600)).await;
            assert!(attempts.pause(&refusal).is_some());
            attempts.progress();
        }
        assert!(attempts.pause(&refusal).is_some());
        tokio::time::advance(Duration::from_secs(1)).await;
        assert_eq!(attempts.pause(&refusal), None);
        let never = Retry {
            until: Duration::ZERO,
            ..retry
        };
        let refusal = Refusal::new(Code::Unavailable, "RECOVERING", "");
        let refused = Attempts::new(&never).wait(refusal.clone()).await;
        assert_eq!(refused, Err(refusal));
    }
}
