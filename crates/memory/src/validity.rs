//! When a fact is so: dates in prose, resolved against the time of its turn.
//!
//! A relative date means nothing without its turn, so that code resolves it when the fact is stored; a model's date
//! counts only if the turn names it. The precision says how exact the text is: "in March" is a month, not its first
//! day.

use serde::{Deserialize, Serialize};

use amem_format::types::Micros;
use amem_query::time_phrase::{Clock, Precision, ProseTime, times_in};

use crate::kind::FactKind;

/// How exact a time is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DatePrecision {
    /// A day or less.
    Day,
    /// A week.
    Week,
    /// A month.
    Month,
    /// A year or more.
    Year,
}

/// When a fact is so. Empty if its text says nothing of it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Validity {
    /// The first instant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<Micros>,
    /// The end, exclusive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<Micros>,
    /// How exact the text is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub precision: Option<DatePrecision>,
}

const DAY: i64 = Micros::DAY;

impl DatePrecision {
    /// The precision of a span: its length says which unit the text names.
    fn of_span(start: Micros, end: Micros) -> Self {
        match end.0.saturating_sub(start.0) / DAY {
            0..=2 => Self::Day,
            3..=8 => Self::Week,
            9..=93 => Self::Month,
            _ => Self::Year,
        }
    }
}

impl From<Precision> for DatePrecision {
    fn from(precision: Precision) -> Self {
        match precision {
            Precision::Instant | Precision::Hour | Precision::Day => Self::Day,
            Precision::Week => Self::Week,
            Precision::Month => Self::Month,
            Precision::Year => Self::Year,
        }
    }
}

/// Words behind which a time is an end.
const ENDS: [&str; 3] = [" until ", " till ", " through "];
/// Words of facts that begin at the time that they name, and go on.
const BEGINNINGS: [&str; 16] = [
    " moved ",
    " started ",
    " joined ",
    " since ",
    " became ",
    " switched ",
    " bought ",
    " adopted ",
    " married ",
    " quit ",
    " from ",
    " relocated ",
    " began ",
    " enrolled ",
    " stopped ",
    " as of ",
];
/// Words that say that a time is past.
const PAST_WORDS: [&str; 5] = [" last ", " ago", " yesterday", " past ", " previous "];

/// When the fact of a clause is so; `clock` is the time of the turn.
pub(crate) fn validity_in(clause: &str, kind: FactKind, clock: &Clock) -> Validity {
    let text = format!(" {} ", clause.to_lowercase());
    // Months need their capitals, so that the clause as it is written is searched.
    let split = ENDS
        .iter()
        .find_map(|word| Some((text.find(word)?, word.len())));
    let (front, back) = match split {
        Some((at, len)) if at <= clause.len() && clause.is_char_boundary(at) => {
            let behind = (at + len - 1).min(clause.len());
            (&clause[..at], clause.get(behind..).unwrap_or_default())
        }
        _ => (clause, ""),
    };
    let end = times_in(back, clock).first().copied();
    let start = named_time(front, clock);
    let mut out = Validity::default();
    if let Some(time) = start {
        let ahead = kind == FactKind::Plan && !PAST_WORDS.iter().any(|word| text.contains(word));
        let time = if ahead {
            next_after(front, time, clock)
        } else {
            time
        };
        out.from = Some(time.start);
        out.precision = time.end.map(|end| DatePrecision::of_span(time.start, end));
        let goes_on = time.end.is_none() || BEGINNINGS.iter().any(|word| text.contains(word));
        if !goes_on
            && matches!(
                kind,
                FactKind::Event | FactKind::Plan | FactKind::Decision | FactKind::Fact
            )
        {
            out.to = time.end;
        }
    }
    if let Some(ends) = end {
        out.to = ends.end.or(Some(ends.start));
        out.precision = out
            .precision
            .or(ends.end.map(|end| DatePrecision::of_span(ends.start, end)));
    }
    if out.from.zip(out.to).is_some_and(|(from, to)| from >= to) {
        out.to = None;
    }
    out
}

/// The first time of a text, weekends and seasons included.
fn named_time(text: &str, clock: &Clock) -> Option<ProseTime> {
    let found = times_in(text, clock).first().copied();
    found.or_else(|| weekend(text, clock))
}

/// "last weekend", "this weekend", "next weekend": Saturday and Sunday of the week.
fn weekend(text: &str, clock: &Clock) -> Option<ProseTime> {
    let lower = text.to_lowercase();
    let at = lower.find("weekend")?;
    let before = lower[..at].split_whitespace().next_back()?;
    if !["last", "this", "next", "past"].contains(&before) {
        return None;
    }
    let week = times_in(
        &format!("{} week", if before == "past" { "last" } else { before }),
        clock,
    );
    let end = week.first()?.end?;
    Some(ProseTime {
        start: Micros(end.0 - 2 * DAY),
        end: Some(end),
    })
}

/// A plan for a weekday or a month means the next one, where prose without a year reads as the last one.
fn next_after(text: &str, time: ProseTime, clock: &Clock) -> ProseTime {
    let Some(end) = time.end else { return time };
    let names_year = text
        .split(|c: char| !c.is_ascii_digit())
        .any(|number| number.len() == 4);
    let now = times_in("today", clock).first().map(|today| today.start);
    let Some(today) = now.filter(|today| end <= *today && !names_year) else {
        return time;
    };
    let span = end.0 - time.start.0;
    // Days of a week come again in seven days, other dates in a year.
    let lower = text.to_lowercase();
    let is_weekday = span <= 2 * DAY && lower.contains("day");
    let step = if is_weekday { 7 * DAY } else { 365 * DAY };
    let periods = (today.0 - end.0) / step + 1;
    let shift = step.saturating_mul(periods);
    let moved = Micros(time.start.0.saturating_add(shift));
    if is_weekday {
        return ProseTime {
            start: moved,
            end: Some(Micros(end.0.saturating_add(shift))),
        };
    }
    // A year is not always 365 days: the month of the same name is found by its middle.
    let later = Micros(today.0.saturating_add(366 * DAY));
    let clock = Clock::utc(later);
    times_in(text, &clock)
        .first()
        .copied()
        .filter(|again| again.start > time.start)
        .unwrap_or(ProseTime {
            start: moved,
            end: Some(Micros(end.0.saturating_add(shift))),
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use amem_query::time;

    fn shown(clause: &str, kind: FactKind) -> String {
        // A Saturday.
        let now = time::parse("2023-07-15T12:00:00Z").unwrap();
        let validity = validity_in(clause, kind, &Clock::utc(now));
        let day = |at: Option<Micros>| {
            at.map(|at| time::display(at).to_string()[..10].to_owned())
                .unwrap_or_default()
        };
        let precision = validity
            .precision
            .map(|p| format!(" {p:?}"))
            .unwrap_or_default();
        format!("{}/{}{precision}", day(validity.from), day(validity.to))
    }

    #[test]
    fn dates_in_prose_become_spans_with_precision() {
        use FactKind::*;
        for (clause, kind, expected) in [
            (
                "I visited Paris last May",
                Event,
                "2023-05-01/2023-06-01 Month",
            ),
            (
                "I went to a support group yesterday",
                Event,
                "2023-07-14/2023-07-15 Day",
            ),
            (
                "I moved from Lisbon to Porto in March",
                Event,
                "2023-03-01/ Month",
            ),
            ("I have lived here since 2016", Fact, "2016-01-01/"),
            ("I worked at Acme until 2020", Fact, "/2021-01-01 Year"),
            (
                "I ran a race last weekend",
                Event,
                "2023-07-08/2023-07-10 Day",
            ),
            (
                "I am going to Rome on Tuesday",
                Plan,
                "2023-07-18/2023-07-19 Day",
            ),
            (
                "I plan to visit Oslo in May",
                Plan,
                "2024-05-01/2024-06-01 Month",
            ),
            (
                "I plan to move next month",
                Plan,
                "2023-08-01/2023-09-01 Month",
            ),
            ("I like tea", Preference, "/"),
            ("I joined Acme two weeks ago", Event, "2023-06-26/ Week"),
            (
                "The deadline is 2023-09-01",
                Fact,
                "2023-09-01/2023-09-02 Day",
            ),
        ] {
            assert_eq!(shown(clause, kind), expected, "{clause}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_text_panics(text in "\\PC{0,60}|(until|last|May|weekend|2023|in|İ| ){0,12}") {
            let clock = Clock::utc(Micros(0));
            let _ = validity_in(&text, FactKind::Plan, &clock);
        }
    }
}
