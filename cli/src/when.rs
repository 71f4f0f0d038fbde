//! Times as people write and read them: "2 days ago", a day, RFC 3339; moments are times or LSNs.
//!
//! All times are UTC. Recent times are shown as an age.

use std::time::{SystemTime, UNIX_EPOCH};

use amem_client::{Timestamp, v1};
use amem_format::view::{AsOf, View};
use amem_format::{Lsn, Micros};
use amem_query::time;

use crate::failure::Failure;

pub(crate) const HELP: &str =
    "Times: RFC 3339 (2026-05-01T12:00:00Z), a day (2026-05-01), now, today, yesterday,
\"2 days ago\", \"3h ago\", \"last week\"; all in UTC. A moment (--as-of) is a time or an LSN.";

const SECOND: i64 = 1_000_000;
const MINUTE: i64 = 60 * SECOND;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;
const WEEK: i64 = 7 * DAY;
/// Older times are shown as dates.
const AGO_MAX: i64 = 14 * DAY;

const UNITS: &[(&[&str], i64)] = &[
    (&["s", "sec", "secs", "second", "seconds"], SECOND),
    (&["m", "min", "mins", "minute", "minutes"], MINUTE),
    (&["h", "hour", "hours"], HOUR),
    (&["d", "day", "days"], DAY),
    (&["w", "week", "weeks"], WEEK),
    (&["month", "months"], 30 * DAY),
    (&["y", "year", "years"], 365 * DAY),
];

pub(crate) fn now() -> Micros {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    // A clock before 1970 is wrong anyway.
    Micros(since.map_or(1, |since| {
        i64::try_from(since.as_micros()).unwrap_or(i64::MAX)
    }))
}

pub(crate) fn parse_time(text: &str) -> Result<Micros, String> {
    parse_at(text, now())
}

/// An LSN or a time.
pub(crate) fn parse_moment(text: &str) -> Result<AsOf, String> {
    if !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()) {
        let lsn = text
            .parse()
            .map_err(|_| "the LSN is too large".to_owned())?;
        return Ok(AsOf::Lsn(Lsn(lsn)));
    }
    parse_time(text).map(AsOf::Time)
}

fn parse_at(text: &str, now: Micros) -> Result<Micros, String> {
    let text = text.trim();
    let today = now.0.div_euclid(DAY) * DAY;
    match text.to_ascii_lowercase().as_str() {
        "now" => return Ok(now),
        "today" => return Ok(Micros(today)),
        "yesterday" => return Ok(Micros(today - DAY)),
        "tomorrow" => return Ok(Micros(today + DAY)),
        lower => {
            if let Some(unit) = lower.strip_prefix("last ") {
                return Ok(Micros(now.0 - span_of(&format!("1 {unit}"))?));
            }
            if let Some(span) = lower.strip_suffix("ago") {
                let ago = span_of(span.trim())?;
                let then = now.0.checked_sub(ago);
                return then.map(Micros).ok_or_else(|| out_of_range(text));
            }
        }
    }
    time::parse(&in_full(text)).map_err(|e| {
        format!("{e}; or a day (2024-02-29), \"2024-02-29 12:30\", today, yesterday, \"2 days ago\", \"last week\"")
    })
}

/// Adds what people leave out: seconds, zone, time of day.
fn in_full(text: &str) -> String {
    let form: String = text
        .chars()
        .map(|c| if c.is_ascii_digit() { '0' } else { c })
        .collect();
    match form.replace(' ', "T").as_str() {
        "0000-00-00" => format!("{text}T00:00:00Z"),
        "0000-00-00T00:00" => format!("{text}:00Z"),
        "0000-00-00T00:00:00" => format!("{text}Z"),
        _ => text.to_owned(),
    }
}

/// Parses "2 days", "1h 30m", "an hour".
fn span_of(text: &str) -> Result<i64, String> {
    let odd = || format!("{text:?} is not a time span: write it as \"2 days ago\" or \"90m ago\"");
    let mut rest = text;
    let mut span: i64 = 0;
    while !rest.is_empty() {
        let (number, after) = leading_number(rest).ok_or_else(odd)?;
        let after = after.trim_start();
        let end = after
            .find(|c: char| !c.is_ascii_alphabetic())
            .unwrap_or(after.len());
        let (word, behind) = after.split_at(end);
        let unit = UNITS.iter().find(|(names, _)| names.contains(&word));
        let (_, unit) = unit.ok_or_else(odd)?;
        let part = number
            .checked_mul(*unit)
            .ok_or_else(|| out_of_range(text))?;
        span = span.checked_add(part).ok_or_else(|| out_of_range(text))?;
        rest = behind.trim_start().trim_start_matches(',').trim_start();
    }
    if text.is_empty() {
        Err(odd())
    } else {
        Ok(span)
    }
}

fn leading_number(text: &str) -> Option<(i64, &str)> {
    for article in ["an ", "a "] {
        if let Some(rest) = text.strip_prefix(article) {
            return Some((1, rest));
        }
    }
    let end = text.find(|c: char| !c.is_ascii_digit())?;
    let (digits, rest) = text.split_at(end);
    Some((digits.parse().ok()?, rest))
}

fn out_of_range(text: &str) -> String {
    format!("{text:?} is out of range")
}

pub(crate) fn at(view: &View, moment: Option<AsOf>) -> Result<View, Failure> {
    match moment {
        Some(moment) => Ok(view.as_of(moment)?),
        None => Ok(view.clone()),
    }
}

pub(crate) fn as_of(moment: Option<AsOf>) -> Option<v1::AsOf> {
    let moment = match moment? {
        AsOf::Lsn(lsn) => v1::as_of::Moment::Lsn(lsn.0),
        AsOf::Time(time) => v1::as_of::Moment::Time(timestamp(time)),
    };
    Some(v1::AsOf {
        moment: Some(moment),
    })
}

pub(crate) fn timestamp(time: Micros) -> Timestamp {
    Timestamp {
        seconds: time.0.div_euclid(SECOND),
        nanos: (time.0.rem_euclid(SECOND) * 1000) as i32,
    }
}

/// In tables: an age, or the date of an old time.
pub(crate) fn short(time: Micros) -> String {
    short_at(time, now())
}

/// Alone on a line: exact, with the age of a recent time.
pub(crate) fn long(time: Micros) -> String {
    let exact = time::display(time).to_string();
    match ago(time, now()) {
        Some(ago) => format!("{exact} ({ago})"),
        None => exact,
    }
}

/// RFC 3339.
pub(crate) fn exact(time: Micros) -> String {
    time::display(time).to_string()
}

/// Hours, minutes, seconds.
pub(crate) fn clock(time: Micros) -> String {
    let exact = time::display(time).to_string();
    let clock = exact.split('T').nth(1).unwrap_or_default();
    clock.chars().take(8).collect()
}

fn short_at(time: Micros, now: Micros) -> String {
    ago(time, now).unwrap_or_else(|| {
        let exact = time::display(time).to_string();
        // Seconds do not matter after two weeks.
        match exact.get(..16) {
            Some(front) if exact.as_bytes().get(10) == Some(&b'T') => front.replace('T', " "),
            _ => exact,
        }
    })
}

/// The age; `None` for future and old times.
fn ago(time: Micros, now: Micros) -> Option<String> {
    let span = now.0.checked_sub(time.0)?;
    let in_units = |unit: i64, name: &str| {
        let count = span / unit;
        let s = if count == 1 { "" } else { "s" };
        format!("{count} {name}{s} ago")
    };
    match span {
        ..0 => None,
        0..SECOND => Some("just now".into()),
        SECOND..MINUTE => Some(in_units(SECOND, "second")),
        MINUTE..HOUR => Some(in_units(MINUTE, "minute")),
        HOUR..DAY => Some(in_units(HOUR, "hour")),
        DAY..AGO_MAX => Some(in_units(DAY, "day")),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_numbers_days_or_times() {
        assert_eq!(parse_moment("17"), Ok(AsOf::Lsn(Lsn(17))));
        let day = parse_time("2024-02-29").unwrap();
        assert_eq!(parse_time("2024-02-29T01:00:00+01:00"), Ok(day));
        assert_eq!(parse_moment("2024-02-29"), Ok(AsOf::Time(day)));
        for bad in [
            "",
            "soon",
            "2023-02-29",
            "-5",
            "99999999999999999999",
            "ago",
            "2 ago",
            "2 moons ago",
            "99999999999999 years ago",
            "2 days 3 ago",
        ] {
            assert!(parse_moment(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn spans_are_counted_back_from_now() {
        let now = time::parse("2026-03-05T12:34:56Z").unwrap();
        let check = |text: &str, expected: &str| {
            let expected = time::parse(expected).unwrap();
            assert_eq!(parse_at(text, now), Ok(expected), "{text}");
        };
        check("now", "2026-03-05T12:34:56Z");
        check("today", "2026-03-05T00:00:00Z");
        check("Yesterday", "2026-03-04T00:00:00Z");
        check("2 days ago", "2026-03-03T12:34:56Z");
        check("3h ago", "2026-03-05T09:34:56Z");
        check("1h 30m ago", "2026-03-05T11:04:56Z");
        check("an hour ago", "2026-03-05T11:34:56Z");
        check("a week ago", "2026-02-26T12:34:56Z");
        check("last week", "2026-02-26T12:34:56Z");
        check("tomorrow", "2026-03-06T00:00:00Z");
        check("2026-03-01 12:30", "2026-03-01T12:30:00Z");
        check("2026-03-01T12:30:05", "2026-03-01T12:30:05Z");
        check("1 day, 2 hours ago", "2026-03-04T10:34:56Z");
    }

    #[test]
    fn what_was_lately_is_told_by_how_long_ago() {
        let now = time::parse("2026-03-05T12:00:00Z").unwrap();
        let check = |text: &str, expected: &str| {
            let time = time::parse(text).unwrap();
            assert_eq!(short_at(time, now), expected, "{text}");
        };
        check("2026-03-05T11:59:59.5Z", "just now");
        check("2026-03-05T11:59:59Z", "1 second ago");
        check("2026-03-05T09:30:00Z", "2 hours ago");
        check("2026-03-03T12:00:00Z", "2 days ago");
        check("2026-01-01T00:00:00Z", "2026-01-01 00:00");
        check("2026-03-05T12:00:01Z", "2026-03-05 12:00");
    }

    #[test]
    fn times_in_messages_are_the_same_times() {
        for micros in [0, 1, -1, 1_700_000_000_000_001] {
            let stamp = timestamp(Micros(micros));
            assert_eq!(
                crate::json::event::Time::of(Some(stamp)).unwrap().0,
                Micros(micros)
            );
        }
    }
}
