//! Times as people write and read them, in their zone; moments are times or LSNs.
//!
//! The zone is UTC if asked for (`--utc`, `AMEM_UTC`), else that of `TZ`, of amemd's settings (`zone`), or of the
//! machine. Text output shows local times, with their offset where they stand alone; JSON is in UTC. Recent times are
//! shown as an age.

use std::env;
use std::ffi::OsString;
use std::sync::OnceLock;
use std::time::{SystemTime, UNIX_EPOCH};

use amem_client::{Timestamp, v1};
use amem_format::view::{AsOf, View};
use amem_format::{Lsn, Micros};
use amem_query::filter::Filter;
use amem_query::time;
use amem_query::time_phrase::{Clock, parse_phrase, zone_named};
use jiff::tz::TimeZone;
use jiff::{Timestamp as Instant, Zoned};

use crate::connection::settings::DaemonSettings;
use crate::failure::Failure;

pub(crate) const HELP: &str = "Times: 2026-05-01T12:00:00Z, \"2026-05-01 12:00\", 2026-05-01, 2026-05, 2026, now, today, yesterday,
\"2 days ago\", \"last Tuesday\", \"8 May 2026, 1:56 pm\", or seconds or milliseconds since 1970. A time without an
offset is local (TZ), or in UTC with --utc. A moment (--as-of) is a time or an LSN.";

const SECOND: i64 = 1_000_000;
const MINUTE: i64 = 60 * SECOND;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;
/// Older times are shown as dates.
const AGO_MAX: i64 = 14 * DAY;
/// The flag for UTC instead of the local zone.
const UTC_FLAG: &str = "--utc";
const UTC_VARIABLE: &str = "AMEM_UTC";

static ZONE: OnceLock<TimeZone> = OnceLock::new();

/// Chooses the zone of this process before times on the command line are read. Returns a note if the machine's zone is
/// unknown.
pub(crate) fn choose_zone(arguments: &[OsString]) -> Option<String> {
    let is_set = env::var_os(UTC_VARIABLE).is_some_and(|value| !value.is_empty() && value != "0");
    // Behind `--` stands a text.
    let mut options = arguments.iter().take_while(|argument| *argument != "--");
    let is_utc = is_set || options.any(|argument| argument == UTC_FLAG);
    let (zone, note) = match is_utc {
        true => (TimeZone::UTC, None),
        false => local_zone(),
    };
    // The first choice stays.
    let _chosen = ZONE.set(zone);
    note
}

/// The zone of the user, and a note if it is not the one that they named.
fn local_zone() -> (TimeZone, Option<String>) {
    let is_named = env::var_os("TZ").is_some_and(|zone| !zone.is_empty());
    let named = (!is_named)
        .then(|| DaemonSettings::of_process().zone)
        .flatten();
    let settings = named.map(|name| zone_named(&name));
    let system = |note: Option<String>| match TimeZone::try_system() {
        Ok(zone) => (zone, note),
        Err(why) => {
            let note = format!("the local time zone is unknown, times are in UTC: {why}");
            (TimeZone::UTC, Some(note))
        }
    };
    match settings {
        Some(Ok(zone)) => (zone, None),
        Some(Err(why)) => system(Some(format!(
            "zone in amemd's settings: {why}; times are those of the machine's zone"
        ))),
        None => system(None),
    }
}

/// UTC until the zone is chosen: arguments may be read before, to see which of them is a text.
fn zone() -> &'static TimeZone {
    static BEFORE: TimeZone = TimeZone::UTC;
    ZONE.get().unwrap_or(&BEFORE)
}

/// The zone.
pub(crate) fn time_zone() -> TimeZone {
    zone().clone()
}

/// What relative and local times refer to.
pub(crate) fn clock() -> Clock {
    Clock::new(now(), zone().clone())
}

/// The zone's name for a request; its offset now, if it has no name.
pub(crate) fn zone_name() -> String {
    let zone = zone();
    if let Some(name) = zone.iana_name() {
        return name.to_owned();
    }
    let offset = zone.to_offset(Instant::now()).seconds();
    let sign = if offset < 0 { '-' } else { '+' };
    let minutes = offset.abs() / 60;
    format!("{sign}{:02}:{:02}", minutes / 60, minutes % 60)
}

pub(crate) fn now() -> Micros {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    // A clock before 1970 is wrong anyway.
    Micros(since.map_or(1, |since| {
        i64::try_from(since.as_micros()).unwrap_or(i64::MAX)
    }))
}

pub(crate) fn parse_time(text: &str) -> Result<Micros, String> {
    parse_at(text, &clock())
}

fn parse_at(text: &str, clock: &Clock) -> Result<Micros, String> {
    let named = parse_phrase(text, clock).map_err(|e| e.to_string())?;
    Ok(named.at)
}

/// The filter with its days and relative times as instants: amemctl's clock and zone are the user's, not the daemon's.
/// Texts that mean the same everywhere, and those that are no filters, stay as they are.
pub(crate) fn resolve_filter(json: &str) -> String {
    resolve_filter_at(json, &clock()).unwrap_or_else(|| json.to_owned())
}

fn resolve_filter_at(json: &str, clock: &Clock) -> Option<String> {
    let value = serde_json::from_str(json).ok()?;
    if Filter::parse(&value).is_ok() {
        return None;
    }
    let filter = Filter::parse_at(&value, clock).ok()?;
    Some(filter.to_json().to_string())
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

/// The nearest time that amemctl can show.
pub(crate) fn micros_of(time: Timestamp) -> Micros {
    let whole = time.seconds.saturating_mul(SECOND);
    Micros(whole.saturating_add(i64::from(time.nanos) / 1000))
}

/// `short` of a message's time; empty without one.
pub(crate) fn short_of(time: Option<Timestamp>) -> String {
    time.map_or_else(String::new, |time| short(micros_of(time)))
}

/// `short` of a message's time; a dash without one.
pub(crate) fn short_or_dash(time: Option<Timestamp>) -> String {
    time.map_or_else(|| "-".to_owned(), |time| short(micros_of(time)))
}

/// `long` of a message's time; empty without one.
pub(crate) fn long_of(time: Option<Timestamp>) -> String {
    time.map_or_else(String::new, |time| long(micros_of(time)))
}

/// In tables: an age, or the local date of an old time.
pub(crate) fn short(time: Micros) -> String {
    short_at(time, now(), zone())
}

/// Alone on a line: exact, with the age of a recent time.
pub(crate) fn long(time: Micros) -> String {
    let exact = exact(time);
    match ago(time, now()) {
        Some(ago) => format!("{exact} ({ago})"),
        None => exact,
    }
}

/// RFC 3339 with the local offset.
pub(crate) fn exact(time: Micros) -> String {
    exact_in(time, zone())
}

fn exact_in(time: Micros, zone: &TimeZone) -> String {
    let Some(local) = local(time, zone) else {
        return time::display(time).to_string();
    };
    let pattern = if time.0.rem_euclid(SECOND) == 0 {
        "%Y-%m-%dT%H:%M:%S"
    } else {
        "%Y-%m-%dT%H:%M:%S%.6f"
    };
    let text = local.strftime(pattern).to_string();
    if local.offset().is_zero() {
        format!("{text}Z")
    } else {
        format!("{text}{}", local.strftime("%:z"))
    }
}

/// The local day, as 2026-03-02.
pub(crate) fn day(time: Micros) -> String {
    formatted(time, zone(), "%Y-%m-%d", 0..10)
}

/// Local hours and minutes.
pub(crate) fn hour_and_minute(time: Micros) -> String {
    formatted(time, zone(), "%H:%M", 11..16)
}

/// Local hours, minutes, seconds.
pub(crate) fn time_of_day(time: Micros) -> String {
    formatted(time, zone(), "%H:%M:%S", 11..19)
}

/// The time in a zone; `None` in years that have no name.
fn local(time: Micros, zone: &TimeZone) -> Option<Zoned> {
    let instant = Instant::from_microsecond(time.0).ok()?;
    let zoned = instant.to_zoned(zone.clone());
    (0..=9999).contains(&zoned.year()).then_some(zoned)
}

/// `part` is that of RFC 3339, for times that have no local form.
fn formatted(time: Micros, zone: &TimeZone, pattern: &str, part: std::ops::Range<usize>) -> String {
    match local(time, zone) {
        Some(local) => local.strftime(pattern).to_string(),
        None => time::display(time)
            .to_string()
            .get(part)
            .unwrap_or_default()
            .to_owned(),
    }
}

fn short_at(time: Micros, now: Micros, zone: &TimeZone) -> String {
    // Seconds do not matter after two weeks.
    ago(time, now).unwrap_or_else(|| formatted(time, zone, "%Y-%m-%d %H:%M", 0..16))
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
            "05/08/2023",
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

    fn los_angeles() -> Clock {
        Clock::new(friday(), california())
    }

    /// In Los Angeles it is Thursday, 16:05.
    fn friday() -> Micros {
        time::parse("2026-03-06T00:05:00Z").unwrap()
    }

    fn california() -> TimeZone {
        TimeZone::get("America/Los_Angeles").unwrap()
    }

    #[test]
    fn times_of_a_filter_are_sent_as_instants() {
        let resolved = |json: &str| resolve_filter_at(json, &los_angeles());
        let today = resolved(r#"{"happened_at": "today"}"#).unwrap();
        assert!(today.contains("2026-03-05T08:00:00Z"), "{today}");
        assert!(today.contains("2026-03-06T08:00:00Z"), "{today}");
        let since = resolved(r#"{"created_at": {"gte": "2 hours ago"}}"#).unwrap();
        assert!(since.contains("2026-03-05T22:05:00Z"), "{since}");
        for same in [
            r#"{"created_at": {"gte": "2026-03-05T08:00:00Z"}}"#,
            r#"{"speaker": "today"}"#,
            r#"{"created_at": "some day"}"#,
            "{",
        ] {
            assert_eq!(resolved(same), None, "{same}");
        }
    }

    #[test]
    fn days_and_times_are_local() {
        let check = |text: &str, expected: &str| {
            let time = parse_at(text, &los_angeles()).unwrap();
            assert_eq!(exact_in(time, &california()), expected, "{text}");
        };
        check("now", "2026-03-05T16:05:00-08:00");
        check("today", "2026-03-05T00:00:00-08:00");
        check("yesterday", "2026-03-04T00:00:00-08:00");
        check("2026-03-01 12:30", "2026-03-01T12:30:00-08:00");
        check("2026-03-01T12:30:00Z", "2026-03-01T04:30:00-08:00");
        check("2026-07-01", "2026-07-01T00:00:00-07:00");
        check("1 day, 2 hours ago", "2026-03-04T14:05:00-08:00");
        let micros = exact_in(Micros(1), &TimeZone::UTC);
        assert_eq!(micros, "1970-01-01T00:00:00.000001Z");
    }

    #[test]
    fn a_recent_time_is_shown_as_its_age() {
        let check = |text: &str, expected: &str| {
            let time = time::parse(text).unwrap();
            assert_eq!(short_at(time, friday(), &california()), expected, "{text}");
        };
        check("2026-03-06T00:04:59.5Z", "just now");
        check("2026-03-06T00:04:59Z", "1 second ago");
        check("2026-03-05T21:35:00Z", "2 hours ago");
        check("2026-03-04T00:05:00Z", "2 days ago");
        check("2026-01-01T00:00:00Z", "2025-12-31 16:00");
        check("2026-03-06T00:05:01Z", "2026-03-05 16:05");
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
