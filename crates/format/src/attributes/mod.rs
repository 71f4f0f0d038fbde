//! Attributes: the JSON object that an event may carry.
//!
//! Promises: what passes the border is an object within `limits::ATTRIBUTES_*`; values that are equal to a filter
//! have one hash in the index of a base (`base::values`).
//! Not here: what a filter makes of them (`amem-query`).

mod object;

pub mod json_path;
mod number;
mod values;

pub use number::{Number, order_floats};
pub use object::{ORIGIN, is_only_origin, parse, to_json, validate};
pub use values::{ScalarValue, hash, values_of};
