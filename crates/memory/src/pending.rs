//! Work that could not be done yet: why, and when it is tried again.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use amem_format::types::Micros;

use crate::limits::PENDING_TRIES_MAX;

/// Why work is pending.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PendingReason {
    /// The model cannot be reached, fails or takes too long.
    Unreachable,
    /// The model's provider refuses the rate, also after waiting.
    RateLimit,
    /// The provider refuses the key or the model: settings must change.
    Refused,
    /// The budget of calls or tokens is spent.
    Budget,
    /// The embedder failed: the fact has no vector yet.
    Embed,
}

impl PendingReason {
    /// True if another try may succeed without a change of settings.
    pub fn is_retried(self) -> bool {
        self != Self::Refused
    }
}

/// Work that is kept until it is done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PendingWork {
    /// Why it is pending.
    pub reason: PendingReason,
    /// The failure in the words of the model or the embedder.
    pub detail: String,
    /// Turns whose facts are not extracted yet.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub turns: Vec<Uuid>,
    /// Facts that have no vector yet, or of which a model has not decided whether they replace another.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub facts: Vec<Uuid>,
    /// Tries so far.
    pub tries: u32,
    /// When it is tried again; `None` if only a change of settings helps.
    pub next_try: Option<Micros>,
}

const FIRST_PAUSE: Duration = Duration::from_secs(60);
const LONGEST_PAUSE: Duration = Duration::from_secs(6 * 3600);

/// The pause before a try: one minute after the first, doubled each time, six hours at most.
pub fn retry_pause(tries: u32) -> Duration {
    let doublings = tries.saturating_sub(1).min(16);
    FIRST_PAUSE
        .saturating_mul(1 << doublings)
        .min(LONGEST_PAUSE)
}

impl PendingWork {
    /// Work that failed for the first time.
    pub(crate) fn new(reason: PendingReason, detail: String, now: Micros) -> Self {
        let mut work = Self {
            reason,
            detail,
            turns: Vec::new(),
            facts: Vec::new(),
            tries: 0,
            next_try: None,
        };
        work.failed(now);
        work
    }

    /// Notes a failed try.
    pub fn failed(&mut self, now: Micros) {
        self.tries += 1;
        let pause = i64::try_from(retry_pause(self.tries).as_micros()).unwrap_or(i64::MAX);
        self.next_try = self
            .reason
            .is_retried()
            .then(|| Micros(now.0.saturating_add(pause)));
    }

    /// True if patterns take over, because the model failed too often.
    pub fn is_exhausted(&self) -> bool {
        self.tries >= PENDING_TRIES_MAX
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_from_a_minute_to_six_hours() {
        let minutes = |tries| retry_pause(tries).as_secs() / 60;
        assert_eq!(
            [1, 2, 3, 4, 9, 10, 1000].map(minutes),
            [1, 2, 4, 8, 256, 360, 360]
        );
        let mut work = PendingWork::new(PendingReason::Unreachable, "down".into(), Micros(0));
        assert_eq!(work.next_try, Some(Micros(60_000_000)));
        for _ in 1..PENDING_TRIES_MAX {
            assert!(!work.is_exhausted());
            work.failed(Micros(0));
        }
        assert!(work.is_exhausted());
        assert_eq!(
            PendingWork::new(PendingReason::Refused, String::new(), Micros(0)).next_try,
            None
        );
    }
}
