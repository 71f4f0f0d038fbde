//! English dates and times, in any order of their parts.

use jiff::Span;
use jiff::ToSpan;
use jiff::civil::{Date, Weekday};
use jiff::tz::TimeZone;

use super::calendar::{
    Clock, NamedTime, Precision, Problem, after, date, day_span, instant, month_span, year_span,
};
use super::relative::{relative, unit_span};
use super::scanner::Scanner;
use super::time_of_day::{TimeOfDay, Zone};
use super::words::{Occurrence, Token, Unit, month_number, tokens, weekday};

/// Parts of a day, by their first and last hour (exclusive).
pub(super) const MORNING: (i8, i8) = (6, 12);

pub(super) const AFTERNOON: (i8, i8) = (12, 18);

pub(super) const EVENING: (i8, i8) = (18, 24);

/// What an English text says, part by part.
#[derive(Debug, Default)]
pub(super) struct English {
    year: Option<i16>,
    month: Option<i16>,
    day: Option<i16>,
    weekday: Option<Weekday>,
    occurrence: Option<Occurrence>,
    unit: Option<Unit>,
    /// Days from today.
    days: Option<i64>,
    part: Option<(i8, i8)>,
    is_night: bool,
    time: Option<TimeOfDay>,
    zone: Option<TimeZone>,
    date: Option<Date>,
}

impl English {
    pub(super) fn read(text: &str, clock: &Clock) -> Result<NamedTime, Problem> {
        let lower = text.to_lowercase();
        if lower == "now" || lower == "right now" {
            return Ok(NamedTime::instant(clock.now()?));
        }
        if let Some(relative) = relative(&lower, clock) {
            return relative;
        }
        let mut parts = Self::default();
        let mut scanner = Scanner::new(&lower);
        while parts.next(&mut scanner, clock)? {}
        parts.resolve(clock)
    }

    /// Reads one part; false at the end of the text.
    pub(super) fn next(
        &mut self,
        scanner: &mut Scanner<'_>,
        clock: &Clock,
    ) -> Result<bool, Problem> {
        scanner.skip_spaces();
        let tokens = tokens(scanner.rest());
        let Some(first) = tokens.first() else {
            return Ok(false);
        };
        match *first {
            Token::Sign(',' | '(' | ')' | '.') => {
                scanner.one_of(",().");
            }
            Token::Sign('+' | '-' | '[') if self.time.is_some() => {
                self.zone = Some(Zone::read(scanner, clock)?);
            }
            Token::Sign(sign) => return Err(Problem::Word(sign.to_string())),
            Token::Word(word) => {
                scanner.advance(word.len());
                self.word(word, scanner)?;
            }
            Token::Number(digits, suffix) => self.number(digits, suffix, &tokens[1..], scanner)?,
        }
        Ok(true)
    }

    pub(super) fn word(&mut self, word: &str, scanner: &mut Scanner<'_>) -> Result<(), Problem> {
        let following = |scanner: &mut Scanner<'_>, words: &str| {
            let rest = scanner.rest().trim_start();
            match rest.strip_prefix(words) {
                Some(after) if !after.starts_with(char::is_alphanumeric) => {
                    scanner.skip_to(after);
                    true
                }
                _ => false,
            }
        };
        match word {
            "on" | "at" | "of" | "in" | "the" | "around" | "about" | "since" | "from" => Ok(()),
            "day" if following(scanner, "before yesterday") => set(&mut self.days, -2),
            "day" if following(scanner, "after tomorrow") => set(&mut self.days, 2),
            "today" => set(&mut self.days, 0),
            "yesterday" => set(&mut self.days, -1),
            "tomorrow" => set(&mut self.days, 1),
            "tonight" => {
                set(&mut self.days, 0)?;
                set(&mut self.part, EVENING)
            }
            "morning" => set(&mut self.part, MORNING),
            "afternoon" => set(&mut self.part, AFTERNOON),
            "evening" => set(&mut self.part, EVENING),
            "night" => {
                self.is_night = true;
                set(&mut self.part, EVENING)
            }
            "noon" | "midnight" => {
                let hour = if word == "noon" { 12 } else { 0 };
                set(&mut self.time, TimeOfDay::hour(hour))
            }
            "utc" | "gmt" | "ut" | "z" if self.time.is_some() => set(&mut self.zone, TimeZone::UTC),
            _ => {
                if let Some(occurrence) = Occurrence::of(word) {
                    set(&mut self.occurrence, occurrence)
                } else if let Some(month) = month_number(word) {
                    set(&mut self.month, month)
                } else if let Some(day) = weekday(word) {
                    set(&mut self.weekday, day)
                } else if let Some(unit) = Unit::of(word).filter(|_| self.occurrence.is_some()) {
                    set(&mut self.unit, unit)
                } else {
                    Err(Problem::Word(word.to_owned()))
                }
            }
        }
    }

    pub(super) fn number(
        &mut self,
        digits: &str,
        suffix: &str,
        rest: &[Token<'_>],
        scanner: &mut Scanner<'_>,
    ) -> Result<(), Problem> {
        let is_ordinal = ["st", "nd", "rd", "th"].contains(&suffix);
        let is_half = |word: &str| ["am", "pm", "a", "p"].contains(&word);
        let is_time = match rest.first() {
            Some(Token::Sign(':')) => suffix.is_empty(),
            Some(Token::Word(word)) => suffix.is_empty() && is_half(word),
            _ => false,
        } || is_half(suffix);
        if is_time && digits.len() <= 2 {
            let time = TimeOfDay::read(scanner)?;
            return set(&mut self.time, time);
        }
        if let [
            Token::Sign(sign @ ('/' | '.' | '-')),
            Token::Number(second, ""),
            Token::Sign(same),
            Token::Number(third, third_suffix),
            ..,
        ] = rest
            && sign == same
            && third_suffix.is_empty()
            && suffix.is_empty()
        {
            scanner.advance(digits.len() + second.len() + third.len() + 2);
            return set(&mut self.date, numeric_date(digits, second, third, *sign)?);
        }
        scanner.advance(digits.len() + suffix.len());
        let number = digits
            .parse::<i16>()
            .map_err(|_| Problem::Number(digits.len()))?;
        match digits.len() {
            4 if suffix.is_empty() => set(&mut self.year, number),
            1 | 2 if suffix.is_empty() || is_ordinal => set(&mut self.day, number),
            _ => Err(Problem::Word(format!("{digits}{suffix}"))),
        }
    }

    pub(super) fn resolve(self, clock: &Clock) -> Result<NamedTime, Problem> {
        let zone = || self.zone.as_ref().map_or_else(|| clock.zone(), Ok);
        if let (Some(unit), Some(occurrence)) = (self.unit, self.occurrence) {
            return self
                .is_unit_alone()
                .then_some(())
                .ok_or(Problem::Form)
                .and_then(|()| unit_span(unit, occurrence, &clock.zoned()?));
        }
        // A whole date says the same on every day.
        let is_whole = self.date.is_some() || self.month.is_some() && self.year.is_some();
        let today = match is_whole && self.days.is_none() {
            true => Date::ZERO,
            false => clock.zoned()?.date(),
        };
        let day = self.day_named(today)?;
        let Some(date) = day else {
            return match (self.month, self.year) {
                (Some(month), year) if self.part.is_none() && self.time.is_none() => {
                    let year =
                        year.map_or_else(|| recent_year(month, self.occurrence, today), Ok)?;
                    month_span(year, month, clock)
                }
                (None, Some(year)) if self.part.is_none() && self.time.is_none() => {
                    year_span(year, clock)
                }
                _ => Err(Problem::Form),
            };
        };
        if let Some(time) = self.time {
            return time.on(date, zone()?);
        }
        let Some((from, to)) = self.part else {
            return day_span(date, clock);
        };
        let zone = zone()?;
        let start = instant(date.at(from, 0, 0, 0), zone)?;
        let end = match to {
            // A night ends in the morning.
            _ if self.is_night => instant(after(date, 1.day())?.at(MORNING.0, 0, 0, 0), zone)?,
            24 => instant(after(date, 1.day())?.at(0, 0, 0, 0), zone)?,
            to => instant(date.at(to, 0, 0, 0), zone)?,
        };
        Ok(NamedTime {
            at: start,
            start,
            end,
            precision: Precision::Hour,
        })
    }

    pub(super) fn is_unit_alone(&self) -> bool {
        let has_day = self.year.is_some()
            || self.month.is_some()
            || self.day.is_some()
            || self.days.is_some();
        !has_day
            && self.weekday.is_none()
            && self.date.is_none()
            && self.time.is_none()
            && self.part.is_none()
    }

    /// The day that the text names, if it names one.
    pub(super) fn day_named(&self, today: Date) -> Result<Option<Date>, Problem> {
        let forms = [self.date.is_some(), self.days.is_some(), self.day.is_some()];
        if forms.iter().filter(|is| **is).count() > 1 {
            return Err(Problem::Form);
        }
        if let Some(date) = self.date {
            return Ok(Some(date));
        }
        if let Some(days) = self.days {
            return after(today, Span::new().days(days)).map(Some);
        }
        if let Some(day) = self.day {
            let month = self.month.ok_or(Problem::Form)?;
            let Some(year) = self.year else {
                return recent_date(month, day, self.occurrence, today).map(Some);
            };
            return date(year, month, day).map(Some);
        }
        if let Some(weekday) = self.weekday {
            if self.month.is_some() || self.year.is_some() {
                return Err(Problem::Form);
            }
            return weekday_named(weekday, self.occurrence, today).map(Some);
        }
        if self.month.is_some() || self.year.is_some() {
            return Ok(None);
        }
        match (self.part, self.occurrence) {
            // "this morning", "last night", "next evening"; a part of the day or a time alone is today's.
            (Some(_), Some(occurrence)) => {
                after(today, Span::new().days(occurrence.step())).map(Some)
            }
            (_, None) if self.part.is_some() || self.time.is_some() => Ok(Some(today)),
            _ => Ok(None),
        }
    }
}

pub(super) fn set<T>(place: &mut Option<T>, value: T) -> Result<(), Problem> {
    if place.is_some() {
        return Err(Problem::Form);
    }
    *place = Some(value);
    Ok(())
}

/// D.M.YYYY, and D/M/YYYY or M/D/YYYY where only one can be meant.
pub(super) fn numeric_date(
    first: &str,
    second: &str,
    third: &str,
    sign: char,
) -> Result<Date, Problem> {
    if third.len() != 4 || first.len() > 2 || second.len() > 2 {
        return Err(Problem::Form);
    }
    let number = |digits: &str| digits.parse::<i16>().map_err(|_| Problem::Form);
    let (first, second, year) = (number(first)?, number(second)?, number(third)?);
    let day_first = date(year, second, first);
    if sign == '.' {
        return day_first;
    }
    match (day_first, date(year, first, second)) {
        (Ok(day_first), Ok(month_first)) if day_first != month_first => {
            Err(Problem::Ambiguous(day_first, month_first))
        }
        (Ok(date), _) | (_, Ok(date)) => Ok(date),
        (Err(why), _) => Err(why),
    }
}

/// The year of the most recent such month, or of the one before or after this.
pub(super) fn recent_year(
    month: i16,
    occurrence: Option<Occurrence>,
    today: Date,
) -> Result<i16, Problem> {
    let (year, this) = (today.year(), i16::from(today.month()));
    let step = match occurrence {
        Some(Occurrence::This) => 0,
        Some(Occurrence::Next) => i16::from(month <= this),
        Some(Occurrence::Last) => -i16::from(month >= this),
        None => -i16::from(month > this),
    };
    year.checked_add(step).ok_or(Problem::Range)
}

pub(super) fn recent_date(
    month: i16,
    day: i16,
    occurrence: Option<Occurrence>,
    today: Date,
) -> Result<Date, Problem> {
    let is_after = (month, day) > (i16::from(today.month()), i16::from(today.day()));
    let step = match occurrence {
        Some(Occurrence::This) => 0,
        Some(Occurrence::Next) => i16::from(!is_after),
        Some(Occurrence::Last) | None => -i16::from(is_after),
    };
    date(today.year() + step, month, day)
}

pub(super) fn weekday_named(
    weekday: Weekday,
    occurrence: Option<Occurrence>,
    today: Date,
) -> Result<Date, Problem> {
    let since = i64::from(today.weekday().since(weekday));
    let days = match occurrence {
        Some(Occurrence::Last) if since == 0 => -7,
        Some(Occurrence::Last) | None => -since,
        Some(Occurrence::Next) => 7 - since,
        // Of the week that began on Monday.
        Some(Occurrence::This) => {
            i64::from(weekday.to_monday_zero_offset())
                - i64::from(today.weekday().to_monday_zero_offset())
        }
    };
    after(today, Span::new().days(days))
}
