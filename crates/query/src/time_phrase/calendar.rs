//! Days, months and years of a zone as instants.

use amem_format::attributes::json_path::shortened;
use amem_format::error::{Error, Result};
use amem_format::types::Micros;
use jiff::civil::{Date, DateTime, Time};
use jiff::fmt::temporal::DateTimeParser;
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp, ToSpan, Zoned};

use crate::time::{MAX, MIN, display};

pub(super) const SECOND: i64 = 1_000_000;
/// Bytes of the name of a zone.
pub const ZONE_BYTES_MAX: usize = 128;

/// What relative times and times without a zone refer to, as far as it is known.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Clock {
    now: Option<Micros>,
    zone: Option<TimeZone>,
}

impl Clock {
    /// A clock in a zone.
    pub fn new(now: Micros, zone: TimeZone) -> Self {
        Self::known(Some(now), Some(zone))
    }

    /// The same clock, in UTC if its zone is unknown: for days that need not be exact.
    pub fn or_utc(&self) -> Self {
        let zone = self.zone.clone().or(Some(TimeZone::UTC));
        Self::known(self.now, zone)
    }

    /// A clock of which a part may be unknown: texts that need that part are refused.
    pub fn known(now: Option<Micros>, zone: Option<TimeZone>) -> Self {
        Self { now, zone }
    }

    /// A clock in UTC.
    pub fn utc(now: Micros) -> Self {
        Self::new(now, TimeZone::UTC)
    }

    /// The present, if it is known.
    pub(crate) fn present(&self) -> Option<Micros> {
        self.now
    }

    /// A time's day and minute in the clock's zone: `2026-03-01 09:30`; without one `2026-03-01 08:30 UTC`. Times
    /// outside the years of the calendar are shown in UTC, with the sign of their year.
    pub fn minute_of(&self, time: Micros) -> String {
        match (self.of(time), &self.zone) {
            (Some(zoned), Some(_)) => zoned.strftime("%Y-%m-%d %H:%M").to_string(),
            (Some(zoned), None) => zoned.strftime("%Y-%m-%d %H:%M UTC").to_string(),
            (None, _) => display(time).to_string(),
        }
    }

    /// A time's day, like `minute_of`: `2026-03-01`.
    pub fn day_of(&self, time: Micros) -> String {
        match self.of(time) {
            Some(zoned) => zoned.strftime("%Y-%m-%d").to_string(),
            None => {
                let shown = display(time).to_string();
                let day = shown.split('T').next().unwrap_or_default();
                day.to_owned()
            }
        }
    }

    fn of(&self, time: Micros) -> Option<Zoned> {
        if !(MIN..=MAX).contains(&time) {
            return None;
        }
        let zone = self.zone.clone().unwrap_or(TimeZone::UTC);
        let timestamp = Timestamp::from_microsecond(time.0).ok()?;
        Some(timestamp.to_zoned(zone))
    }

    pub(super) fn now(&self) -> Result<Micros, Problem> {
        self.now.ok_or(Problem::NoNow)
    }

    /// The zone of days and of times without an offset.
    pub(super) fn zone(&self) -> Result<&TimeZone, Problem> {
        self.zone.as_ref().ok_or(Problem::NoZone)
    }

    pub(super) fn zoned(&self) -> Result<Zoned, Problem> {
        let timestamp = Timestamp::from_microsecond(self.now()?.0).map_err(|_| Problem::Range)?;
        Ok(timestamp.to_zoned(self.zone()?.clone()))
    }
}

/// The zone of a name: of the tz database (`Europe/Berlin`), `UTC`, an offset (`+01:00`), or a rule of POSIX.
pub fn zone_named(name: &str) -> Result<TimeZone> {
    let is_short = !name.is_empty() && name.len() <= ZONE_BYTES_MAX;
    let found = is_short.then(|| DateTimeParser::new().parse_time_zone(name).ok());
    found.flatten().ok_or_else(|| {
        let name = shortened(name);
        let why = format!("{name:?} is not known here; write it as Europe/Berlin, UTC or +01:00");
        Error::invalid("time zone", why)
    })
}

/// How exact a text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Precision {
    /// To the second or better.
    Instant,
    /// A minute, an hour, or a part of a day.
    Hour,
    /// A day.
    Day,
    /// A week, from Monday.
    Week,
    /// A month.
    Month,
    /// A year.
    Year,
}

/// The time that a text names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NamedTime {
    /// The one instant to use where one is needed: the first of the span, or "2 days ago" to the second.
    pub at: Micros,
    /// The first instant of the span.
    pub start: Micros,
    /// The end of the span, exclusive; `start` if the text names an instant.
    pub end: Micros,
    /// How exact the text is.
    pub precision: Precision,
}

impl NamedTime {
    pub(super) fn instant(at: Micros) -> Self {
        Self {
            at,
            start: at,
            end: at,
            precision: Precision::Instant,
        }
    }
}

/// Problem a text is not a time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Problem {
    Form,
    Word(String),
    Impossible(&'static str),
    Ambiguous(Date, Date),
    Range,
    Number(usize),
    /// The text is relative, and the clock has no present.
    NoNow,
    /// The text has no offset, and the clock has no zone.
    NoZone,
}

pub(super) fn date(year: i16, month: i16, day: i16) -> Result<Date, Problem> {
    let month = i8::try_from(month).ok().filter(|m| (1..=12).contains(m));
    let month = month.ok_or(Problem::Impossible("month"))?;
    let day = i8::try_from(day).map_err(|_| Problem::Impossible("day"))?;
    Date::new(year, month, day).map_err(|_| Problem::Impossible("day"))
}

pub(super) fn checked(micros: i64) -> Result<Micros, Problem> {
    let time = Micros(micros);
    if (MIN..=Micros(MAX.0 + 1)).contains(&time) {
        Ok(time)
    } else {
        Err(Problem::Range)
    }
}

pub(super) fn instant(at: DateTime, zone: &TimeZone) -> Result<Micros, Problem> {
    // Compatible: the later time in a gap, the earlier in an overlap, as RFC 5545 has it.
    let zoned = at.to_zoned(zone.clone()).map_err(|_| Problem::Range)?;
    checked(zoned.timestamp().as_microsecond())
}

/// From midnight of one day to midnight of another.
pub(super) fn days_span(
    from: Date,
    to: Date,
    precision: Precision,
    zone: &TimeZone,
) -> Result<NamedTime, Problem> {
    let start = instant(from.to_datetime(Time::midnight()), zone)?;
    let end = instant(to.to_datetime(Time::midnight()), zone)?;
    Ok(NamedTime {
        at: start,
        start,
        end,
        precision,
    })
}

pub(super) fn after(date: Date, span: Span) -> Result<Date, Problem> {
    date.checked_add(span).map_err(|_| Problem::Range)
}

pub(super) fn day_span(from: Date, clock: &Clock) -> Result<NamedTime, Problem> {
    let to = after(from, 1.day())?;
    days_span(from, to, Precision::Day, clock.zone()?)
}

pub(super) fn month_span(year: i16, month: i16, clock: &Clock) -> Result<NamedTime, Problem> {
    let from = date(year, month, 1)?;
    let to = after(from, 1.month())?;
    days_span(from, to, Precision::Month, clock.zone()?)
}

pub(super) fn year_span(year: i16, clock: &Clock) -> Result<NamedTime, Problem> {
    let from = date(year, 1, 1)?;
    let to = after(from, 1.year())?;
    days_span(from, to, Precision::Year, clock.zone()?)
}
