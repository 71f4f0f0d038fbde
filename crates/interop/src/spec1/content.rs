//! The content block: all texts, then all metadata, in one LZ4 frame or uncompressed.
//!
//! Promises: decompression stops at the size in the header, which is checked against the compressed size and
//! [`CONTENT_BYTES_MAX`] before allocation.

use std::borrow::Cow;
use std::io::{Read, Write};

use lz4_flex::frame::{FrameDecoder, FrameEncoder, FrameInfo};

use super::header::{IS_COMPRESSED, Spec1Sections};
use crate::foreign::export::write_error;
use crate::foreign::text::LZ4_EXPANSION_MAX;
use amem_format::error::{Error, Result};

/// Maximum decompressed size of all texts and metadata. The layout allows 4 GiB − 1; this bounds what a hostile file
/// can make a reader allocate.
pub const CONTENT_BYTES_MAX: u64 = 2 << 30;

/// Magic of an LZ4 frame. The decoder also accepts legacy frames, which the specification does not allow.
const FRAME_MAGIC: [u8; 4] = [0x04, 0x22, 0x4D, 0x18];
/// Flag in the byte after the magic: a checksum follows the end mark.
const FRAME_HAS_CHECKSUM: u8 = 4;

/// Decompresses the content.
pub(super) fn decode<'a>(sections: &Spec1Sections<'a>) -> Result<Cow<'a, [u8]>> {
    let packed = sections.content;
    let claimed = u64::from(sections.header.content_uncompressed);
    Error::check_limit("content in bytes", claimed, CONTENT_BYTES_MAX)?;
    let bad = |why: String| {
        let at = sections.header.content_offset;
        Error::corrupt("spec-1 content", at, why)
    };
    if !sections.header.has(IS_COMPRESSED) {
        if claimed != packed.len() as u64 {
            let len = packed.len();
            return Err(bad(format!(
                "{len} bytes, not compressed, claim to be {claimed}"
            )));
        }
        return Ok(Cow::Borrowed(packed));
    }
    if claimed > LZ4_EXPANSION_MAX * packed.len() as u64 {
        let len = packed.len();
        return Err(bad(format!(
            "{len} bytes of LZ4 cannot hold the {claimed} that they claim"
        )));
    }
    if !is_one_frame(packed) {
        return Err(bad("it is not one LZ4 frame".to_owned()));
    }
    let mut rest = packed;
    let mut content = Vec::new();
    FrameDecoder::new(&mut rest)
        .take(claimed + 1)
        .read_to_end(&mut content)
        .map_err(|e| bad(e.to_string()))?;
    if content.len() as u64 != claimed || !rest.is_empty() {
        return Err(bad(format!(
            "{} bytes instead of {claimed}, {} of the frame unread",
            content.len(),
            rest.len()
        )));
    }
    Ok(Cow::Owned(content))
}

/// Checks magic and end mark. The decoder accepts a missing end mark.
fn is_one_frame(packed: &[u8]) -> bool {
    let Some(flags) = packed.strip_prefix(&FRAME_MAGIC).and_then(<[u8]>::first) else {
        return false;
    };
    let checksum = if flags & FRAME_HAS_CHECKSUM != 0 {
        4
    } else {
        0
    };
    let end = packed.len().saturating_sub(checksum);
    packed[..end].ends_with(&[0; 4])
}

/// Compresses content incrementally.
pub(super) struct ContentEncoder {
    encoder: FrameEncoder<Vec<u8>>,
    bytes: u64,
}

impl ContentEncoder {
    pub(super) fn new() -> Self {
        let info = FrameInfo::new().content_checksum(true);
        Self {
            encoder: FrameEncoder::with_frame_info(info, Vec::new()),
            bytes: 0,
        }
    }

    /// Uncompressed bytes so far.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Appends bytes; returns their offset in the content.
    pub(super) fn push(&mut self, bytes: &[u8]) -> Result<u64> {
        let at = self.bytes;
        self.bytes += bytes.len() as u64;
        Error::check_limit("content in bytes", self.bytes, CONTENT_BYTES_MAX)?;
        self.encoder.write_all(bytes).map_err(write_error)?;
        Ok(at)
    }

    /// The frame.
    pub(super) fn finish(self) -> Result<Vec<u8>> {
        self.encoder.finish().map_err(|e| write_error(e.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::super::header::{HAS_INDEXES, Spec1Header};
    use super::*;

    fn check(flags: u16, packed: &[u8], claimed: u32) -> Result<Vec<u8>> {
        let header = Spec1Header {
            flags: flags | HAS_INDEXES,
            node_count: 0,
            edge_count: 0,
            dimension: 1,
            session_count: 0,
            content_offset: 64,
            content_length: packed.len() as u64,
            vector_offset: 0,
            index_offset: 64 + packed.len() as u64,
            content_uncompressed: claimed,
        };
        let mut file = header.encode().to_vec();
        file.extend_from_slice(packed);
        decode(&Spec1Sections::parse(&file)?).map(Cow::into_owned)
    }

    fn pack(content: &[u8]) -> Vec<u8> {
        let mut packer = ContentEncoder::new();
        packer.push(content).unwrap();
        packer.finish().unwrap()
    }

    #[test]
    fn content_survives() {
        let long = "some words, ".repeat(1 << 19).into_bytes();
        for content in [&b""[..], b"short", &vec![0; 9 << 20], &long] {
            let len = content.len() as u32;
            assert!(check(IS_COMPRESSED, &pack(content), len).unwrap() == content);
        }
        assert_eq!(check(0, b"as it is", 8).unwrap(), b"as it is");
    }

    #[test]
    fn content_that_cannot_be_is_refused() {
        let refused = |flags, packed: &[u8], claimed, expected: &str| {
            let error = check(flags, packed, claimed).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        };
        let good = pack(b"abc");
        refused(IS_COMPRESSED, &good, u32::MAX, "more than the limit");
        refused(IS_COMPRESSED, &good, 1 << 30, "cannot hold");
        refused(IS_COMPRESSED, &good, 2, "3 bytes instead of 2");
        refused(IS_COMPRESSED, &good, 4, "3 bytes instead of 4");
        refused(
            IS_COMPRESSED,
            &good[..good.len() - 8],
            3,
            "not one LZ4 frame",
        );
        refused(
            IS_COMPRESSED,
            &[&good[..], &good].concat(),
            3,
            "of the frame unread",
        );
        refused(IS_COMPRESSED, b"abc", 3, "not one LZ4 frame");
        refused(0, b"abc", 4, "not compressed");
        // A frame that holds more than it claims stops there: 9 MiB of zeros, 100 bytes claimed.
        refused(
            IS_COMPRESSED,
            &pack(&vec![0; 9 << 20]),
            100,
            "101 bytes instead of 100",
        );
        let mut flipped = good;
        let middle = flipped.len() / 2;
        flipped[middle] ^= 1;
        assert!(check(IS_COMPRESSED, &flipped, 3).is_err());
    }
}
