//! The values that a filter compares, and how: numbers exactly, strings by bytes, times as instants.
//!
//! An `Item` is found in an event, a `Scalar` was given by the caller. Values of two kinds are never
//! equal, less or greater; the order between kinds serves only to search lists.

use std::cmp::Ordering;

use serde_json::Value;

use crate::query::time;
use crate::types::{EventType, Micros};

/// A number as JSON has it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Number {
    Unsigned(u64),
    Signed(i64),
    /// Finite.
    Float(f64),
}

/// A value in an event.
#[derive(Debug, Clone, Copy)]
pub(super) enum Item<'a> {
    Null,
    Bool(bool),
    Number(Number),
    /// A number stored in 32 bits, not NaN. It is compared in 32 bits, or a confidence stored from 0.9 would not
    /// be equal to 0.9.
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

impl Number {
    /// The number, unless it is one that can't be compared.
    pub(super) fn new(number: &serde_json::Number) -> Option<Self> {
        let unsigned = number.as_u64().map(Self::Unsigned);
        let signed = || number.as_i64().map(Self::Signed);
        let float = || number.as_f64().filter(|f| f.is_finite()).map(Self::Float);
        unsigned.or_else(signed).or_else(float)
    }

    fn as_integer(self) -> Result<i128, f64> {
        match self {
            Self::Unsigned(n) => Ok(n.into()),
            Self::Signed(n) => Ok(n.into()),
            Self::Float(f) => Err(f),
        }
    }

    /// The same bytes for numbers that are equal, others for others.
    pub(super) fn canonical(self) -> [u8; 17] {
        let mut bytes = [0; 17];
        let whole = match self.as_integer() {
            Ok(n) => Some(n),
            // Beyond these no integer is equal, and below them the cast is exact.
            Err(f) if f.fract() == 0.0 && f.abs() < 1e30 => Some(f as i128),
            Err(_) => None,
        };
        match (whole, self) {
            (Some(n), _) => bytes[1..].copy_from_slice(&n.to_le_bytes()),
            (None, Self::Float(f)) => {
                bytes[0] = 1;
                bytes[1..9].copy_from_slice(&f.to_le_bytes());
            }
            (None, _) => {}
        }
        bytes
    }

    fn as_f32(self) -> f32 {
        match self {
            Self::Unsigned(n) => n as f32,
            Self::Signed(n) => n as f32,
            Self::Float(f) => f as f32,
        }
    }

    fn order(self, other: Self) -> Ordering {
        match (self.as_integer(), other.as_integer()) {
            (Ok(a), Ok(b)) => a.cmp(&b),
            (Ok(a), Err(b)) => order_mixed(a, b),
            (Err(a), Ok(b)) => order_mixed(b, a).reverse(),
            (Err(a), Err(b)) => order_floats(a, b),
        }
    }

    fn to_json(self) -> Value {
        match self {
            Self::Unsigned(n) => n.into(),
            Self::Signed(n) => n.into(),
            Self::Float(f) => f.into(),
        }
    }
}

/// Compares a 64-bit integer with a float without rounding the integer.
fn order_mixed(integer: i128, float: f64) -> Ordering {
    // The cast saturates beyond every 64-bit integer, and below that the whole part is exact.
    let whole = float.trunc() as i128;
    integer
        .cmp(&whole)
        .then_with(|| order_floats(0.0, float.fract()))
}

/// Compares floats, none of them NaN; 0 and -0 are equal.
fn order_floats(a: f64, b: f64) -> Ordering {
    a.partial_cmp(&b).unwrap_or(Ordering::Equal)
}

impl<'a> Item<'a> {
    /// The value, unless it is made of others.
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

impl Scalar {
    /// How an item stands to this value; `None` if they are of two kinds.
    pub(super) fn order_of(&self, item: &Item<'_>) -> Option<Ordering> {
        (self.as_item().rank() == item.rank()).then(|| self.order(item).reverse())
    }

    /// This value before or after an item, of any kind.
    pub(super) fn order(&self, item: &Item<'_>) -> Ordering {
        match (self, item) {
            (Self::Bool(a), Item::Bool(b)) => a.cmp(b),
            (Self::Number(a), Item::Number(b)) => a.order(*b),
            (Self::Number(a), Item::Narrow(b)) => order_floats(a.as_f32().into(), (*b).into()),
            (Self::Text(a), Item::Text(b)) => a.as_str().cmp(b),
            (Self::Time(a), Item::Time(b)) => a.cmp(b),
            (Self::Type(a), Item::Type(b)) => a.cmp(b),
            _ => self.as_item().rank().cmp(&item.rank()),
        }
    }

    /// The value as if an event had it.
    pub(super) fn as_item(&self) -> Item<'_> {
        match self {
            Self::Null => Item::Null,
            Self::Bool(b) => Item::Bool(*b),
            Self::Number(n) => Item::Number(*n),
            Self::Text(s) => Item::Text(s),
            Self::Time(t) => Item::Time(*t),
            Self::Type(t) => Item::Type(*t),
        }
    }

    /// The value as the caller may give it.
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
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn number(value: &Value) -> Number {
        Number::new(value.as_number().unwrap()).unwrap()
    }

    #[test]
    fn numbers_stand_in_their_order() {
        let ascending = [
            json!(-1e300),
            json!(-9_223_372_036_854_777_856.0),
            json!(i64::MIN),
            json!(i64::MIN + 1),
            json!(-2.5),
            json!(-2),
            json!(-1.5),
            json!(-0.5),
            json!(0),
            json!(5e-324),
            json!(0.5),
            json!(1),
            json!(9_007_199_254_740_992_u64),
            json!(9_007_199_254_740_993_u64),
            json!(9_007_199_254_740_994.0),
            json!(9_223_372_036_854_775_807_u64),
            json!(9_223_372_036_854_775_808.0),
            json!(9_223_372_036_854_775_809_u64),
            json!(18_446_744_073_709_551_614_u64),
            json!(18_446_744_073_709_551_615_u64),
            json!(18_446_744_073_709_551_616.0),
            json!(1e300),
        ];
        for (i, a) in ascending.iter().enumerate() {
            for (j, b) in ascending.iter().enumerate() {
                assert_eq!(number(a).order(number(b)), i.cmp(&j), "{a} {b}");
                let is_one = number(a).canonical() == number(b).canonical();
                assert_eq!(is_one, i == j, "{a} {b}");
            }
        }
    }

    #[test]
    fn one_number_written_in_two_ways_is_equal() {
        for (a, b) in [
            (json!(1), json!(1.0)),
            (json!(0), json!(-0.0)),
            (json!(0.0), json!(-0.0)),
            (json!(i64::MIN), json!(-9_223_372_036_854_775_808.0)),
            (
                json!(9_223_372_036_854_775_808_u64),
                json!(9_223_372_036_854_775_808.0),
            ),
        ] {
            assert_eq!(number(&a).order(number(&b)), Ordering::Equal, "{a} {b}");
            assert_eq!(number(&a).canonical(), number(&b).canonical(), "{a} {b}");
        }
    }

    #[test]
    fn narrow_numbers_compare_with_what_they_were_written_from() {
        let operand = Scalar::Number(Number::Float(0.9));
        for (narrow, expected) in [
            (0.9_f32, Ordering::Equal),
            (0.900_000_1, Ordering::Greater),
            (0.899_999_9, Ordering::Less),
        ] {
            let order = operand.order_of(&Item::Narrow(narrow));
            assert_eq!(order, Some(expected), "{narrow}");
        }
    }

    proptest! {
        #[test]
        fn an_integer_and_a_float_near_it_compare_exactly(integer: i64, by in -3_i64..3) {
            let float = integer.wrapping_add(by) as f64;
            let (a, b) = (Number::Signed(integer), Number::Float(float));
            prop_assert_eq!(a.canonical() == b.canonical(), a.order(b).is_eq());
            prop_assert_eq!(
                Number::Signed(integer).order(Number::Float(float)),
                i128::from(integer).cmp(&(float as i128))
            );
        }

        #[test]
        fn small_numbers_compare_as_floats_do(a in -1000_i64..1000, b in -1000.0..1000.0_f64) {
            let (integer, float) = (Number::Signed(a), Number::Float(b));
            prop_assert_eq!(Some(integer.order(float)), (a as f64).partial_cmp(&b));
            prop_assert_eq!(Some(float.order(integer)), b.partial_cmp(&(a as f64)));
        }
    }
}
