//! Rates: how much a count has grown between two looks.

use std::collections::HashMap;
use std::time::Duration;

/// How much counts grow, by name.
pub(super) struct Rates<'a> {
    before: HashMap<&'a str, u64>,
    secs: f64,
}

impl<'a> Rates<'a> {
    /// Since these counts, that long ago.
    pub(super) fn since(before: impl Iterator<Item = (&'a str, u64)>, ago: Duration) -> Self {
        Self {
            before: before.collect(),
            secs: ago.as_secs_f64(),
        }
    }

    /// How much a count has grown a second. What was not there before began at nothing; a count that is less than
    /// before is that of another daemon, and has grown by all it is.
    pub(super) fn of(&self, name: &str, now: u64) -> f64 {
        let before = self.before.get(name).copied().unwrap_or(0);
        let grown = now.checked_sub(before).unwrap_or(now);
        match self.secs > 0.0 {
            true => grown as f64 / self.secs,
            false => 0.0,
        }
    }
}

/// A rate for people.
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
        let rates = Rates::since([("a", 10), ("b", 7)].into_iter(), Duration::from_secs(2));
        assert_eq!(rates.of("a", 30), 10.0);
        assert_eq!(rates.of("new", 4), 2.0);
        assert_eq!(rates.of("b", 3), 1.5, "another daemon began anew");
        let at_once = Rates::since(std::iter::empty(), Duration::ZERO);
        assert_eq!(at_once.of("a", 30), 0.0);
        assert_eq!(
            [0.0, 0.25, 9.94, 1234.6].map(text),
            ["0", "0.2", "9.9", "1,235"]
        );
    }
}
