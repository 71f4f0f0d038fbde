//! Checks values of mutations, and encodes them for operations.

use std::borrow::Cow;

use amem_format::attributes;
use amem_format::event::Attributes;

use crate::error::{Error, Result};

pub(super) fn json(map: &Attributes) -> Result<String> {
    Ok(attributes::to_json(map)?)
}

/// A vector in the byte order of the file.
pub(super) fn bytes(vector: &[f32]) -> Cow<'_, [u8]> {
    if cfg!(target_endian = "little") {
        Cow::Borrowed(bytemuck::cast_slice(vector))
    } else {
        Cow::Owned(vector.iter().flat_map(|x| x.to_le_bytes()).collect())
    }
}

pub(super) fn limit(what: &'static str, value: usize, max: usize) -> Result<()> {
    Ok(amem_format::Error::check_limit(
        what,
        value as u64,
        max as u64,
    )?)
}

pub(super) fn unit(what: &'static str, value: f32) -> Result<()> {
    if (0.0..=1.0).contains(&value) {
        Ok(())
    } else {
        Err(Error::invalid(
            what,
            format!("{value} is not within 0 and 1"),
        ))
    }
}
