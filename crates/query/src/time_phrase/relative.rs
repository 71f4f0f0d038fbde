//! Spans from now: "2 days ago", "in 2 hours", "last week".

use jiff::{Span, ToSpan, Zoned};

use super::calendar::{Clock, NamedTime, Precision, Problem, after, checked, date, days_span};
use super::words::{Occurrence, Token, Unit, number_word, tokens};

/// "last week", "this month": the unit of the calendar. The instant of "last week" and "next week" is one unit away
/// from now, that of "this week" its first.
pub(super) fn unit_span(
    unit: Unit,
    occurrence: Occurrence,
    now: &Zoned,
) -> Result<NamedTime, Problem> {
    let moved = now
        .checked_add(unit.span(occurrence.step())?)
        .map_err(|_| Problem::Range)?;
    let named = around(&moved, unit)?;
    // "this week" begins on Monday; its instant is not the present.
    Ok(match occurrence {
        Occurrence::This => NamedTime {
            at: named.start,
            ..named
        },
        Occurrence::Last | Occurrence::Next => named,
    })
}

/// The unit of the calendar around a time.
pub(super) fn around(moved: &Zoned, unit: Unit) -> Result<NamedTime, Problem> {
    let at = checked(moved.timestamp().as_microsecond())?;
    let today = moved.date();
    let (from, span, precision) = match unit {
        Unit::Second | Unit::Minute | Unit::Hour => return Ok(NamedTime::instant(at)),
        Unit::Day => (today, 1.day(), Precision::Day),
        Unit::Week => {
            let days = i64::from(today.weekday().to_monday_zero_offset());
            (
                after(today, Span::new().days(-days))?,
                1.week(),
                Precision::Week,
            )
        }
        Unit::Month => (today.first_of_month(), 1.month(), Precision::Month),
        Unit::Quarter => {
            let first = (today.month() - 1) / 3 * 3 + 1;
            let from = date(today.year(), i16::from(first), 1)?;
            (from, 3.months(), Precision::Month)
        }
        Unit::Year => (today.first_of_year(), 1.year(), Precision::Year),
    };
    let span = days_span(from, after(from, span)?, precision, moved.time_zone())?;
    Ok(NamedTime { at, ..span })
}

/// "2 days ago", "1h 30m ago", "in 2 hours", "a week from now"; `None` if the text has another form.
pub(super) fn relative(lower: &str, clock: &Clock) -> Option<Result<NamedTime, Problem>> {
    let (spans, sign) = if let Some(spans) = lower.strip_suffix("ago") {
        (spans, -1)
    } else if let Some(spans) = lower.strip_suffix("from now") {
        (spans, 1)
    } else {
        (lower.strip_prefix("in ")?, 1)
    };
    let spans = spans_of(spans)?;
    Some((|| {
        let mut moved = clock.zoned()?;
        let mut coarsest = Unit::Second;
        for (count, unit) in spans {
            let count = count.checked_mul(sign).ok_or(Problem::Range)?;
            moved = moved
                .checked_add(unit.span(count)?)
                .map_err(|_| Problem::Range)?;
            coarsest = if (unit as u8) > (coarsest as u8) {
                unit
            } else {
                coarsest
            };
        }
        let named = around(&moved, coarsest)?;
        Ok(named)
    })())
}

/// Pairs of a count and a unit; `None` if the text is anything else.
pub(super) fn spans_of(text: &str) -> Option<Vec<(i64, Unit)>> {
    let mut spans = Vec::new();
    let mut count = None;
    for token in tokens(text) {
        match token {
            Token::Number(digits, "") if count.is_none() => count = Some(digits.parse().ok()?),
            Token::Number(digits, unit) if count.is_none() => {
                spans.push((digits.parse().ok()?, Unit::of(unit)?));
            }
            Token::Word("about" | "of" | "and") | Token::Sign(',') => {}
            // "a few days", "a couple of weeks".
            Token::Word(word)
                if number_word(word).is_some() && (count.is_none() || count == Some(1)) =>
            {
                count = number_word(word);
            }
            Token::Word(word) => spans.push((count.take()?, Unit::of(word)?)),
            _ => return None,
        }
    }
    (count.is_none() && !spans.is_empty()).then_some(spans)
}
