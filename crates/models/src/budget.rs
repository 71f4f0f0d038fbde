//! The budget of a day (UTC): calls and tokens.

use std::sync::{Mutex, MutexGuard};

use amem_locks::LockResultExt;
use serde::{Deserialize, Serialize};

/// What was used on one day. A caller keeps it over restarts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DayUsage {
    /// Days since 1970 (UTC).
    pub day: u64,
    /// Calls.
    pub calls: u64,
    /// Tokens of requests and answers.
    pub tokens: u64,
}

const DAY_SECS: u64 = 24 * 3600;

#[derive(Debug)]
pub(crate) struct DayBudget {
    /// 0 for no limit.
    calls_max: u64,
    tokens_max: u64,
    usage: Mutex<DayUsage>,
}

impl DayBudget {
    pub(crate) fn new(calls_max: u64, tokens_max: u64) -> Self {
        Self {
            calls_max,
            tokens_max,
            usage: Mutex::default(),
        }
    }

    fn of_day(&self, now_secs: u64) -> MutexGuard<'_, DayUsage> {
        let day = now_secs / DAY_SECS;
        let mut usage = self.usage.lock().unpoisoned();
        // A clock that goes back grants no second budget.
        if day > usage.day {
            *usage = DayUsage {
                day,
                ..DayUsage::default()
            };
        }
        usage
    }

    /// Takes a call of the budget.
    pub(crate) fn take(&self, now_secs: u64) -> Result<(), String> {
        let mut usage = self.of_day(now_secs);
        let spent = |what: &str, of: u64, max: u64| {
            format!("the budget of the day is spent: {of} of {max} {what}")
        };
        if self.calls_max > 0 && usage.calls >= self.calls_max {
            return Err(spent("calls", usage.calls, self.calls_max));
        }
        if self.tokens_max > 0 && usage.tokens >= self.tokens_max {
            return Err(spent("tokens", usage.tokens, self.tokens_max));
        }
        usage.calls += 1;
        Ok(())
    }

    pub(crate) fn add_tokens(&self, tokens: u64, now_secs: u64) {
        let mut usage = self.of_day(now_secs);
        usage.tokens = usage.tokens.saturating_add(tokens);
    }

    pub(crate) fn usage(&self, now_secs: u64) -> DayUsage {
        *self.of_day(now_secs)
    }

    /// Continues a day; a usage of another day does not count.
    pub(crate) fn restore(&self, before: DayUsage, now_secs: u64) {
        let mut usage = self.of_day(now_secs);
        if before.day == usage.day {
            usage.calls = usage.calls.saturating_add(before.calls);
            usage.tokens = usage.tokens.saturating_add(before.tokens);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_is_one_of_a_day_and_lasts_over_restarts() {
        let noon = 20_000 * DAY_SECS + DAY_SECS / 2;
        let budget = DayBudget::new(2, 100);
        assert_eq!(budget.take(noon), Ok(()));
        budget.add_tokens(99, noon);
        let restarted = DayBudget::new(2, 100);
        restarted.restore(budget.usage(noon), noon + 5);
        assert_eq!(restarted.take(noon + 6), Ok(()));
        let why = restarted.take(noon + 7).unwrap_err();
        assert!(why.contains("2 of 2 calls"), "{why}");
        assert_eq!(restarted.take(noon + DAY_SECS), Ok(()), "the next day");
        restarted.restore(budget.usage(noon), noon + DAY_SECS);
        assert_eq!(restarted.usage(noon + DAY_SECS).calls, 1);
        restarted.add_tokens(100, noon + DAY_SECS);
        let why = restarted.take(noon + DAY_SECS).unwrap_err();
        assert!(why.contains("100 of 100 tokens"), "{why}");
        assert!(restarted.take(noon).is_err(), "a clock that goes back");
        assert_eq!(DayBudget::new(0, 0).take(noon), Ok(()));
    }
}
