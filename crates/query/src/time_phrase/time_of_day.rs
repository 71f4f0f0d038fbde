//! Times of day, and the zones behind them.

use jiff::civil::{self, Date, Time};
use jiff::tz::{Offset, TimeZone};

use super::calendar::{Clock, NamedTime, Precision, Problem, SECOND, checked, instant};
use super::scanner::Scanner;

/// A time of day with its precision.
#[derive(Debug, Clone, Copy)]
pub(super) struct TimeOfDay {
    time: Time,
    precision: Precision,
    /// 23:59:60.
    is_leap_second: bool,
}

impl TimeOfDay {
    pub(super) fn hour(hour: i8) -> Self {
        Self {
            time: civil::time(hour, 0, 0, 0),
            precision: Precision::Hour,
            is_leap_second: false,
        }
    }

    /// `H:MM`, `HH:MM:SS`, `HH:MM:SS.fraction`, each with am or pm; `H am`; `HHMM` and `HHMMSS`.
    pub(super) fn read(scanner: &mut Scanner<'_>) -> Result<Self, Problem> {
        let digits = scanner.leading_digits();
        let mut is_leap_second = false;
        let (hour, minute, second, micros, precision) = match digits.len() {
            1 | 2 => {
                let hour = scanner.digits_up_to(2).ok_or(Problem::Form)?;
                if scanner.one_of(":").is_none() {
                    (hour, 0, 0, 0, Precision::Hour)
                } else {
                    let minute = scanner.digits(2).ok_or(Problem::Form)?;
                    if scanner.one_of(":").is_none() {
                        (hour, minute, 0, 0, Precision::Hour)
                    } else {
                        let second = scanner.digits(2).ok_or(Problem::Form)?;
                        let micros = scanner.fraction()?;
                        (hour, minute, second, micros, Precision::Instant)
                    }
                }
            }
            4 => {
                let (hour, minute) = (scanner.digits(2), scanner.digits(2));
                let (hour, minute) = hour.zip(minute).ok_or(Problem::Form)?;
                (hour, minute, 0, 0, Precision::Hour)
            }
            6 => {
                let (hour, minute) = (scanner.digits(2), scanner.digits(2));
                let (hour, minute) = hour.zip(minute).ok_or(Problem::Form)?;
                let second = scanner.digits(2).ok_or(Problem::Form)?;
                (
                    hour,
                    minute,
                    second,
                    scanner.fraction()?,
                    Precision::Instant,
                )
            }
            _ => return Err(Problem::Form),
        };
        let mut hour = hour;
        if let Some(is_afternoon) = scanner.half_of_day() {
            if !(1..=12).contains(&hour) {
                return Err(Problem::Impossible("time of day"));
            }
            hour = hour % 12 + if is_afternoon { 12 } else { 0 };
        }
        let mut second = second;
        if (minute, second) == (59, 60) {
            (second, is_leap_second) = (59, true);
        }
        let time = Time::new(
            hour as i8,
            minute as i8,
            second as i8,
            (micros * 1000) as i32,
        );
        Ok(Self {
            time: time.map_err(|_| Problem::Impossible("time of day"))?,
            precision,
            is_leap_second,
        })
    }

    pub(super) fn on(self, date: Date, zone: &TimeZone) -> Result<NamedTime, Problem> {
        let at = instant(date.to_datetime(self.time), zone)?;
        if self.is_leap_second {
            let next = (at.0.div_euclid(SECOND) + 1) * SECOND;
            return checked(next).map(NamedTime::instant);
        }
        let span = match self.precision {
            Precision::Instant => return Ok(NamedTime::instant(at)),
            _ => 60 * SECOND,
        };
        Ok(NamedTime {
            at,
            start: at,
            end: checked(at.0 + span)?,
            precision: Precision::Hour,
        })
    }
}

/// The zone behind a time.
pub(super) struct Zone;

impl Zone {
    /// `Z`, `UTC`, `GMT`, `+01:00`, `+0100`, `+01`, `[Europe/Berlin]` also behind an offset; none is the clock's.
    pub(super) fn read(scanner: &mut Scanner<'_>, clock: &Clock) -> Result<TimeZone, Problem> {
        let mut zone = None;
        let rest = scanner.rest();
        let word: String = rest.chars().take_while(char::is_ascii_alphabetic).collect();
        if ["z", "utc", "gmt", "ut"].contains(&word.to_ascii_lowercase().as_str()) {
            scanner.letters();
            zone = Some(TimeZone::UTC);
        }
        if let Some(sign) = scanner.one_of("+-\u{2212}") {
            let hours = scanner.digits(2).ok_or(Problem::Form)?;
            let is_divided = scanner.one_of(":").is_some();
            let minutes = match scanner.digits(2) {
                Some(minutes) => minutes,
                None if is_divided => return Err(Problem::Form),
                None => 0,
            };
            if hours > 23 || minutes > 59 {
                return Err(Problem::Impossible("offset"));
            }
            let seconds = i32::from(hours) * 3600 + i32::from(minutes) * 60;
            let offset = Offset::from_seconds(if sign == '+' { seconds } else { -seconds });
            let offset = offset.map_err(|_| Problem::Impossible("offset"))?;
            zone = Some(TimeZone::fixed(offset));
        }
        if scanner.one_of("[").is_some() {
            let name: String = scanner.rest().chars().take_while(|c| *c != ']').collect();
            scanner.advance(name.len());
            scanner.one_of("]").ok_or(Problem::Form)?;
            // An offset says the instant; a name beside it says where that was.
            if zone.is_none() {
                zone = Some(TimeZone::get(&name).map_err(|_| Problem::Impossible("time zone"))?);
            }
        }
        zone.map_or_else(|| clock.zone().cloned(), Ok)
    }
}
