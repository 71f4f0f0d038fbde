//! Times as other programs write them.
//!
//! Numbers are seconds, milliseconds, microseconds or nanoseconds since 1970, by their size. A time without an offset
//! is one of the zone of the options.

use jiff::civil::{Date, DateTime, Time};
use jiff::fmt::{rfc2822, strtime};
use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};
use serde_json::Value;

use crate::item::EventTime;

/// Numbers from here on are milliseconds: as seconds they would lie beyond the year 5138.
const MILLIS_MIN: f64 = 1e11;
const MICROS_MIN: f64 = 1e14;
const NANOS_MIN: f64 = 1e17;

/// A year of two digits is one of this century: `%Y` would make it one of the first.
const YEAR_MIN: i16 = 1000;

/// Forms that name day and month, or order them from the year.
const FORMS: [&str; 20] = [
    "%Y-%m-%d %H:%M:%S%.f",
    "%Y-%m-%d %H:%M",
    "%Y-%m-%d %I:%M:%S %p",
    "%Y-%m-%d %I:%M %p",
    "%Y/%m/%d %H:%M:%S",
    "%Y/%m/%d %H:%M",
    "%d.%m.%Y %H:%M:%S",
    "%d.%m.%Y %H:%M",
    "%d.%m.%y %H:%M:%S",
    "%d.%m.%y %H:%M",
    "%d %B %Y %H:%M:%S",
    "%d %B %Y %H:%M",
    "%d %B %Y %I:%M %p",
    "%d %b %Y %H:%M:%S",
    "%d %b %Y %H:%M",
    "%d %b %Y %I:%M %p",
    "%B %d %Y %I:%M %p",
    "%B %d %Y %H:%M",
    "%b %d %Y %I:%M %p",
    "%b %d %Y %H:%M",
];

const DAYS: [&str; 8] = [
    "%Y-%m-%d", "%Y/%m/%d", "%d.%m.%Y", "%d.%m.%y", "%d %B %Y", "%d %b %Y", "%B %d %Y", "%b %d %Y",
];

const SLASHED_TIMES: [&str; 5] = ["", " %H:%M:%S", " %H:%M", " %I:%M:%S %p", " %I:%M %p"];

/// How a text without an offset, or with slashes, is meant.
#[derive(Debug, Clone)]
pub(crate) struct TimeReading {
    pub(crate) zone: TimeZone,
    /// 02/03 is the second of March.
    pub(crate) is_day_first: bool,
}

impl TimeReading {
    /// A time of JSON; nothing for null and blank texts. An error is in words.
    pub(crate) fn value(&self, value: &Value) -> Result<Option<EventTime>, String> {
        match value {
            Value::Null => Ok(None),
            Value::Number(number) => number
                .as_f64()
                .and_then(of_number)
                .map(Some)
                .ok_or_else(|| format!("{number} is no time")),
            Value::String(text) if text.trim().is_empty() => Ok(None),
            Value::String(text) => self
                .text(text)
                .map(Some)
                .ok_or_else(|| format!("{text:?} is no time that is understood")),
            other => Err(format!(
                "a time is a text or a number, not {}",
                type_name(other)
            )),
        }
    }

    /// A time in words or digits.
    pub(crate) fn text(&self, text: &str) -> Option<EventTime> {
        let text = text.trim();
        if text.len() > 80 {
            return None;
        }
        if let Ok(number) = text.parse::<f64>() {
            // 2026 is a year rather than half an hour of 1970.
            return of_number(number).filter(|_| number.abs() >= 1e8);
        }
        if let Ok(instant) = text.parse::<Timestamp>() {
            return Some(of_instant(instant));
        }
        if let Ok(zoned) = text.parse::<Zoned>() {
            return Some(of_instant(zoned.timestamp()));
        }
        if let Ok(local) = text.parse::<DateTime>()
            && text.contains(['T', 't', ' '])
        {
            return self.local(local);
        }
        if let Ok(instant) = rfc2822::parse(text) {
            return Some(of_instant(instant.timestamp()));
        }
        self.loose(text)
    }

    /// Midnight of a day such as 2026-01-31, anywhere in the text; an impossible date is skipped.
    pub(crate) fn day_within(&self, text: &str) -> Option<EventTime> {
        let bytes = text.as_bytes();
        let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
        (0..bytes.len().saturating_sub(9)).find_map(|at| {
            let is_apart = (at == 0 || !is_digit(at - 1)) && !is_digit(at + 10);
            let shape = text.get(at..at + 10).filter(|_| is_apart)?;
            let marks = [shape.as_bytes()[4], shape.as_bytes()[7]];
            if marks[0] != marks[1] || !b"-_.".contains(&marks[0]) {
                return None;
            }
            let day = strtime::parse("%Y-%m-%d", shape.replace(['_', '.'], "-")).ok()?;
            self.local(day.to_date().ok()?.at(0, 0, 0, 0))
        })
    }

    fn loose(&self, text: &str) -> Option<EventTime> {
        let flat: String = text
            .chars()
            .map(|c| {
                if matches!(c, ',' | '\u{a0}' | '\u{202f}' | '[' | ']') {
                    ' '
                } else {
                    c
                }
            })
            .collect();
        let flat = flat.split_whitespace().filter(|word| *word != "at");
        let flat: Vec<_> = flat.collect();
        let flat = spaced_meridiem(&flat.join(" "));
        for form in FORMS {
            if let Ok(local) = strtime::parse(form, &flat).and_then(|p| p.to_datetime())
                && has_year(local.year(), &flat)
            {
                return self.local(local);
            }
        }
        for form in DAYS {
            if let Ok(day) = strtime::parse(form, &flat).and_then(|p| p.to_date())
                && has_year(day.year(), &flat)
            {
                return self.midnight(day);
            }
        }
        let both = if self.is_day_first {
            ["%d/%m", "%m/%d"]
        } else {
            ["%m/%d", "%d/%m"]
        };
        for front in both {
            for year in ["%Y", "%y"] {
                for time in SLASHED_TIMES {
                    let form = format!("{front}/{year}{time}");
                    let Ok(parsed) = strtime::parse(&form, &flat) else {
                        continue;
                    };
                    match (time, parsed.to_datetime(), parsed.to_date()) {
                        ("", _, Ok(day)) if has_year(day.year(), &flat) => {
                            return self.midnight(day);
                        }
                        (_, Ok(local), _) if has_year(local.year(), &flat) => {
                            return self.local(local);
                        }
                        _ => {}
                    }
                }
            }
        }
        None
    }

    fn midnight(&self, day: Date) -> Option<EventTime> {
        self.local(day.to_datetime(Time::midnight()))
    }

    fn local(&self, local: DateTime) -> Option<EventTime> {
        let zoned = self.zone.to_ambiguous_zoned(local).compatible().ok()?;
        Some(of_instant(zoned.timestamp()))
    }
}

/// False if `%Y` took two digits for a year.
fn has_year(year: i16, text: &str) -> bool {
    let front = text.as_bytes().get(..4);
    year >= YEAR_MIN || front.is_some_and(|front| front.iter().all(u8::is_ascii_digit))
}

fn of_instant(instant: Timestamp) -> EventTime {
    EventTime(instant.as_microsecond())
}

fn of_number(number: f64) -> Option<EventTime> {
    let per_unit = match number.abs() {
        size if size >= NANOS_MIN => 1e-3,
        size if size >= MICROS_MIN => 1.0,
        size if size >= MILLIS_MIN => 1e3,
        _ => 1e6,
    };
    let micros = (number * per_unit).round();
    let is_in_calendar = micros.is_finite() && Timestamp::from_microsecond(micros as i64).is_ok();
    is_in_calendar.then_some(EventTime(micros as i64))
}

/// "1:56pm" becomes "1:56 PM".
fn spaced_meridiem(text: &str) -> String {
    let lower = text.to_ascii_lowercase();
    for (ending, spaced) in [("a.m.", "AM"), ("p.m.", "PM"), ("am", "AM"), ("pm", "PM")] {
        if let Some(front) = lower.strip_suffix(ending) {
            let front = &text[..front.len()];
            if front.trim_end().ends_with(|c: char| c.is_ascii_digit()) {
                return format!("{} {spaced}", front.trim_end());
            }
        }
    }
    text.to_owned()
}

fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a truth value",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn utc() -> TimeReading {
        TimeReading {
            zone: TimeZone::UTC,
            is_day_first: true,
        }
    }

    #[test]
    fn one_moment_is_read_in_every_form() {
        let moment = Some(EventTime(1_778_248_560_000_000));
        for text in [
            "2026-05-08T13:56:00Z",
            "2026-05-08T15:56:00+02:00",
            "2026-05-08T13:56:00",
            "2026-05-08 13:56",
            "2026-05-08 13:56:00",
            "2026-05-08 1:56 pm",
            "8 May 2026, 1:56 pm",
            "8 May 2026 13:56",
            "May 8, 2026 at 1:56 PM",
            "May 8, 2026, 1:56\u{202f}PM",
            "08.05.2026, 13:56",
            "8/5/26, 13:56",
            "08/05/2026, 1:56 pm",
            "Fri, 08 May 2026 13:56:00 +0000",
            "1778248560",
            "1778248560000",
        ] {
            assert_eq!(utc().text(text), moment, "{text}");
        }
        for value in [
            json!(1_778_248_560),
            json!(1_778_248_560.0),
            json!(1_778_248_560_000_i64),
            json!(1_778_248_560_000_000_i64),
            json!(1_778_248_560_000_000_000_i64),
            json!("1778248560"),
        ] {
            assert_eq!(utc().value(&value), Ok(moment), "{value}");
        }
    }

    #[test]
    fn texts_that_are_no_times_are_refused() {
        for text in [
            "someday",
            "2026",
            "13:56",
            "2026-02-30",
            "2026-13-01T00:00:00Z",
            "1e300",
            "NaN",
        ] {
            assert_eq!(utc().text(text), None, "{text}");
        }
        assert_eq!(utc().value(&json!(null)), Ok(None));
        assert_eq!(utc().value(&json!("  ")), Ok(None));
        assert!(utc().value(&json!([1])).is_err());
        assert!(utc().value(&json!(1e300)).is_err());
    }

    #[test]
    fn the_order_of_slashed_days_is_a_setting_that_impossible_days_override() {
        let american = TimeReading {
            is_day_first: false,
            ..utc()
        };
        assert_eq!(utc().text("02/03/2026"), utc().text("2026-03-02"));
        assert_eq!(american.text("02/03/2026"), utc().text("2026-02-03"));
        assert_eq!(american.text("13/03/2026"), utc().text("2026-03-13"));
    }

    #[test]
    fn days_stand_in_names_of_files() {
        let day = utc().text("2026-01-31");
        assert!(day.is_some());
        for name in [
            "2026-01-31.md",
            "log 2026-01-31 b",
            "2026_01_31",
            "2026-02-30 2026-01-31",
        ] {
            assert_eq!(utc().day_within(name), day, "{name}");
        }
        for name in [
            "12026-01-31",
            "2026-01-311",
            "2026-1-31",
            "äöü-äö-äö",
            "2026-01_31",
        ] {
            assert_eq!(utc().day_within(name), None, "{name}");
        }
    }

    #[test]
    fn the_first_and_the_last_year_are_times() {
        for text in ["0001-01-01T00:00:00Z", "9999-12-30T00:00:00Z"] {
            let time = utc().text(text).unwrap();
            assert_eq!(
                Timestamp::from_microsecond(time.0).unwrap().to_string(),
                text
            );
        }
    }
}
