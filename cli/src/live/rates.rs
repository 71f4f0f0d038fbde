//! Rates: the growth of counts between two samples.

use std::collections::HashMap;
use std::time::Duration;

pub(super) struct GrowthRates<'a> {
    before: HashMap<&'a str, u64>,
    secs: f64,
}

impl<'a> GrowthRates<'a> {
    pub(super) fn since(before: impl Iterator<Item = (&'a str, u64)>, ago: Duration) -> Self {
        Self {
            before: before.collect(),
            secs: ago.as_secs_f64(),
        }
    }

    /// Growth per second. A new name counts from 0; a smaller count is that of a restarted daemon, and counts in full.
    pub(super) fn of(&self, name: &str, now: u64) -> f64 {
        let before = self.before.get(name).copied().unwrap_or(0);
        let grown = now.checked_sub(before).unwrap_or(now);
        if self.secs > 0.0 {
            grown as f64 / self.secs
        } else {
            0.0
        }
    }
}

pub(super) fn text(rate: f64) -> String {
    match rate {
        0.0 => "0".to_owned(),
        0.0..10.0 => format!("{rate:.1}"),
        _ => crate::render::count(rate.round() as u64),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_what_came_since_divided_by_the_time() {
        let rates = GrowthRates::since([("a", 10), ("b", 7)].into_iter(), Duration::from_secs(2));
        assert_eq!(rates.of("a", 30), 10.0);
        assert_eq!(rates.of("new", 4), 2.0);
        assert_eq!(rates.of("b", 3), 1.5, "another daemon starts again");
        let at_once = GrowthRates::since(std::iter::empty(), Duration::ZERO);
        assert_eq!(at_once.of("a", 30), 0.0);
        assert_eq!(
            [0.0, 0.25, 9.94, 1234.6].map(text),
            ["0", "0.2", "9.9", "1,235"]
        );
    }
}
