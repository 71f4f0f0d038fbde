//! What a JSON text has and a parsed value would lose in silence: digits of numbers, and all but one of equal keys.
//!
//! Promises: a text that passes reads back with the same numbers, digit by digit, apart from zeros that mean nothing.
//! Integers have 64 bits; other numbers are 64-bit floats, written with up to 17 digits.
//! Not here: whether the text is JSON at all (`object`).

use std::collections::HashSet;
use std::fmt;

use serde::de::{
    DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor,
};

use super::json_path::shortened;
use crate::error::{Error, Result};

/// Decimal digits that distinguish any two 64-bit floats: programs that print all of them mean the float.
const FLOAT_DIGITS_MAX: usize = 17;

/// Refuses a JSON text that a parsed value would not hold whole.
pub(super) fn check(json: &str) -> Result<()> {
    let mut deserializer = serde_json::Deserializer::from_str(json);
    UniqueKeys
        .deserialize(&mut deserializer)
        .map_err(|e| Error::invalid("attributes", e.to_string()))?;
    for number in numbers(json) {
        if !is_held(number) {
            let why = format!(
                "the number {} would lose digits: pass it as a string",
                shortened(number)
            );
            return Err(Error::invalid("attributes", why));
        }
    }
    Ok(())
}

/// The numbers of a JSON text, as they are written.
fn numbers(json: &str) -> impl Iterator<Item = &str> {
    let bytes = json.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            match *bytes.get(at)? {
                b'"' => {
                    at += 1;
                    while *bytes.get(at)? != b'"' {
                        at += if bytes[at] == b'\\' { 2 } else { 1 };
                    }
                    at += 1;
                }
                b'-' | b'0'..=b'9' => {
                    let is_of_number = |b: &u8| b"+-.eE0123456789".contains(b);
                    let len = bytes[at..].iter().take_while(|b| is_of_number(b)).count();
                    at += len;
                    return json.get(at - len..at);
                }
                _ => at += 1,
            }
        }
    })
}

/// True if the value that JSON readers make of a number has all its digits.
fn is_held(number: &str) -> bool {
    if number.parse::<i64>().is_ok() || number.parse::<u64>().is_ok() {
        return true;
    }
    let Ok(float) = number.parse::<f64>() else {
        return false;
    };
    let written = significant(number);
    let digits = written.as_ref().map_or(1, |(digits, _)| digits.len());
    if !float.is_finite() || digits > FLOAT_DIGITS_MAX {
        return false;
    }
    // An integer that only a float would hold is none any more.
    let is_integer = !number.contains(['.', 'e', 'E']);
    let same = |made: String| significant(&made) == written;
    same(format!("{float:e}")) || !is_integer && same(format!("{float:.*e}", digits - 1))
}

/// The digits of a number without zeros around them, and the exponent of the last; no digits for zero.
fn significant(number: &str) -> Option<(String, i64)> {
    let (mantissa, exponent) = match number.split_once(['e', 'E']) {
        // A longer exponent is that of no float, unless of a zero.
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i64>().unwrap_or(i64::MAX / 2)),
        None => (number, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{}{fraction}", whole.trim_start_matches('-'));
    let digits = digits.trim_start_matches('0');
    let kept = digits.trim_end_matches('0');
    let exponent = exponent - fraction.len() as i64 + (digits.len() - kept.len()) as i64;
    (!kept.is_empty()).then(|| (kept.to_owned(), exponent))
}

/// Reads a JSON value and fails at the second of two equal keys of one object.
struct UniqueKeys;

impl<'de> DeserializeSeed<'de> for UniqueKeys {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> std::result::Result<(), D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for UniqueKeys {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_bool<E>(self, _: bool) -> std::result::Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> std::result::Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> std::result::Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> std::result::Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> std::result::Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> std::result::Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> std::result::Result<(), A::Error> {
        while list.next_element_seed(Self)?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> std::result::Result<(), A::Error> {
        let mut keys = HashSet::new();
        while let Some(key) = object.next_key::<String>()? {
            if keys.contains(&key) {
                object.next_value::<IgnoredAny>()?;
                let why = format!("the key {:?} is there twice", shortened(&key));
                return Err(A::Error::custom(why));
            }
            object.next_value_seed(Self)?;
            keys.insert(key);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_every_digit_or_are_refused() {
        for held in [
            "0",
            "-0",
            "1",
            "1.0",
            "-1.50",
            "1e2",
            "100",
            "0.1",
            "5e-324",
            "1e300",
            "0e999999999999999999999",
            "9223372036854775807",
            "-9223372036854775808",
            "18446744073709551615",
            "0.30000000000000004",
            "0.10000000000000001",
            "1.7976931348623157e308",
            "123456789.125",
        ] {
            check(&format!("{{\"a\":[{held}]}}")).unwrap_or_else(|e| panic!("{held}: {e}"));
        }
        for lost in [
            "18446744073709551616",
            "18446744073709551617",
            "-9223372036854775809",
            "1e-400",
            "3.14159265358979323846",
            "0.1000000000000000055511151231257827",
            "1.00000000000000000001",
            "9007199254740993.0",
            "123456789012345678901234567890",
        ] {
            let error = check(&format!("{{\"a\":{{\"b\":{lost}}}}}")).unwrap_err();
            assert!(error.to_string().contains("would lose digits"), "{error}");
        }
    }

    #[test]
    fn a_key_that_is_there_twice_is_refused() {
        for twice in [r#"{"a":1,"a":1}"#, r#"{"b":[{"a":1,"\u0061":2}]}"#] {
            let error = check(twice).unwrap_err().to_string();
            assert!(error.contains("the key \"a\" is there twice"), "{error}");
        }
        check(r#"{"a":{"a":"1e-400 \" 1e-400"},"b":{"a":-1}}"#).unwrap();
    }

    #[test]
    fn what_was_stored_once_is_read_again() {
        for number in [
            0.1,
            1e16,
            1e21,
            123e-9,
            f64::MAX,
            f64::MIN_POSITIVE,
            2f64.powi(64),
            -0.0,
        ] {
            check(&serde_json::json!({"a": number}).to_string()).unwrap();
        }
    }
}
