//! A vector as providers write it: a list of numbers, or base64 of little-endian floats.

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use serde_json::Value;

use crate::limits::DIMENSIONS_MAX;

/// Some servers leave bits behind the last byte, or the padding out.
const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_allow_trailing_bits(true)
        .with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Reads and checks a vector.
pub(crate) fn vector_of(value: &Value) -> Result<Vec<f32>, String> {
    let vector: Vec<f32> = match value {
        Value::Array(numbers) => {
            let numbers = numbers.iter().map(|number| {
                let number = number
                    .as_f64()
                    .ok_or("the vector has a value that is no number")?;
                // A vector has single precision.
                Ok(number as f32)
            });
            numbers.collect::<Result<_, &str>>()?
        }
        Value::String(text) => {
            let bytes = base64_bytes(text).ok_or("the vector is no base64")?;
            if bytes.len() % 4 != 0 {
                return Err("the vector is cut".into());
            }
            let chunks = bytes.chunks_exact(4);
            chunks
                .map(|four| f32::from_le_bytes([four[0], four[1], four[2], four[3]]))
                .collect()
        }
        _ => return Err("the answer has no vector".into()),
    };
    if vector.is_empty() || vector.len() > DIMENSIONS_MAX {
        return Err(format!("the vector has {} values", vector.len()));
    }
    if !vector.iter().all(|value| value.is_finite()) {
        return Err("the vector has a value that is no number".into());
    }
    if vector.iter().all(|value| *value == 0.0) {
        return Err("the vector is zero".into());
    }
    Ok(vector)
}

/// Either alphabet, with or without the padding.
fn base64_bytes(text: &str) -> Option<Vec<u8>> {
    let text = text
        .trim_end_matches('=')
        .replace('-', "+")
        .replace('_', "/");
    LENIENT.decode(text).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn vectors_are_read_from_lists_and_base64_and_checked() {
        assert_eq!(
            vector_of(&json!([1, 0.5, -2e-3])),
            Ok(vec![1.0, 0.5, -2e-3])
        );
        // python3: base64.b64encode(struct.pack("<3f", 1, 0.5, -2))
        assert_eq!(
            vector_of(&json!("AACAPwAAAD8AAADA")),
            Ok(vec![1.0, 0.5, -2.0])
        );
        for (value, expected) in [
            (json!("AACAPwAA"), "cut"),
            (json!("!"), "base64"),
            (json!(["NaN", 1]), "no number"),
            (json!([null, 1]), "no number"),
            (json!([1e300, 1]), "no number"),
            (json!("AADAfw=="), "no number"),
            (json!([0, 0.0]), "zero"),
            (json!([]), "0 values"),
            (json!({"a": 1}), "no vector"),
        ] {
            let why = vector_of(&value).unwrap_err();
            assert!(why.contains(expected), "{value}: {why}");
        }
    }
}
