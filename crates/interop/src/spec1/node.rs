//! A node record of a spec-1 file.

use super::header::{NODE_BYTES, Spec1Sections};
use crate::foreign::layout::HEADER_BYTES;
use amem_format::bytes::{get_f32, get_i64, get_u32, get_u64};
use amem_format::error::{Error, Result};
use amem_format::types::Micros;

/// The offset of a missing vector or metadata.
pub(super) const NONE: u64 = u64::MAX;
/// Times of the layout are in seconds.
pub(super) const MICROS_PER_SECOND: i64 = 1_000_000;

/// A node record.
pub(super) struct Spec1Node<'a> {
    pub(super) record: &'a [u8],
    pub(super) position: usize,
}

impl<'a> Spec1Node<'a> {
    /// The record at a valid position.
    pub(super) fn at(sections: &Spec1Sections<'a>, position: usize) -> Self {
        Self {
            record: &sections.nodes[position * NODE_BYTES..][..NODE_BYTES],
            position,
        }
    }

    pub(super) fn event_type(&self) -> u8 {
        self.record[0]
    }

    pub(super) fn session(&self) -> u32 {
        get_u32(self.record, 4)
    }

    pub(super) fn confidence(&self) -> f32 {
        get_f32(self.record, 8)
    }

    pub(super) fn seconds(&self) -> i64 {
        get_i64(self.record, 12)
    }

    /// Recorded time.
    ///
    /// # Errors
    /// If it overflows microseconds.
    pub(super) fn micros(&self) -> Result<Micros> {
        self.seconds()
            .checked_mul(MICROS_PER_SECOND)
            .map(Micros)
            .ok_or_else(|| self.bad(format!("its time is {} seconds", self.seconds())))
    }

    pub(super) fn content_offset(&self) -> u64 {
        get_u64(self.record, 20)
    }

    pub(super) fn content_length(&self) -> u32 {
        get_u32(self.record, 28)
    }

    pub(super) fn vector_offset(&self) -> u64 {
        get_u64(self.record, 32)
    }

    pub(super) fn metadata_offset(&self) -> u64 {
        get_u64(self.record, 40)
    }

    pub(super) fn metadata_length(&self) -> u32 {
        get_u32(self.record, 48)
    }

    pub(super) fn bad(&self, why: impl Into<String>) -> Error {
        let offset = HEADER_BYTES + self.position * NODE_BYTES;
        Error::corrupt("spec-1 node record", offset as u64, why)
    }
}
