//! Times as text: RFC 3339 to and from microseconds.
//!
//! The calendar is the proleptic Gregorian one, years 0000 to 9999. RFC 3339 covers no other years: `parse` and
//! `format` reject them, and `display` writes them with a sign (ISO 8601).
//!
//! Promises: `parse(format(t))` is `t` for every time in `MIN..=MAX`; no text causes a panic.
//! Not here: named time zones, the clock.

use std::fmt;

use amem_format::attributes::json_path::shortened;
use amem_format::error::{Error, Result};
use amem_format::types::Micros;

/// 0000-01-01T00:00:00Z, the earliest time in RFC 3339.
pub const MIN: Micros = Micros(-62_167_219_200 * SECOND);
/// 9999-12-31T23:59:59.999999Z, the latest time in RFC 3339.
pub const MAX: Micros = Micros(253_402_300_800 * SECOND - 1);

const SECOND: i64 = 1_000_000;
const DAY_SECONDS: i64 = 24 * 3600;
/// Days of 400 years, after which the calendar repeats.
const ERA_DAYS: i64 = 146_097;
/// Days from 0000-03-01 to 1970-01-01. Years are counted from March, so that a leap day is the last.
const EPOCH_DAYS: i64 = 719_468;

/// Parses an RFC 3339 time, such as `2024-02-29T12:30:00.25+01:00`.
///
/// Accepts `t`, `z`, and a space for `T`, as the RFC allows. Truncates to microseconds. A leap second (`23:59:60` UTC)
/// is the first second of the next day.
pub fn parse(text: &str) -> Result<Micros> {
    read(&mut Scanner(text.as_bytes()))
        .map_err(|why| {
            Error::invalid(
                "time",
                format!(
                    "{:?}: {why}; write it as 2024-02-29T12:30:00Z",
                    shortened(text)
                ),
            )
        })
        .map(Micros)
}

/// Formats a time in UTC, with six fractional digits unless they are zero. An error for years outside 0000..=9999.
pub fn format(time: Micros) -> Result<String> {
    if !(MIN..=MAX).contains(&time) {
        return Err(Error::invalid(
            "time",
            format!("{time} microseconds since 1970 is outside the years 0000 to 9999"),
        ));
    }
    Ok(display(time).to_string())
}

/// Formats any time for people: like `format`, and years outside 0000..=9999 with a sign.
pub fn display(time: Micros) -> impl fmt::Display {
    DisplayTime(time)
}

struct DisplayTime(Micros);

impl fmt::Display for DisplayTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (seconds, micros) = (self.0.0.div_euclid(SECOND), self.0.0.rem_euclid(SECOND));
        let (year, month, day) = civil(seconds.div_euclid(DAY_SECONDS));
        let second = seconds.rem_euclid(DAY_SECONDS);
        if (0..=9999).contains(&year) {
            write!(f, "{year:04}")?;
        } else {
            write!(f, "{year:+06}")?;
        }
        let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
        write!(f, "-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}")?;
        if micros != 0 {
            write!(f, ".{micros:06}")?;
        }
        f.write_str("Z")
    }
}

fn read(scanner: &mut Scanner<'_>) -> Result<i64, &'static str> {
    let year = scanner.number(4, "the year is not four digits")?;
    scanner.one_of(b"-", "no '-' after the year")?;
    let month = scanner.number(2, "the month is not two digits")?;
    scanner.one_of(b"-", "no '-' after the month")?;
    let day = scanner.number(2, "the day is not two digits")?;
    scanner.one_of(b"Tt ", "no 'T' after the day")?;
    let hour = scanner.number(2, "the hour is not two digits")?;
    scanner.one_of(b":", "no ':' after the hour")?;
    let minute = scanner.number(2, "the minute is not two digits")?;
    scanner.one_of(b":", "no ':' after the minute")?;
    let second = scanner.number(2, "the second is not two digits")?;
    let micros = scanner.fraction()?;
    let offset = scanner.offset()?;

    if !(1..=12).contains(&month) {
        return Err("there is no such month");
    }
    if day < 1 || day > days_in_month(year, month) {
        return Err("there is no such day");
    }
    if hour > 23 || minute > 59 || second > 60 {
        return Err("there is no such time of day");
    }
    let minutes = hour * 60 + minute - offset;
    if second == 60 && minutes.rem_euclid(24 * 60) != 24 * 60 - 1 {
        return Err("a leap second ends a day in UTC");
    }
    let seconds = days(year, month, day) * DAY_SECONDS + minutes * 60 + second;
    let time = seconds * SECOND + micros;
    if !(MIN.0..=MAX.0).contains(&time) {
        return Err("in UTC it is outside the years 0000 to 9999");
    }
    Ok(time)
}

/// Reads a text byte by byte.
struct Scanner<'a>(&'a [u8]);

impl Scanner<'_> {
    fn one_of(&mut self, wanted: &[u8], why: &'static str) -> Result<u8, &'static str> {
        match self.0.split_first() {
            Some((&byte, rest)) if wanted.contains(&byte) => {
                self.0 = rest;
                Ok(byte)
            }
            _ => Err(why),
        }
    }

    fn number(&mut self, digits: usize, why: &'static str) -> Result<i64, &'static str> {
        let mut value = 0;
        for _ in 0..digits {
            value = value * 10 + i64::from(self.one_of(b"0123456789", why)? - b'0');
        }
        Ok(value)
    }

    fn fraction(&mut self) -> Result<i64, &'static str> {
        if self.one_of(b".", "").is_err() {
            return Ok(0);
        }
        let (mut micros, mut unit) = (self.number(1, "no digit after the '.'")? * 100_000, 10_000);
        while let Ok(digit) = self.number(1, "") {
            micros += digit * unit;
            unit /= 10;
        }
        Ok(micros)
    }

    /// The offset from UTC in minutes, up to the end of the text.
    fn offset(&mut self) -> Result<i64, &'static str> {
        let minutes = match self.one_of(b"Zz+-", "no offset, neither 'Z' nor '+01:00'")? {
            sign @ (b'+' | b'-') => {
                let hours = self.number(2, "the offset's hours are not two digits")?;
                self.one_of(b":", "no ':' in the offset")?;
                let minutes = self.number(2, "the offset's minutes are not two digits")?;
                if hours > 23 || minutes > 59 {
                    return Err("there is no such offset");
                }
                (hours * 60 + minutes) * if sign == b'-' { -1 } else { 1 }
            }
            _ => 0,
        };
        if self.0.is_empty() {
            Ok(minutes)
        } else {
            Err("something follows the offset")
        }
    }
}

fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

fn days_in_month(year: i64, month: i64) -> i64 {
    match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days since 1970-01-01.
fn days(year: i64, month: i64, day: i64) -> i64 {
    // Months from March have 31, 30, 31, 30, 31 days repeatedly: 153 days per five months.
    let months = (month + 9) % 12;
    let year = if month < 3 { year - 1 } else { year };
    let leap_days = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    year * 365 + leap_days + (153 * months + 2) / 5 + day - 1 - EPOCH_DAYS
}

/// Year, month and day of a number of days since 1970-01-01.
fn civil(days: i64) -> (i64, i64, i64) {
    let days = days + EPOCH_DAYS;
    let (era, day) = (days.div_euclid(ERA_DAYS), days.rem_euclid(ERA_DAYS));
    // Without earlier leap days, each year of the era has 365 days. A leap day follows 1461 days (not 36525); the last
    // is the era's last day.
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let months = (5 * day + 2) / 153;
    let month = (months + 2) % 12 + 1;
    let year = era * 400 + year + i64::from(month < 3);
    (year, month, day - (153 * months + 2) / 5 + 1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(text: &str, micros: i64) {
        assert_eq!(parse(text).unwrap(), Micros(micros), "{text}");
    }

    #[test]
    fn known_times_parse() {
        check("1970-01-01T00:00:00Z", 0);
        check("1970-01-01t00:00:00z", 0);
        check("1970-01-01 00:00:00-00:00", 0);
        check("1970-01-01T01:00:00+01:00", 0);
        check("1969-12-31T23:59:59.999999Z", -1);
        check("2000-02-29T00:00:00Z", 951_782_400 * SECOND);
        check("2001-09-09T01:46:40Z", 1_000_000_000 * SECOND);
        check("1985-04-12T23:20:50.52Z", 482_196_050_520_000);
        check("1996-12-19T16:39:57-08:00", 851_042_397 * SECOND);
        check("1937-01-01T12:00:27.87+00:20", -1_041_337_172_130_000);
        check("2024-01-01T00:00:00.1234569Z", 1_704_067_200_123_456);
        check("0000-01-01T00:00:00Z", MIN.0);
        check("9999-12-31T23:59:59.9999999Z", MAX.0);
    }

    #[test]
    fn a_leap_second_is_the_next_second() {
        check("1990-12-31T23:59:60Z", 662_688_000 * SECOND);
        check("1990-12-31T15:59:60.5-08:00", 662_688_000_500_000);
    }

    #[test]
    fn what_is_not_a_time_is_refused_with_a_reason() {
        for (text, why) in [
            ("", "the year is not four digits"),
            ("-0001-01-01T00:00:00Z", "the year is not four digits"),
            ("+2024-01-01T00:00:00Z", "the year is not four digits"),
            ("2024", "no '-' after the year"),
            ("2024-1-01T00:00:00Z", "the month is not two digits"),
            ("2024-01-01", "no 'T' after the day"),
            ("2024-01-01T00:00Z", "no ':' after the minute"),
            ("2024-01-01T00:00:00", "no offset"),
            ("2024-01-01T00:00:00.Z", "no digit after the '.'"),
            ("2024-01-01T00:00:00+0100", "no ':' in the offset"),
            ("2024-01-01T00:00:00Z ", "something follows"),
            ("2024-01-01T00:00:00+24:00", "no such offset"),
            ("2024-13-01T00:00:00Z", "no such month"),
            ("2024-00-01T00:00:00Z", "no such month"),
            ("2023-02-29T00:00:00Z", "no such day"),
            ("1900-02-29T00:00:00Z", "no such day"),
            ("2024-04-31T00:00:00Z", "no such day"),
            ("2024-01-00T00:00:00Z", "no such day"),
            ("2024-01-01T24:00:00Z", "no such time of day"),
            ("2024-01-01T00:60:00Z", "no such time of day"),
            ("2024-01-01T23:59:61Z", "no such time of day"),
            ("2024-01-01T12:00:60Z", "a leap second ends a day"),
            ("0000-01-01T00:00:00+00:01", "outside the years"),
            ("9999-12-31T23:59:60Z", "outside the years"),
            ("２０24-01-01T00:00:00Z", "the year is not four digits"),
        ] {
            let error = parse(text).unwrap_err().to_string();
            assert!(error.contains(why), "{text:?}: {error}");
        }
    }

    #[test]
    fn a_long_text_is_cut_in_the_error() {
        assert!(parse(&"é".repeat(100_000)).unwrap_err().to_string().len() < 400);
    }

    #[test]
    fn years_without_a_name_are_displayed_but_not_formatted() {
        for (time, shown) in [
            (Micros(MIN.0 - 1), "-00001-12-31T23:59:59.999999Z"),
            (Micros(MAX.0 + 1), "+10000-01-01T00:00:00Z"),
            (Micros::MIN, "-290308-12-21T19:59:05.224192Z"),
            (Micros::MAX, "+294247-01-10T04:00:54.775807Z"),
        ] {
            assert_eq!(display(time).to_string(), shown);
            assert!(format(time).is_err(), "{shown}");
        }
    }

    #[test]
    fn every_day_follows_the_one_before() {
        let mut expected = (0, 1, 1);
        for day in MIN.0 / Micros::DAY..=MAX.0 / Micros::DAY {
            let (year, month, of_month) = civil(day);
            assert_eq!((year, month, of_month), expected);
            assert_eq!(days(year, month, of_month), day);
            expected = if of_month < days_in_month(year, month) {
                (year, month, of_month + 1)
            } else if month < 12 {
                (year, month + 1, 1)
            } else {
                (year + 1, 1, 1)
            };
        }
        assert_eq!(expected, (10_000, 1, 1));
    }

    proptest! {
        #[test]
        fn every_time_survives_a_round_trip(micros in MIN.0..=MAX.0) {
            prop_assert_eq!(parse(&format(Micros(micros)).unwrap()).unwrap(), Micros(micros));
        }

        #[test]
        fn text_sorts_as_time_does(a in MIN.0..=MAX.0, b in MIN.0..=MAX.0) {
            let (a, b) = (Micros(a / SECOND * SECOND), Micros(b / SECOND * SECOND));
            prop_assert_eq!(format(a).unwrap().cmp(&format(b).unwrap()), a.cmp(&b));
        }

        #[test]
        fn an_offset_is_subtracted(micros in 0..MAX.0 / 2, hours in 0..24_i64, minutes in 0..60_i64) {
            let utc = format(Micros(micros)).unwrap();
            let offset = (hours * 3600 + minutes * 60) * SECOND;
            for (sign, by) in [("+", -offset), ("-", offset)] {
                let text = utc.replace('Z', &format!("{sign}{hours:02}:{minutes:02}"));
                prop_assert_eq!(parse(&text).unwrap(), Micros(micros + by));
            }
        }

        #[test]
        fn no_text_panics(text in "[-+0-9TZtz:. é]{0,40}") {
            let _ = parse(&text);
        }
    }
}
