//! Little-endian decoding at explicit offsets, with checked arithmetic.
//!
//! `Cursor` reads untrusted bytes and reports what is missing; the free functions read from slices whose length was
//! checked before.

use crate::error::{Error, Result};

macro_rules! fixed {
    ($get:ident, $put:ident, $t:ty) => {
        /// Reads a little-endian value at `at`; the caller has checked the length.
        #[inline(always)]
        pub fn $get(bytes: &[u8], at: usize) -> $t {
            const SIZE: usize = size_of::<$t>();
            let mut raw = [0; SIZE];
            raw.copy_from_slice(&bytes[at..at + SIZE]);
            <$t>::from_le_bytes(raw)
        }

        /// Writes a little-endian value at `at`.
        #[inline(always)]
        pub fn $put(bytes: &mut [u8], at: usize, value: $t) {
            bytes[at..at + size_of::<$t>()].copy_from_slice(&value.to_le_bytes());
        }
    };
}

fixed!(get_u16, put_u16, u16);
fixed!(get_u32, put_u32, u32);
fixed!(get_u64, put_u64, u64);
fixed!(get_i64, put_i64, i64);
fixed!(get_f32, put_f32, f32);

/// The next multiple of `align`, a power of two; `None` on overflow.
pub fn align_up(value: u64, align: u64) -> Option<u64> {
    debug_assert!(align.is_power_of_two());
    Some(value.checked_add(align - 1)? & !(align - 1))
}

/// The index of the last byte that is not zero. Zeros are compared in blocks, at the speed of memory.
pub fn last_set(bytes: &[u8]) -> Option<usize> {
    const ZEROS: [u8; 4096] = [0; 4096];
    let mut end = bytes.len();
    for part in bytes.rchunks(ZEROS.len()) {
        let start = end - part.len();
        if part != &ZEROS[..part.len()] {
            return part.iter().rposition(|&b| b != 0).map(|at| start + at);
        }
        end = start;
    }
    None
}

/// The bytes `offset..offset + len`; `Truncated` names `what` if the file is shorter.
pub fn slice<'a>(bytes: &'a [u8], offset: u64, len: u64, what: &'static str) -> Result<&'a [u8]> {
    let end = offset
        .checked_add(len)
        .filter(|&end| end <= bytes.len() as u64)
        .ok_or(Error::Truncated {
            what,
            needed: offset.saturating_add(len),
            len: bytes.len() as u64,
        })?;
    Ok(&bytes[offset as usize..end as usize])
}

/// Reads untrusted bytes from front to back.
#[derive(Debug, Clone)]
pub struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
    /// The part of the file, for errors.
    what: &'static str,
    /// Offset of `bytes` in the file, for errors.
    base: u64,
}

impl<'a> Cursor<'a> {
    /// A cursor at the start of `bytes`, which are at offset `base` of the file.
    pub fn new(bytes: &'a [u8], what: &'static str, base: u64) -> Self {
        Self {
            bytes,
            at: 0,
            what,
            base,
        }
    }

    /// The position in the file.
    pub fn position(&self) -> u64 {
        self.base + self.at as u64
    }

    /// The position in the bytes.
    pub fn at(&self) -> usize {
        self.at
    }

    /// The number of unread bytes.
    pub fn remaining(&self) -> usize {
        self.bytes.len() - self.at
    }

    /// True if every byte is read.
    pub fn is_empty(&self) -> bool {
        self.remaining() == 0
    }

    /// `Error::Corrupt` at the current position.
    pub fn bad(&self, why: impl Into<String>) -> Error {
        Error::corrupt(self.what, self.position(), why)
    }

    /// The next byte, which stays unread; `None` at the end.
    pub fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    /// The next `len` bytes.
    pub fn take(&mut self, len: usize) -> Result<&'a [u8]> {
        if len > self.remaining() {
            return Err(self.bad(format!("{len} bytes needed, {} left", self.remaining())));
        }
        let out = &self.bytes[self.at..self.at + len];
        self.at += len;
        Ok(out)
    }

    /// Skips to a multiple of `align` from the start of the bytes.
    pub fn align(&mut self, align: usize) -> Result<()> {
        let to = self.at.next_multiple_of(align);
        self.take(to - self.at).map(|_| ())
    }

    /// A byte.
    pub fn u8(&mut self) -> Result<u8> {
        Ok(self.take(1)?[0])
    }

    /// A 32-bit number.
    pub fn u32(&mut self) -> Result<u32> {
        Ok(get_u32(self.take(4)?, 0))
    }

    /// A 64-bit number.
    pub fn u64(&mut self) -> Result<u64> {
        Ok(get_u64(self.take(8)?, 0))
    }

    /// A signed 64-bit number.
    pub fn i64(&mut self) -> Result<i64> {
        Ok(get_i64(self.take(8)?, 0))
    }

    /// A finite 32-bit float.
    pub fn f32(&mut self) -> Result<f32> {
        let value = get_f32(self.take(4)?, 0);
        if value.is_finite() {
            Ok(value)
        } else {
            Err(self.bad("a number that is not finite"))
        }
    }

    /// A byte string after its length as u32.
    pub fn blob(&mut self) -> Result<&'a [u8]> {
        let len = self.u32()? as usize;
        self.take(len)
    }

    /// A UTF-8 string after its length as u32.
    pub fn str(&mut self) -> Result<&'a str> {
        let bytes = self.blob()?;
        std::str::from_utf8(bytes).map_err(|e| self.bad(e.to_string()))
    }
}

/// Appends the length of a byte string as u32, then the bytes.
pub fn push_blob(out: &mut Vec<u8>, bytes: &[u8]) {
    out.extend_from_slice(&(bytes.len() as u32).to_le_bytes());
    out.extend_from_slice(bytes);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_byte_that_is_set_is_found_wherever_it_stands() {
        assert_eq!(last_set(&[]), None);
        for len in [1, 4095, 4096, 4097, 10_000] {
            assert_eq!(last_set(&vec![0; len]), None);
            for at in [0, 1, 4095, 4096, 5904, 9999] {
                let mut bytes = vec![0; len];
                if let Some(byte) = bytes.get_mut(at) {
                    *byte = 1;
                    bytes[0] = 1;
                    assert_eq!(last_set(&bytes), Some(at), "of {len}");
                }
            }
        }
    }
}
