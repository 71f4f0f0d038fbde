//! Numbers of attributes, with an exact order across integers and floats.

use std::cmp::Ordering;

use serde_json::Value;

/// A JSON number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Number {
    /// Not negative.
    Unsigned(u64),
    /// Negative.
    Signed(i64),
    /// Finite.
    Float(f64),
}

impl Number {
    /// `None` for a number that cannot be compared.
    pub fn new(number: &serde_json::Number) -> Option<Self> {
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

    /// Bytes that are the same exactly for equal numbers.
    pub fn canonical(self) -> [u8; 17] {
        let mut bytes = [0; 17];
        let whole = match self.as_integer() {
            Ok(n) => Some(n),
            // Larger floats equal no 64-bit integer; for smaller ones the cast is exact.
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

    /// The nearest 32-bit float.
    pub fn as_f32(self) -> f32 {
        match self {
            Self::Unsigned(n) => n as f32,
            Self::Signed(n) => n as f32,
            Self::Float(f) => f as f32,
        }
    }

    /// The exact order of two numbers, whatever their variants.
    pub fn order(self, other: Self) -> Ordering {
        match (self.as_integer(), other.as_integer()) {
            (Ok(a), Ok(b)) => a.cmp(&b),
            (Ok(a), Err(b)) => order_mixed(a, b),
            (Err(a), Ok(b)) => order_mixed(b, a).reverse(),
            (Err(a), Err(b)) => order_floats(a, b),
        }
    }

    /// The JSON value.
    pub fn to_json(self) -> Value {
        match self {
            Self::Unsigned(n) => n.into(),
            Self::Signed(n) => n.into(),
            Self::Float(f) => f.into(),
        }
    }
}

/// Compares a 64-bit integer with a float without rounding the integer.
fn order_mixed(integer: i128, float: f64) -> Ordering {
    // The cast saturates far beyond every 64-bit integer; below that it is exact.
    let whole = float.trunc() as i128;
    integer
        .cmp(&whole)
        .then_with(|| order_floats(0.0, float.fract()))
}

/// Compares floats, none of them NaN; 0 and -0 are equal.
pub fn order_floats(a: f64, b: f64) -> Ordering {
    a.partial_cmp(&b).unwrap_or(Ordering::Equal)
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
