//! Times as people and programs write them: ISO 8601 and RFC 3339 in every usual form, RFC 2822, epoch seconds and
//! milliseconds, English dates, and times relative to a clock.
//!
//! Promises: the answer depends on the text and the clock alone; no text makes it panic; an ambiguous date (05/08/2023)
//! is an error that names both readings.

mod calendar;
mod english;
mod prose;
mod relative;
mod scanner;
mod time_of_day;
mod words;

use amem_format::attributes::json_path::shortened;
use amem_format::error::{Error, Result};
use amem_format::types::Micros;

use crate::time;

pub use calendar::{Clock, NamedTime, Precision, ZONE_BYTES_MAX, zone_named};
pub use prose::{ProseTime, times_in};

use calendar::{Problem, SECOND, date, day_span, month_span, year_span};
use english::English;
use scanner::Scanner;
use time_of_day::{TimeOfDay, Zone};

/// Bytes of a text that can be a time; longer ones are refused unread.
pub const TIME_TEXT_BYTES_MAX: usize = 128;

const FORMS: &str = "write it as 2024-02-29, 2024-02-29T12:30:00Z, 2024-02, 2024, \"2 days ago\", \"last Tuesday\", \
                     \"29 February 2024, 12:30\", or in seconds or milliseconds since 1970";

/// Reads a time.
///
/// Numbers: four digits are a year, eight a day (YYYYMMDD), nine or ten seconds since 1970, twelve or thirteen
/// milliseconds. Without an offset a time is one of the clock's zone. A weekday or month without a year is the most
/// recent one. In a gap of daylight saving time the later time counts, in an overlap the earlier.
pub fn parse_phrase(text: &str, clock: &Clock) -> Result<NamedTime> {
    let trimmed = text.trim();
    let parsed = if trimmed.len() > TIME_TEXT_BYTES_MAX {
        Err(Problem::Form)
    } else {
        parse_trimmed(trimmed, clock)
    };
    parsed.map_err(|why| {
        let text = shortened(text);
        let why = match why {
            Problem::Form => FORMS.to_owned(),
            Problem::Word(word) => format!("{word:?} is not understood; {FORMS}"),
            Problem::Impossible(what) => format!("there is no such {what}"),
            Problem::Ambiguous(first, second) => {
                format!("it could be {first} or {second}: write the one that is meant")
            }
            Problem::NoNow => "it is relative: the request must say the present (now, zone), or write an instant such as \
                               2024-02-29T12:30:00Z"
                .to_owned(),
            Problem::NoZone => "it has no offset from UTC: the request must say the zone, or write an instant such as \
                                2024-02-29T12:30:00Z"
                .to_owned(),
            Problem::Range => "it is outside the years 0000 to 9999".to_owned(),
            Problem::Number(digits) => format!(
                "{digits} digits are not a time: 4 are a year, 8 a day, 9 or 10 seconds, 12 or 13 milliseconds since 1970"
            ),
        };
        Error::invalid("time", format!("{text:?}: {why}"))
    })
}

fn parse_trimmed(text: &str, clock: &Clock) -> Result<NamedTime, Problem> {
    if text.is_empty() {
        return Err(Problem::Form);
    }
    if let Ok(time) = time::parse(text) {
        return Ok(NamedTime::instant(time));
    }
    if let Some(number) = epoch(text, clock) {
        return number;
    }
    if let Some(iso) = iso(text, clock) {
        return iso;
    }
    English::read(text, clock)
}

/// Digits alone, with a sign or a fraction.
fn epoch(text: &str, clock: &Clock) -> Option<Result<NamedTime, Problem>> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits = whole.strip_prefix('-').unwrap_or(whole);
    let is_number = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    if !is_number || !fraction.bytes().all(|b| b.is_ascii_digit()) || text.ends_with('.') {
        return None;
    }
    let is_negative = digits.len() < whole.len();
    let micros_per_unit = match digits.len() {
        4 if text.len() == 4 => {
            let year = digits.parse().unwrap_or_default();
            return Some(year_span(year, clock));
        }
        8 if text.len() == 8 => {
            let number: i32 = digits.parse().unwrap_or_default();
            let part = |by: i32, modulo: i32| (number / by % modulo) as i16;
            let date = date(part(10_000, 10_000), part(100, 100), part(1, 100));
            return Some(date.and_then(|date| day_span(date, clock)));
        }
        9 | 10 => SECOND,
        12 | 13 => 1000,
        // Nothing but this project's own output writes times so.
        15 | 16 => 1,
        count => return Some(Err(Problem::Number(count))),
    };
    let mut micros = digits.parse::<i64>().unwrap_or_default() * micros_per_unit;
    let mut unit = micros_per_unit / 10;
    for digit in fraction.bytes() {
        micros += i64::from(digit - b'0') * unit;
        unit /= 10;
    }
    Some(Ok(NamedTime::instant(Micros(if is_negative {
        -micros
    } else {
        micros
    }))))
}

/// Texts that begin with a year and a separator: ISO 8601 with what people leave out, and YYYY/MM/DD.
fn iso(text: &str, clock: &Clock) -> Option<Result<NamedTime, Problem>> {
    let mut scanner = Scanner::new(text);
    let year = scanner.digits(4)?;
    let separator = scanner.one_of("-/.")?;
    let month = scanner.digits_up_to(2)?;
    Some((|| {
        if scanner.is_done() {
            return month_span(year, month, clock);
        }
        scanner.exactly(separator).ok_or(Problem::Form)?;
        let day = scanner.digits_up_to(2).ok_or(Problem::Form)?;
        let date = date(year, month, day)?;
        if scanner.is_done() {
            return day_span(date, clock);
        }
        let is_divided = scanner.one_of("Tt").is_some() || scanner.skip_spaces();
        if !is_divided {
            return Err(Problem::Form);
        }
        // "2023/05/20 (Sat) 02:21": the weekday adds nothing.
        if scanner.one_of("(").is_some() {
            scanner.letters();
            scanner.one_of(")").ok_or(Problem::Form)?;
            scanner.skip_spaces();
        }
        if scanner.is_done() {
            return day_span(date, clock);
        }
        let time = TimeOfDay::read(&mut scanner)?;
        scanner.skip_spaces();
        let zone = Zone::read(&mut scanner, clock)?;
        if !scanner.is_done() {
            return Err(Problem::Form);
        }
        time.on(date, &zone)
    })())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::calendar::NamedTime;
    use super::*;
    use crate::time;
    use jiff::tz::TimeZone;

    /// Thursday 5 March 2026, 16:05 in Los Angeles; in UTC it is Friday already.
    fn clock() -> Clock {
        let now = time::parse("2026-03-06T00:05:00Z").unwrap();
        Clock::new(now, TimeZone::get("America/Los_Angeles").unwrap())
    }

    fn berlin() -> Clock {
        let now = time::parse("2026-03-05T12:34:56Z").unwrap();
        Clock::new(now, TimeZone::get("Europe/Berlin").unwrap())
    }

    #[track_caller]
    fn check(clock: &Clock, text: &str, start: &str, end: &str) {
        let named = parse_phrase(text, clock).unwrap_or_else(|e| panic!("{e}"));
        let of = |text: &str| time::parse(text).unwrap();
        assert_eq!(
            (
                time::display(named.start).to_string(),
                time::display(named.end).to_string()
            ),
            (
                time::display(of(start)).to_string(),
                time::display(of(end)).to_string()
            ),
            "{text}"
        );
    }

    #[track_caller]
    fn check_at(clock: &Clock, text: &str, at: &str) {
        let named = parse_phrase(text, clock).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(time::display(named.at).to_string(), at, "{text}");
    }

    #[test]
    fn instants_are_read_in_every_usual_form() {
        for text in [
            "2024-02-29T12:30:00Z",
            "2024-02-29t12:30:00z",
            "2024-02-29 12:30:00Z",
            "2024-02-29T12:30:00.000+00:00",
            "2024-02-29T13:30:00+01:00",
            "2024-02-29T13:30:00+0100",
            "2024-02-29T13:30:00+01",
            "2024-02-29 13:30:00 +0100",
            "2024-02-29T04:30:00-08:00[America/Los_Angeles]",
            "2024-02-29T04:30:00[America/Los_Angeles]",
            "2024-02-29 12:30:00 UTC",
            "2024-02-29T123000Z",
            "Thu, 29 Feb 2024 12:30:00 GMT",
            "Thu, 29 Feb 2024 13:30:00 +0100",
            "1709209800",
            "1709209800.0",
            "1709209800000",
            "2024-02-29 04:30:00",
            "29 February 2024, 4:30:00 am",
        ] {
            check_at(&clock(), text, "2024-02-29T12:30:00Z");
        }
        // "this month" as an instant is its first: "since this month" leaves none of it out.
        check_at(&clock(), "this month", "2026-03-01T08:00:00Z");
        check_at(&clock(), "1709209800.25", "2024-02-29T12:30:00.250000Z");
        check_at(&clock(), "1709209800123", "2024-02-29T12:30:00.123000Z");
        check_at(&clock(), "-100000000", "1966-10-31T14:13:20Z");
        check_at(&clock(), "999999999", "2001-09-09T01:46:39Z");
        check_at(&clock(), "1990-12-31T23:59:60Z", "1991-01-01T00:00:00Z");
    }

    #[test]
    fn days_months_and_years_are_those_of_the_zone() {
        for text in [
            "2026-03-05",
            "2026/03/05",
            "2026/03/05 (Thu)",
            "20260305",
            "5 March 2026",
            "5 Mar 2026",
            "March 5, 2026",
            "5th of March, 2026",
            "Thursday, 5 March 2026",
            "5.3.2026",
            "05.03.2026",
            "today",
            "thursday",
            "this thursday",
            "March 5",
        ] {
            check(
                &clock(),
                text,
                "2026-03-05T08:00:00Z",
                "2026-03-06T08:00:00Z",
            );
        }
        check(
            &clock(),
            "2026-03",
            "2026-03-01T08:00:00Z",
            "2026-04-01T07:00:00Z",
        );
        check(
            &clock(),
            "March 2026",
            "2026-03-01T08:00:00Z",
            "2026-04-01T07:00:00Z",
        );
        check(
            &clock(),
            "in March",
            "2026-03-01T08:00:00Z",
            "2026-04-01T07:00:00Z",
        );
        check(
            &clock(),
            "2026",
            "2026-01-01T08:00:00Z",
            "2027-01-01T08:00:00Z",
        );
        check(
            &clock(),
            "1999",
            "1999-01-01T08:00:00Z",
            "2000-01-01T08:00:00Z",
        );
        check(
            &berlin(),
            "2026-03-29",
            "2026-03-28T23:00:00Z",
            "2026-03-29T22:00:00Z",
        );
    }

    #[test]
    fn times_without_a_zone_are_local() {
        for text in [
            "1:56 pm on 8 May, 2023",
            "8 May 2023 at 1:56 pm",
            "May 8, 2023 13:56",
            "2023-05-08T13:56",
            "2023-05-08 13:56",
            "2023/05/08 (Mon) 13:56",
            "Mon, 8 May 2023 1:56 p.m.",
        ] {
            check(
                &berlin(),
                text,
                "2023-05-08T11:56:00Z",
                "2023-05-08T11:57:00Z",
            );
        }
        // 02:30 does not exist on this day; it exists twice on the other.
        check_at(&berlin(), "2026-03-29 02:30", "2026-03-29T01:30:00Z");
        check_at(&berlin(), "2026-10-25 02:30", "2026-10-25T00:30:00Z");
    }

    #[test]
    fn relative_times_refer_to_the_clock() {
        check_at(&clock(), "now", "2026-03-06T00:05:00Z");
        check_at(&clock(), "2 days ago", "2026-03-04T00:05:00Z");
        check_at(&clock(), "90m ago", "2026-03-05T22:35:00Z");
        check_at(&clock(), "1h 30m ago", "2026-03-05T22:35:00Z");
        check_at(&clock(), "an hour ago", "2026-03-05T23:05:00Z");
        check_at(&clock(), "in 2 hours", "2026-03-06T02:05:00Z");
        check_at(&clock(), "two weeks from now", "2026-03-19T23:05:00Z");
        check_at(&clock(), "a month ago", "2026-02-06T00:05:00Z");
        check_at(&clock(), "last week", "2026-02-27T00:05:00Z");
        check(
            &clock(),
            "2 days ago",
            "2026-03-03T08:00:00Z",
            "2026-03-04T08:00:00Z",
        );
        check(
            &clock(),
            "a couple of weeks ago",
            "2026-02-16T08:00:00Z",
            "2026-02-23T08:00:00Z",
        );
        check(
            &clock(),
            "last week",
            "2026-02-23T08:00:00Z",
            "2026-03-02T08:00:00Z",
        );
        check(
            &clock(),
            "this month",
            "2026-03-01T08:00:00Z",
            "2026-04-01T07:00:00Z",
        );
        check(
            &clock(),
            "last year",
            "2025-01-01T08:00:00Z",
            "2026-01-01T08:00:00Z",
        );
        check(
            &clock(),
            "yesterday",
            "2026-03-04T08:00:00Z",
            "2026-03-05T08:00:00Z",
        );
        check(
            &clock(),
            "the day before yesterday",
            "2026-03-03T08:00:00Z",
            "2026-03-04T08:00:00Z",
        );
        check(
            &clock(),
            "last Tuesday",
            "2026-03-03T08:00:00Z",
            "2026-03-04T08:00:00Z",
        );
        check(
            &clock(),
            "last Thursday",
            "2026-02-26T08:00:00Z",
            "2026-02-27T08:00:00Z",
        );
        check(
            &clock(),
            "next Thursday",
            "2026-03-12T07:00:00Z",
            "2026-03-13T07:00:00Z",
        );
        check(
            &clock(),
            "last May",
            "2025-05-01T07:00:00Z",
            "2025-06-01T07:00:00Z",
        );
        check(
            &clock(),
            "May",
            "2025-05-01T07:00:00Z",
            "2025-06-01T07:00:00Z",
        );
        check(
            &clock(),
            "8 May",
            "2025-05-08T07:00:00Z",
            "2025-05-09T07:00:00Z",
        );
        check(
            &clock(),
            "this morning",
            "2026-03-05T14:00:00Z",
            "2026-03-05T20:00:00Z",
        );
        check(
            &clock(),
            "last night",
            "2026-03-05T02:00:00Z",
            "2026-03-05T14:00:00Z",
        );
        check(
            &clock(),
            "yesterday at 5pm",
            "2026-03-05T01:00:00Z",
            "2026-03-05T01:01:00Z",
        );
        check(
            &clock(),
            "5:30 pm",
            "2026-03-06T01:30:00Z",
            "2026-03-06T01:31:00Z",
        );
    }

    #[test]
    fn texts_that_are_not_times_are_refused_with_a_reason() {
        for (text, why) in [
            ("", "write it as"),
            ("soon", "\"soon\" is not understood"),
            (
                "12",
                "is not understood; write it as|2 digits are not a time",
            ),
            ("123456", "6 digits are not a time"),
            ("12345678901", "11 digits are not a time"),
            ("05/08/2023", "it could be 2023-08-05 or 2023-05-08"),
            ("2023-02-30", "there is no such day"),
            ("2023-13", "there is no such month"),
            ("2023-01-01T25:00", "there is no such time of day"),
            ("13 pm", "there is no such time of day"),
            ("2023-01-01T10:00+25:00", "there is no such offset"),
            ("2023-01-01T10:00[Mars/Base]", "there is no such time zone"),
            ("5 May 6 June", "write it as"),
            ("999999 years ago", "outside the years"),
            ("2024-01-01T00:00:00Z tomorrow", "write it as"),
        ] {
            let error = parse_phrase(text, &clock()).unwrap_err().to_string();
            assert!(
                why.split('|').any(|why| error.contains(why)),
                "{text:?}: {error}"
            );
        }
        let long = parse_phrase(&"a ".repeat(1 << 20), &clock()).unwrap_err();
        assert!(long.to_string().len() < 600);
    }

    #[test]
    fn a_date_with_one_reading_is_taken_in_any_order() {
        check(
            &Clock::utc(Micros(0)),
            "25/12/2023",
            "2023-12-25T00:00:00Z",
            "2023-12-26T00:00:00Z",
        );
        check(
            &Clock::utc(Micros(0)),
            "12/25/2023",
            "2023-12-25T00:00:00Z",
            "2023-12-26T00:00:00Z",
        );
        check(
            &Clock::utc(Micros(0)),
            "05/05/2023",
            "2023-05-05T00:00:00Z",
            "2023-05-06T00:00:00Z",
        );
    }

    proptest! {
        #[test]
        fn no_phrase_panics(
            words in proptest::collection::vec(
                prop_oneof![
                    "[-+0-9TZtz:./, é]{0,12}",
                    proptest::sample::select(vec![
                        "last", "next", "this", "may", "tuesday", "day", "week", "ago", "in", "pm", "night", "5", "99999999999",
                        "2023", "30", "february", "from now", "yesterday", "noon", "utc", "[Europe/Berlin]",
                    ]).prop_map(str::to_owned),
                ],
                0..6,
            ),
            now in time::MIN.0 - 10..=time::MAX.0 + 10,
        ) {
            let clock = Clock::new(Micros(now), TimeZone::get("Europe/Berlin").unwrap());
            if let Ok(named) = parse_phrase(&words.join(" "), &clock) {
                prop_assert!(named.start <= named.end);
            }
        }

        #[test]
        fn instants_of_rfc_3339_do_not_depend_on_the_clock(micros in time::MIN.0..=time::MAX.0) {
            let text = time::format(Micros(micros)).unwrap();
            prop_assert_eq!(parse_phrase(&text, &clock()).unwrap(), NamedTime::instant(Micros(micros)));
        }
    }
}
