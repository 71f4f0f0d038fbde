//! A text of the native layout: its decompressed size as u32, then an LZ4 block.
//!
//! Promises: the claimed size is checked against the block's length and `TEXT_BYTES_MAX` before allocation.

use amem_format::bytes::get_u32;
use amem_format::error::{Error, Result};
use amem_format::limits;

/// Maximum number of bytes that one byte of LZ4 expands to.
pub(crate) const LZ4_EXPANSION_MAX: u64 = 255;

/// Decodes a block, which is at `offset` of the file. An empty block is the empty text.
pub(crate) fn decode(block: &[u8], offset: u64) -> Result<String> {
    if block.is_empty() {
        return Ok(String::new());
    }
    let bad = |why: String| Error::corrupt("text", offset, why);
    if block.len() < 4 {
        return Err(bad(format!("{} bytes are not an LZ4 block", block.len())));
    }
    let claimed = get_u32(block, 0) as usize;
    Error::check_limit(
        "text in bytes",
        claimed as u64,
        limits::TEXT_BYTES_MAX as u64,
    )?;
    let packed = &block[4..];
    if claimed as u64 > LZ4_EXPANSION_MAX * packed.len() as u64 {
        return Err(bad(format!(
            "{} bytes of LZ4 cannot hold the {claimed} that they claim",
            packed.len()
        )));
    }
    let bytes = lz4_flex::block::decompress(packed, claimed).map_err(|e| bad(e.to_string()))?;
    if bytes.len() != claimed {
        return Err(bad(format!("{} bytes instead of {claimed}", bytes.len())));
    }
    String::from_utf8(bytes).map_err(|e| bad(e.to_string()))
}

/// Encodes a text as the reference does.
pub(super) fn encode(text: &str) -> Vec<u8> {
    lz4_flex::block::compress_prepend_size(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_survive() {
        for text in ["", "a", "NUL \0 and ümläut", &"again ".repeat(10_000)] {
            assert_eq!(decode(&encode(text), 0).unwrap(), text);
        }
        assert_eq!(decode(&[], 0).unwrap(), "");
    }

    #[test]
    fn the_most_compressible_text_is_within_the_bound() {
        let text = "\0".repeat(limits::TEXT_BYTES_MAX);
        assert_eq!(decode(&encode(&text), 0).unwrap(), text);
    }

    #[test]
    fn blocks_that_cannot_be_are_refused_before_allocation() {
        let check = |block: &[u8], expected: &str| {
            let error = decode(block, 7).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        };
        check(&[1, 0], "not an LZ4 block");
        check(&[255, 255, 255, 255, 0, 0], "more than the limit");
        check(&[0, 0, 15, 0, 0, 0], "cannot hold");
        check(&[9, 0, 0, 0, 0x10, b'a'], "instead of 9");
        check(&[1, 0, 0, 0, 0x10, 0xFF], "utf-8");
        check(&[4, 0, 0, 0, 0x10, b'a', 9, 0], "text at byte 7");
    }
}
