//! The values that a filter compares: numbers exactly, strings by bytes, times as instants.
//!
//! An `EventValue` comes from an event, a `Scalar` from the caller. Values of different kinds are never equal, less or
//! greater; the order between kinds only serves binary search.

use std::cmp::Ordering;

use serde_json::Value;

use crate::time;
use amem_format::attributes::{self, Number, order_floats};
use amem_format::types::{EventType, Micros};

/// A value in an event.
#[derive(Debug, Clone, Copy)]
pub(super) enum EventValue<'a> {
    Null,
    Bool(bool),
    Number(Number),
    /// A number stored in 32 bits, not NaN. It compares in 32 bits; otherwise a confidence stored from 0.9 would not
    /// equal 0.9.
    Narrow(f32),
    Text(&'a str),
    Time(Micros),
    Type(EventType),
}

/// A value to compare with.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Scalar {
    Null,
    Bool(bool),
    Number(Number),
    Text(String),
    Time(Micros),
    Type(EventType),
}

impl<'a> EventValue<'a> {
    /// The value, unless it is an array or an object.
    pub(super) fn new(value: &'a Value) -> Option<Self> {
        match value {
            Value::Null => Some(Self::Null),
            Value::Bool(b) => Some(Self::Bool(*b)),
            Value::Number(n) => Number::new(n).map(Self::Number),
            Value::String(s) => Some(Self::Text(s)),
            Value::Array(_) | Value::Object(_) => None,
        }
    }

    fn rank(&self) -> u8 {
        match self {
            Self::Null => 0,
            Self::Bool(_) => 1,
            Self::Number(_) | Self::Narrow(_) => 2,
            Self::Text(_) => 3,
            Self::Time(_) => 4,
            Self::Type(_) => 5,
        }
    }
}

impl<'a> EventValue<'a> {
    /// The value as the index of attributes stores it; `None` if no attribute can have it.
    pub(super) fn as_attribute(&self) -> Option<attributes::ScalarValue<'a>> {
        match *self {
            Self::Null => Some(attributes::ScalarValue::Null),
            Self::Bool(b) => Some(attributes::ScalarValue::Bool(b)),
            Self::Number(n) => Some(attributes::ScalarValue::Number(n)),
            Self::Text(text) => Some(attributes::ScalarValue::Text(text)),
            Self::Narrow(_) | Self::Time(_) | Self::Type(_) => None,
        }
    }
}

impl Scalar {
    /// The order of an item relative to this value; `None` if their kinds differ.
    pub(super) fn order_of(&self, item: &EventValue<'_>) -> Option<Ordering> {
        (self.as_item().rank() == item.rank()).then(|| self.order(item).reverse())
    }

    /// The order of this value relative to an item of any kind.
    pub(super) fn order(&self, item: &EventValue<'_>) -> Ordering {
        match (self, item) {
            (Self::Bool(a), EventValue::Bool(b)) => a.cmp(b),
            (Self::Number(a), EventValue::Number(b)) => a.order(*b),
            (Self::Number(a), EventValue::Narrow(b)) => {
                order_floats(a.as_f32().into(), (*b).into())
            }
            (Self::Text(a), EventValue::Text(b)) => a.as_str().cmp(b),
            (Self::Time(a), EventValue::Time(b)) => a.cmp(b),
            (Self::Type(a), EventValue::Type(b)) => a.cmp(b),
            _ => self.as_item().rank().cmp(&item.rank()),
        }
    }

    /// The value as one of an event.
    pub(super) fn as_item(&self) -> EventValue<'_> {
        match self {
            Self::Null => EventValue::Null,
            Self::Bool(b) => EventValue::Bool(*b),
            Self::Number(n) => EventValue::Number(*n),
            Self::Text(s) => EventValue::Text(s),
            Self::Time(t) => EventValue::Time(*t),
            Self::Type(t) => EventValue::Type(*t),
        }
    }

    /// The value as JSON that parses to it.
    pub(super) fn to_json(&self) -> Value {
        match self {
            Self::Null => Value::Null,
            Self::Bool(b) => (*b).into(),
            Self::Number(n) => n.to_json(),
            Self::Text(s) => s.as_str().into(),
            Self::Time(t) => time::display(*t).to_string().into(),
            Self::Type(t) => t.to_string().into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn narrow_numbers_compare_with_what_they_were_written_from() {
        let operand = Scalar::Number(Number::Float(0.9));
        for (narrow, expected) in [
            (0.9_f32, Ordering::Equal),
            (0.900_000_1, Ordering::Greater),
            (0.899_999_9, Ordering::Less),
        ] {
            let order = operand.order_of(&EventValue::Narrow(narrow));
            assert_eq!(order, Some(expected), "{narrow}");
        }
    }
}
