//! The progress of a long command: one line on stderr.
//!
//! Promises: nothing is written unless stderr is a terminal and progress is wanted (`CommandContext::shows_progress`);
//! the line is removed when the command ends.

use std::io::{Write, stderr};
use std::time::{Duration, Instant};

use crate::output::context::CommandContext;
use crate::render::{bytes, count};

const SHOW_EVERY: Duration = Duration::from_millis(100);
/// Until then the rate is a guess and is not shown.
const GUESS_UNTIL: Duration = Duration::from_secs(1);

#[derive(Debug, Clone, Copy)]
pub(crate) enum Unit {
    Bytes,
    /// By name, in the plural.
    Things(&'static str),
}

pub(crate) struct Progress {
    is_shown: bool,
    unit: Unit,
    begun: Instant,
    last: Option<Instant>,
    width: usize,
}

impl Progress {
    pub(crate) fn new(cx: &CommandContext, unit: Unit) -> Self {
        Self {
            is_shown: cx.shows_progress(),
            unit,
            begun: Instant::now(),
            last: None,
            width: 0,
        }
    }

    /// Hides the line if it would mix with other output.
    pub(crate) fn unless(mut self, is_in_the_way: bool) -> Self {
        self.is_shown &= !is_in_the_way;
        self
    }

    /// `all` is 0 if unknown.
    pub(crate) fn show(&mut self, done: u64, all: u64) {
        let is_fresh = self.last.is_some_and(|last| last.elapsed() < SHOW_EVERY);
        if !self.is_shown || is_fresh {
            return;
        }
        self.last = Some(Instant::now());
        self.line(&text(self.unit, done, all, self.begun.elapsed()));
    }

    /// Shows what is being done, for work of unknown length.
    pub(crate) fn say(&mut self, what: &str) {
        if self.is_shown {
            self.line(what);
        }
    }

    fn line(&mut self, text: &str) {
        self.width = self.width.max(text.len());
        // A progress line that cannot be shown is no reason to stop.
        let _unseen = write!(stderr(), "\r{text:<width$}", width = self.width)
            .and_then(|()| stderr().flush());
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.width > 0 {
            let _unseen = write!(stderr(), "\r{}\r", " ".repeat(self.width));
        }
    }
}

/// "3.0 MiB of 12.0 MiB  25 %  1.5 MiB/s  6 s left".
fn text(unit: Unit, done: u64, all: u64, took: Duration) -> String {
    let amount = |n: u64| match unit {
        Unit::Bytes => bytes(n),
        Unit::Things(_) => count(n),
    };
    let mut text = amount(done);
    if all > 0 {
        text.push_str(&format!(" of {}", amount(all)));
    }
    if let Unit::Things(name) = unit {
        text.push_str(&format!(" {name}"));
    }
    if all > 0 {
        let share = u128::from(done.min(all)) * 100 / u128::from(all);
        text.push_str(&format!("  {share} %"));
    }
    if took < GUESS_UNTIL || done == 0 {
        return text;
    }
    let rate = done as f64 / took.as_secs_f64();
    text.push_str(&format!("  {}/s", amount(rate as u64)));
    if all > done {
        let left = ((all - done) as f64 / rate).ceil() as u64;
        text.push_str(&match left {
            0..=119 => format!("  {left} s left"),
            _ => format!("  {} min left", left.div_ceil(60)),
        });
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_tells_share_rate_and_what_remains() {
        let turns = Unit::Things("turns");
        let mib = 1 << 20;
        let rows = [
            (turns, 512, 1024, 0, "512 of 1,024 turns  50 %"),
            (
                turns,
                500,
                1500,
                5,
                "500 of 1,500 turns  33 %  100/s  10 s left",
            ),
            (turns, 10, 10, 5, "10 of 10 turns  100 %  2/s"),
            (Unit::Bytes, 3 * mib, 0, 2, "3.0 MiB  1.5 MiB/s"),
            (
                Unit::Bytes,
                mib,
                600 * mib,
                2,
                "1.0 MiB of 600.0 MiB  0 %  512.0 KiB/s  20 min left",
            ),
            (Unit::Bytes, 0, mib, 9, "0 B of 1.0 MiB  0 %"),
        ];
        for (unit, done, all, secs, expected) in rows {
            assert_eq!(text(unit, done, all, Duration::from_secs(secs)), expected);
        }
    }
}
