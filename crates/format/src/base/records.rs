//! Sections that count their records: how many they are, the records, and what they refer to behind them.

use super::section::Section;
use crate::error::Result;

/// Records of `LEN` bytes each from `START` on; their number is the section's first u64.
#[derive(Debug, Clone, Copy)]
pub(super) struct Records<'a, const START: u64, const LEN: u64> {
    pub(super) section: Section<'a>,
    pub(super) count: u64,
}

impl<'a, const START: u64, const LEN: u64> Records<'a, START, LEN> {
    /// Checks that the section has all of its records.
    pub(super) fn read(section: Section<'a>) -> Result<Self> {
        let count = section.u64(0)?;
        let bytes = count.checked_mul(LEN);
        let bytes = bytes.ok_or_else(|| section.bad(0, "the count overflows"))?;
        section.slice(START, bytes)?;
        Ok(Self { section, count })
    }

    /// Where a record begins in the section, for errors.
    #[inline]
    pub(super) fn offset(&self, position: u64) -> u64 {
        START.saturating_add(position.saturating_mul(LEN))
    }

    /// Where the records end.
    #[inline]
    pub(super) fn end(&self) -> u64 {
        START + self.count * LEN
    }

    /// The bytes of a record. A position past the last is an error only where the section ends.
    #[inline]
    pub(super) fn at(&self, position: u64) -> Result<&'a [u8]> {
        self.section.slice(self.offset(position), LEN)
    }

    /// The position of the first record that is not before what is looked for; the records ascend.
    #[inline]
    pub(super) fn partition(&self, is_before: impl Fn(&[u8]) -> bool) -> Result<u64> {
        let (mut from, mut to) = (0, self.count);
        while from < to {
            let middle = (from + to) / 2;
            if is_before(self.at(middle)?) {
                from = middle + 1
            } else {
                to = middle
            }
        }
        Ok(from)
    }
}

/// A section that is its records, and what is read of it in the same way everywhere.
macro_rules! records {
    ($name:ident: $what:literal, $start:literal + $len:expr) => {
        /// The section, read in place.
        #[derive(Debug, Clone, Copy)]
        pub struct $name<'a>(Records<'a, $start, { $len }>);

        impl<'a> $name<'a> {
            /// Checks that the section has all of its records.
            pub fn read(section: Section<'a>) -> Result<Self> {
                Records::read(section).map(Self)
            }

            #[doc = concat!("The number of ", $what, ".")]
            pub fn len(&self) -> u64 {
                self.0.count
            }

            /// True if there are none.
            pub fn is_empty(&self) -> bool {
                self.0.count == 0
            }
        }
    };
}
pub(super) use records;
