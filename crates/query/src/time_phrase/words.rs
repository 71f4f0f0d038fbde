//! English words of time, and a text as tokens.

use jiff::Span;
use jiff::civil::Weekday;

use super::calendar::Problem;

/// A unit of a span of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    Second,
    Minute,
    Hour,
    Day,
    Week,
    Month,
    Quarter,
    Year,
}

impl Unit {
    pub(super) fn of(word: &str) -> Option<Self> {
        Some(match word {
            "s" | "sec" | "secs" | "second" | "seconds" => Self::Second,
            "m" | "min" | "mins" | "minute" | "minutes" => Self::Minute,
            "h" | "hr" | "hrs" | "hour" | "hours" => Self::Hour,
            "d" | "day" | "days" => Self::Day,
            "w" | "week" | "weeks" => Self::Week,
            "month" | "months" => Self::Month,
            "quarter" | "quarters" => Self::Quarter,
            "y" | "year" | "years" => Self::Year,
            _ => return None,
        })
    }

    pub(super) fn span(self, count: i64) -> Result<Span, Problem> {
        let span = Span::new();
        let span = match self {
            Self::Second => span.try_seconds(count),
            Self::Minute => span.try_minutes(count),
            Self::Hour => span.try_hours(count),
            Self::Day => span.try_days(count),
            Self::Week => span.try_weeks(count),
            Self::Month => span.try_months(count),
            Self::Quarter => span.try_months(count.saturating_mul(3)),
            Self::Year => span.try_years(count),
        };
        span.map_err(|_| Problem::Range)
    }
}

pub(super) fn number_word(word: &str) -> Option<i64> {
    const WORDS: [&str; 13] = [
        "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
        "eleven", "twelve",
    ];
    match word {
        "a" | "an" => Some(1),
        "couple" => Some(2),
        "few" => Some(3),
        _ => {
            let found = WORDS.iter().position(|known| *known == word)?;
            i64::try_from(found).ok()
        }
    }
}

pub(super) fn month_number(word: &str) -> Option<i16> {
    const MONTHS: [&str; 12] = [
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
    ];
    let is_named = |month: &&str| **month == *word || word.len() == 3 && month.starts_with(word);
    let found = MONTHS.iter().position(is_named);
    let found = found.or_else(|| (word == "sept").then_some(8))?;
    i16::try_from(found + 1).ok()
}

pub(super) fn weekday(word: &str) -> Option<Weekday> {
    const DAYS: [(&str, Weekday); 7] = [
        ("monday", Weekday::Monday),
        ("tuesday", Weekday::Tuesday),
        ("wednesday", Weekday::Wednesday),
        ("thursday", Weekday::Thursday),
        ("friday", Weekday::Friday),
        ("saturday", Weekday::Saturday),
        ("sunday", Weekday::Sunday),
    ];
    let is_short = |day: &str| {
        word.len() == 3 && day.starts_with(word)
            || ["tues", "thur", "thurs"].contains(&word) && day.starts_with(word)
    };
    let found = DAYS.iter().find(|(day, _)| *day == word || is_short(day));
    found.map(|(_, day)| *day)
}

/// The one that a weekday, a month or a unit means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Occurrence {
    Last,
    This,
    Next,
}

impl Occurrence {
    pub(super) fn of(word: &str) -> Option<Self> {
        Some(match word {
            "last" | "past" | "previous" => Self::Last,
            "this" | "current" => Self::This,
            "next" | "coming" => Self::Next,
            _ => return None,
        })
    }

    pub(super) fn step(self) -> i64 {
        match self {
            Self::Last => -1,
            Self::This => 0,
            Self::Next => 1,
        }
    }
}

/// A word, a number with its suffix, or a sign.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Token<'a> {
    Word(&'a str),
    /// Digits and the letters that follow at once.
    Number(&'a str, &'a str),
    Sign(char),
}

pub(super) fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = |of: &str, is: fn(char) -> bool| of.find(|c| !is(c)).unwrap_or(of.len());
        let taken = if first.is_ascii_digit() {
            let digits = length(rest, |c| c.is_ascii_digit());
            let letters = length(&rest[digits..], |c| c.is_ascii_alphabetic());
            tokens.push(Token::Number(
                &rest[..digits],
                &rest[digits..digits + letters],
            ));
            digits + letters
        } else if first.is_alphabetic() {
            let letters = length(rest, |c| c.is_alphabetic() || c == '\'');
            tokens.push(Token::Word(&rest[..letters]));
            letters
        } else {
            if !first.is_whitespace() {
                tokens.push(Token::Sign(first));
            }
            first.len_utf8()
        };
        rest = &rest[taken..];
    }
    tokens
}
