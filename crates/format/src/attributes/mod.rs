//! Attributes: the JSON object of an event.
//!
//! Promises: validated attributes are an object within `limits::ATTRIBUTES_*`; values that a filter treats as equal
//! have the same hash in the index of a base (`base::values`).
//! Not here: filters (`amem-query`).

mod lossless;
mod object;

pub mod json_path;
mod number;
mod values;

pub use number::{Number, order_floats};
pub use object::{ORIGIN, REASON, is_only_origin, parse, reason, speaker, to_json, validate};
pub use values::{ScalarValue, first_name, hash, speaker_hash, values_of};
