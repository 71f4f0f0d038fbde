//! Times named inside prose: "what did we plan in June 2023", "since last Tuesday".
//!
//! Promises: only what nobody writes otherwise counts as a time: a month with a capital behind a preposition, or
//! beside a number; a weekday by its whole name; a year of four digits. A text without a present (`Clock`) gives the
//! times that need none.

use super::calendar::{Clock, NamedTime, Precision};
use super::parse_phrase;
use super::words::{Unit, month_number, weekday};
use amem_format::types::Micros;

/// Words of the longest time: "on the evening of Tuesday, 29 February 2024".
const WORDS_MAX: usize = 8;
/// Words of a text that are read.
const PROSE_WORDS_MAX: usize = 512;
/// Times that are found in a text.
const TIMES_MAX: usize = 8;

/// A time that prose names, and whether all time since then is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProseTime {
    /// The first instant.
    pub start: Micros,
    /// The end, exclusive; `None` for no end.
    pub end: Option<Micros>,
}

/// The times that a text names, in their order.
pub fn times_in(text: &str, clock: &Clock) -> Vec<ProseTime> {
    let words: Vec<&str> = text.split_whitespace().take(PROSE_WORDS_MAX).collect();
    let mut found = Vec::new();
    let mut at = 0;
    while at < words.len() && found.len() < TIMES_MAX {
        let longest = WORDS_MAX.min(words.len() - at);
        let before = at
            .checked_sub(1)
            .map(|before| bare(words[before]).to_lowercase());
        let before = before.as_deref().unwrap_or_default();
        let time = (1..=longest)
            .rev()
            .find_map(|count| Some((count, named(&words[at..at + count], before, clock)?)));
        let Some((count, time)) = time else {
            at += 1;
            continue;
        };
        found.push(ProseTime {
            start: time.start,
            end: (before != "since").then_some(time.end),
        });
        at += count;
    }
    found
}

/// The time that these words name, all of them, behind a word.
fn named(words: &[&str], before: &str, clock: &Clock) -> Option<NamedTime> {
    let trimmed: Vec<&str> = words.iter().map(|word| bare(word)).collect();
    let lower: Vec<String> = trimmed.iter().map(|word| word.to_lowercase()).collect();
    let (first, last) = (lower.first()?.as_str(), lower.last()?.as_str());
    if first.is_empty() || last.is_empty() || FILLERS.contains(&first) || FILLERS.contains(&last) {
        return None;
    }
    if !is_anchored(&trimmed, &lower, before) {
        return None;
    }
    let time = parse_phrase(&trimmed.join(" "), clock).ok()?;
    // An instant stands for its day.
    let end = match time.precision {
        Precision::Instant | Precision::Hour => time.start.0.saturating_add(DAY).max(time.end.0),
        _ => time.end.0,
    };
    Some(NamedTime {
        end: Micros(end),
        ..time
    })
}

/// Words that `parse_phrase` reads over: in prose they stand before anything.
const FILLERS: [&str; 10] = [
    "on", "at", "of", "in", "the", "around", "about", "since", "from", "and",
];

/// Words behind which a month is one: June and April are names, May and March other words.
const BEFORE_MONTHS: [&str; 16] = [
    "in", "since", "during", "by", "until", "till", "for", "from", "to", "of", "early", "late",
    "mid", "before", "after", "between",
];

const DAY: i64 = 86_400_000_000;

/// A word without the punctuation around it and a possessive ending.
fn bare(word: &str) -> &str {
    let word = word.trim_matches(|c: char| !c.is_alphanumeric());
    let word = word.strip_suffix("'s").unwrap_or(word);
    word.strip_suffix("\u{2019}s").unwrap_or(word)
}

/// True if the words name a time without doubt: numbers alone and short forms (sat, mar, m) do not.
fn is_anchored(words: &[&str], lower: &[String], before: &str) -> bool {
    let is_number = |word: &str| word.starts_with(|c: char| c.is_ascii_digit());
    let is_year = |word: &str| {
        word.len() == 4
            && word
                .parse::<u16>()
                .is_ok_and(|year| (1900..2100).contains(&year))
    };
    let is_numeric_date = |word: &str| {
        let parts = word.split(['-', '.', '/']).count();
        parts == 3 && word.split(['-', '.', '/']).any(is_year)
    };
    let is_capital = |at: usize| words[at].starts_with(char::is_uppercase);
    let is_short = |at: usize| {
        let word = lower[at].as_str();
        let is_weekday = weekday(word).is_some() && word.len() < 6;
        let is_unit = word.len() <= 2 && Unit::of(word).is_some();
        is_weekday || is_unit
    };
    if (0..words.len()).any(is_short) {
        return false;
    }
    let has_occurrence = ["last", "this", "next", "past", "previous"].contains(&lower[0].as_str());
    let is_behind = BEFORE_MONTHS.contains(&before);
    (0..words.len()).any(|at| {
        let word = lower[at].as_str();
        let neighbours = [at.checked_sub(1), Some(at + 1)];
        let mut neighbours = neighbours
            .into_iter()
            .flatten()
            .filter_map(|at| lower.get(at));
        let is_month = month_number(word).is_some();
        let is_weekday = weekday(word).is_some();
        is_year(word)
            || is_numeric_date(word)
            || ["yesterday", "today", "tonight", "tomorrow", "ago"].contains(&word)
            || is_weekday && (is_capital(at) || has_occurrence)
            || is_month && neighbours.any(|other| is_number(other))
            || is_month && is_capital(at) && (has_occurrence || at == 0 && is_behind)
            || has_occurrence
                && at > 0
                && (Unit::of(word).is_some() || PARTS_OF_DAYS.contains(&word))
    })
}

const PARTS_OF_DAYS: [&str; 4] = ["night", "evening", "afternoon", "morning"];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time;

    /// The spans of a text as days, on Saturday, 15 July 2023 at noon.
    fn spans(text: &str) -> Vec<String> {
        let now = time::parse("2023-07-15T12:00:00Z").unwrap();
        let clock = Clock::new(now, jiff::tz::TimeZone::UTC);
        let day = |at: Micros| time::display(at).to_string()[..10].to_owned();
        let shown = |time: &ProseTime| match time.end {
            Some(end) => format!("{}/{}", day(time.start), day(end)),
            None => format!("{}/", day(time.start)),
        };
        times_in(text, &clock).iter().map(shown).collect()
    }

    #[test]
    fn dates_inside_questions_are_found() {
        for (text, expected) in [
            (
                "What did Caroline do on 13 October 2023?",
                "2023-10-13/2023-10-14",
            ),
            (
                "What happened on October 13, 2023, at home?",
                "2023-10-13/2023-10-14",
            ),
            ("what was planned for July 2023?", "2023-07-01/2023-08-01"),
            ("Where did we go in June?", "2023-06-01/2023-07-01"),
            ("What did Ada write in 2022?", "2022-01-01/2023-01-01"),
            ("the release of 2023-03-02", "2023-03-02/2023-03-03"),
            ("what did I buy yesterday?", "2023-07-14/2023-07-15"),
            ("who called two weeks ago", "2023-06-26/2023-07-03"),
            ("what changed since March", "2023-03-01/"),
            ("the trip last May", "2023-05-01/2023-06-01"),
            ("what did we decide last week", "2023-07-03/2023-07-10"),
            ("the call on Tuesday", "2023-07-11/2023-07-12"),
        ] {
            assert_eq!(spans(text), [expected], "{text}");
        }
        assert_eq!(
            spans("between 2021 and 2022"),
            ["2021-01-01/2022-01-01", "2022-01-01/2023-01-01"]
        );
    }

    #[test]
    fn other_words_are_no_times() {
        for text in [
            "Will it march on?",
            "may I ask who sat there",
            "port 6432 is open",
            "the second try",
            "I have 3 cats and 12 dogs",
            "now what",
            "May we meet?",
            "the sun is out",
            "version 1.2.3 of the program",
            "",
        ] {
            assert!(spans(text).is_empty(), "{text}: {:?}", spans(text));
        }
    }

    #[test]
    fn without_a_present_absolute_times_are_found() {
        let times = times_in(
            "yesterday, or in June 2023?",
            &Clock::known(None, Some(jiff::tz::TimeZone::UTC)),
        );
        assert_eq!(times.len(), 1);
    }

    proptest::proptest! {
        #[test]
        fn no_text_panics(text in "\\PC{0,80}|(last|May|in|2023|[0-9]{1,5}|ago|the|-|/|\\.| ){0,30}") {
            times_in(&text, &Clock::default());
        }
    }
}
