//! Schedules of jobs: `off`, `every 6h`, `daily 03:00`, `weekly sun 03:00`. `next` takes them as UTC; the daemon has a
//! zone of its own for them (`amem_engine::schedules`).
//!
//! Promises: a run missed while the machine slept or the daemon was down is due at once, and once.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::types::Micros;

const SECOND: i64 = 1_000_000;
const MINUTE: i64 = 60 * SECOND;
const DAY: i64 = 24 * 60 * MINUTE;
/// Seconds of the shortest interval.
const SECONDS_MIN: u64 = 1;
/// Seconds of the longest interval: a year.
const SECONDS_MAX: u64 = 366 * 86_400;
/// Names of the days since 1970-01-01, a Thursday.
const DAYS: [&str; 7] = ["thu", "fri", "sat", "sun", "mon", "tue", "wed"];

/// When a job runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Schedule {
    /// Only on request.
    Off,
    /// Seconds between runs.
    Every(u64),
    /// At a minute of the day.
    Daily(u32),
    /// On a day of the week (0 is Thursday, see `DAYS`) at a minute of the day.
    Weekly(u8, u32),
}

impl Schedule {
    /// The next due time; `None` for `off`. A job that never ran is due one interval, or at the next calendar time,
    /// after `since`.
    pub fn next(&self, last: Option<Micros>, since: Micros) -> Option<Micros> {
        let from = last.unwrap_or(since).0;
        let next = match *self {
            Self::Off => return None,
            Self::Every(seconds) => from.saturating_add(seconds as i64 * SECOND),
            Self::Daily(minute) => after(from, DAY, i64::from(minute) * MINUTE),
            Self::Weekly(day, minute) => {
                let offset = i64::from(day) * DAY + i64::from(minute) * MINUTE;
                after(from, 7 * DAY, offset)
            }
        };
        Some(Micros(next))
    }

    /// Microseconds between two runs; the scheduler spreads starts over it.
    pub fn interval(&self) -> Option<i64> {
        match *self {
            Self::Off => None,
            Self::Every(seconds) => Some(seconds as i64 * SECOND),
            Self::Daily(_) => Some(DAY),
            Self::Weekly(..) => Some(7 * DAY),
        }
    }
}

/// The first time after `from` that is `offset` after a multiple of `period`.
fn after(from: i64, period: i64, offset: i64) -> i64 {
    let periods = from.saturating_sub(offset).div_euclid(period) + 1;
    periods.saturating_mul(period).saturating_add(offset)
}

impl FromStr for Schedule {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let malformed = || {
            let why = format!(
                "{text:?} is not a schedule; use off, every 6h, daily 03:00 or weekly sun 03:00"
            );
            Error::invalid("schedule", why)
        };
        let words: Vec<_> = text.split_whitespace().collect();
        match words[..] {
            ["off"] => Ok(Self::Off),
            ["every", span] => Ok(Self::Every(seconds(span).ok_or_else(malformed)?)),
            ["daily", time] => Ok(Self::Daily(minute(time).ok_or_else(malformed)?)),
            ["weekly", day, time] => {
                let day = DAYS
                    .iter()
                    .position(|name| *name == day)
                    .ok_or_else(malformed)?;
                Ok(Self::Weekly(day as u8, minute(time).ok_or_else(malformed)?))
            }
            _ => Err(malformed()),
        }
    }
}

/// Parses a span such as `90s`, `10m`, `6h` or `7d` into seconds.
pub fn seconds(text: &str) -> Option<u64> {
    let (number, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    let unit = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 3600,
        "d" => 86_400,
        _ => return None,
    };
    let seconds = number.parse::<u64>().ok()?.checked_mul(unit)?;
    (SECONDS_MIN..=SECONDS_MAX)
        .contains(&seconds)
        .then_some(seconds)
}

/// Parses a time of day such as `03:00` into minutes.
fn minute(text: &str) -> Option<u32> {
    let (hours, minutes) = text.split_once(':')?;
    let two = |text: &str, below: u32| {
        let digits = text.len() == 2 && text.bytes().all(|b| b.is_ascii_digit());
        text.parse::<u32>().ok().filter(|n| digits && *n < below)
    };
    Some(two(hours, 24)? * 60 + two(minutes, 60)?)
}

/// Formats seconds as the shortest exact span.
pub fn span(seconds: u64) -> String {
    for (unit, name) in [(86_400, 'd'), (3600, 'h'), (60, 'm')] {
        if seconds.is_multiple_of(unit) {
            return format!("{}{name}", seconds / unit);
        }
    }
    format!("{seconds}s")
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let time = |minute: u32| format!("{:02}:{:02}", minute / 60, minute % 60);
        match *self {
            Self::Off => f.write_str("off"),
            Self::Every(seconds) => write!(f, "every {}", span(seconds)),
            Self::Daily(minute) => write!(f, "daily {}", time(minute)),
            Self::Weekly(day, minute) => {
                write!(f, "weekly {} {}", DAYS[usize::from(day) % 7], time(minute))
            }
        }
    }
}

impl TryFrom<String> for Schedule {
    type Error = Error;

    fn try_from(text: String) -> Result<Self> {
        text.parse()
    }
}

impl From<Schedule> for String {
    fn from(schedule: Schedule) -> Self {
        schedule.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Schedule {
        text.parse().unwrap()
    }

    #[test]
    fn schedules_read_back_as_they_are_written() {
        for text in [
            "off",
            "every 90s",
            "every 10m",
            "every 6h",
            "every 7d",
            "daily 03:05",
            "weekly sun 23:59",
        ] {
            assert_eq!(of(text).to_string(), text);
        }
        for text in [
            "",
            "every",
            "every 0s",
            "every 5",
            "every 400d",
            "every -1h",
            "daily 24:00",
            "daily 3:00",
            "weekly 03:00",
            "weekly xyz 03:00",
            "often",
            "every é",
        ] {
            let refused = text.parse::<Schedule>().unwrap_err().to_string();
            assert!(refused.contains("use off"), "{text}: {refused}");
        }
    }

    #[test]
    fn the_next_time_is_an_interval_or_a_moment_of_the_calendar_later() {
        // Thursday, 1970-01-01, and the days after it.
        let at = |day: i64, hour: i64| Micros(day * DAY + hour * 60 * MINUTE);
        let rows = [
            ("every 6h", Some(at(0, 1)), Some(at(0, 7))),
            ("every 6h", None, Some(at(10, 6))),
            ("daily 03:00", Some(at(2, 1)), Some(at(2, 3))),
            ("daily 03:00", Some(at(2, 3)), Some(at(3, 3))),
            // The machine slept for days: it is due once, at a moment that is past.
            ("daily 03:00", Some(at(0, 4)), Some(at(1, 3))),
            ("weekly sun 03:00", Some(at(0, 0)), Some(at(3, 3))),
            ("weekly sun 03:00", Some(at(3, 3)), Some(at(10, 3))),
            ("weekly thu 00:00", None, Some(at(14, 0))),
            ("off", None, None),
        ];
        for (text, last, next) in rows {
            assert_eq!(
                of(text).next(last, at(10, 0)),
                next,
                "{text} after {last:?}"
            );
        }
    }

    #[test]
    fn extreme_times_do_not_overflow() {
        for schedule in ["every 366d", "daily 00:00", "weekly wed 23:59"].map(of) {
            for micros in [i64::MIN, -1, 0, i64::MAX] {
                assert!(schedule.next(Some(Micros(micros)), Micros(0)).is_some());
            }
        }
    }
}
