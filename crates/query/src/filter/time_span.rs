//! Conditions on time fields whose operand names a span, such as "today" or "2026-03", as conditions on instants.
//!
//! `eq` is within the span, `gt` behind it, `lte` before its end; `gte` and `lt` compare with its start.

use super::condition::{Condition, FilterField, Operand, Operator};
use super::scalar::Scalar;
use super::tree::Filter;
use crate::time::MAX;
use crate::time_phrase::NamedTime;
use amem_format::types::Micros;

/// The condition; `None` if one with the operand's instant says the same.
pub(super) fn condition(field: &FilterField, op: Operator, time: &NamedTime) -> Option<Filter> {
    if time.start == time.end {
        return None;
    }
    // "2 days ago" is to the second where an order is meant, and a day where an equal time is.
    let is_offset = time.at != time.start;
    match op {
        Operator::Eq => Some(within(field, time)),
        Operator::Ne => Some(Filter::Not(Box::new(within(field, time)))),
        Operator::Gt if !is_offset => Some(at_or_after(field, time.end)),
        Operator::Lte if !is_offset => Some(before(field, time.end)),
        _ => None,
    }
}

/// Any of several times, or none of them.
pub(super) fn any(field: &FilterField, op: Operator, times: &[NamedTime]) -> Option<Filter> {
    if times.iter().all(|time| time.start == time.end) {
        return None;
    }
    let each = times.iter().map(|time| {
        condition(field, Operator::Eq, time)
            .unwrap_or_else(|| compared(field, Operator::Eq, time.at))
    });
    let any = Filter::Or(each.collect());
    Some(match op {
        Operator::Nin => Filter::Not(Box::new(any)),
        _ => any,
    })
}

/// Parts of the filter that `condition` makes of one operand, at most.
pub(super) const PARTS_MAX: usize = 4;

fn within(field: &FilterField, time: &NamedTime) -> Filter {
    Filter::And(vec![
        compared(field, Operator::Gte, time.start),
        before(field, time.end),
    ])
}

/// The end of the year 9999 is no time that can be written.
fn before(field: &FilterField, end: Micros) -> Filter {
    match end > MAX {
        true => compared(field, Operator::Lte, MAX),
        false => compared(field, Operator::Lt, end),
    }
}

fn at_or_after(field: &FilterField, end: Micros) -> Filter {
    match end > MAX {
        true => compared(field, Operator::Gt, MAX),
        false => compared(field, Operator::Gte, end),
    }
}

fn compared(field: &FilterField, op: Operator, time: Micros) -> Filter {
    Filter::Condition(Condition {
        field: field.clone(),
        op,
        operand: Operand::One(Scalar::Time(time)),
    })
}
