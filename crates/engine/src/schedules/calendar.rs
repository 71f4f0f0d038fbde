//! Schedules by the calendar of a zone: `daily 03:00` is at three o'clock there, in summer and in winter.
//!
//! Promises: one run a day or a week. A time of day that a change to daylight saving time skips is as much later as the
//! clock was set; of one that comes twice, the first counts.

use amem_format::Micros;
use amem_format::base::schedule::Schedule;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};

/// Days in which the next time must be: a week, and the days around it.
const DAYS_MAX: i32 = 9;

/// The next due time in a zone; `None` for `off`. As `Schedule::next`, which it equals for intervals.
pub(super) fn next(
    schedule: Schedule,
    last: Option<Micros>,
    since: Micros,
    zone: &TimeZone,
) -> Option<Micros> {
    let found = match schedule {
        Schedule::Off | Schedule::Every(_) => None,
        Schedule::Daily(minute) => after(last.unwrap_or(since), None, minute, zone),
        Schedule::Weekly(day, minute) => after(last.unwrap_or(since), Some(day), minute, zone),
    };
    // Times that the calendar does not have count in UTC.
    found.or_else(|| schedule.next(last, since))
}

/// The first time after `from` at a minute of the day, on a day of the week as `Schedule` counts them.
fn after(from: Micros, day: Option<u8>, minute: u32, zone: &TimeZone) -> Option<Micros> {
    let local = Timestamp::from_microsecond(from.0).ok()?;
    let first = local.to_zoned(zone.clone()).date().yesterday().ok()?;
    let (hour, minute) = ((minute / 60) as i8, (minute % 60) as i8);
    let times = (0..=DAYS_MAX).filter_map(|days| {
        let date = first.checked_add(days.days()).ok()?;
        if day.is_some_and(|day| day != day_of_week(date)) {
            return None;
        }
        let at = date.at(hour, minute, 0, 0).to_zoned(zone.clone()).ok()?;
        Some(Micros(at.timestamp().as_microsecond()))
    });
    times.filter(|at| *at > from).min()
}

/// Days since a Thursday, as 1970-01-01 was.
fn day_of_week(date: Date) -> u8 {
    const THURSDAY: i8 = 3;
    (date.weekday().to_monday_zero_offset() - THURSDAY).rem_euclid(7) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Micros {
        amem_query::time::parse(text).unwrap()
    }

    #[track_caller]
    fn check(zone: &str, schedule: &str, last: &str, expected: &[&str]) {
        let zone = amem_query::time_phrase::zone_named(zone).unwrap();
        let schedule: Schedule = schedule.parse().unwrap();
        let mut last = at(last);
        for expected in expected {
            last = next(schedule, Some(last), last, &zone).unwrap();
            assert_eq!(last, at(expected), "{schedule} after {expected}");
        }
    }

    #[test]
    fn a_time_of_day_is_that_of_the_zone_in_summer_and_in_winter() {
        // Berlin changes to +02:00 on 29 March 2026.
        let expected = [
            "2026-03-28T02:00:00Z",
            "2026-03-29T01:00:00Z",
            "2026-03-30T01:00:00Z",
        ];
        check(
            "Europe/Berlin",
            "daily 03:00",
            "2026-03-27T12:00:00Z",
            &expected,
        );
        let expected = ["2026-03-29T01:00:00Z", "2026-04-05T01:00:00Z"];
        check(
            "Europe/Berlin",
            "weekly sun 03:00",
            "2026-03-27T12:00:00Z",
            &expected,
        );
        let expected = ["2026-03-06T08:00:00Z", "2026-03-07T08:00:00Z"];
        check(
            "America/Los_Angeles",
            "daily 00:00",
            "2026-03-06T00:05:00Z",
            &expected,
        );
        check(
            "+05:30",
            "daily 03:00",
            "2026-03-06T00:05:00Z",
            &["2026-03-06T21:30:00Z"],
        );
    }

    #[test]
    fn a_skipped_time_runs_once_an_hour_later_and_a_doubled_one_once() {
        let expected = [
            "2026-03-28T01:30:00Z",
            "2026-03-29T01:30:00Z",
            "2026-03-30T00:30:00Z",
        ];
        check(
            "Europe/Berlin",
            "daily 02:30",
            "2026-03-27T12:00:00Z",
            &expected,
        );
        // 02:30 at +02:00, and not again at +01:00.
        let expected = [
            "2026-10-24T00:30:00Z",
            "2026-10-25T00:30:00Z",
            "2026-10-26T01:30:00Z",
        ];
        check(
            "Europe/Berlin",
            "daily 02:30",
            "2026-10-23T12:00:00Z",
            &expected,
        );
    }

    #[test]
    fn in_utc_every_schedule_is_as_without_a_zone() {
        for schedule in [
            "daily 03:05",
            "weekly sun 23:59",
            "weekly wed 00:00",
            "every 6h",
            "off",
        ] {
            let schedule: Schedule = schedule.parse().unwrap();
            for hours in (0..24 * 9).step_by(5) {
                let last = Micros(1_700_000_000_000_000 + hours * 3_600_000_000);
                let utc = next(schedule, Some(last), last, &TimeZone::UTC);
                assert_eq!(
                    utc,
                    schedule.next(Some(last), last),
                    "{schedule} after {last}"
                );
            }
            let last = Some(Micros::MAX);
            assert_eq!(
                next(schedule, last, Micros(0), &TimeZone::UTC),
                schedule.next(last, Micros(0))
            );
        }
    }
}
