//! Texts: each is one LZ4 block after its decompressed size (u32).
//!
//! A block of literals alone has the text as it is, so a reader borrows it from the mapping. A text that compression
//! shrinks by less than a tenth is stored so.

use std::borrow::Cow;

use crate::bytes::get_u32;
use crate::error::{Error, Result};
use crate::limits::TEXT_BYTES_MAX;

/// Shorter texts are stored as literals: LZ4 saves little there, and readers borrow literals without a copy.
const PACKED_FROM: usize = 256;
/// LZ4 expands a byte to at most this many.
const EXPANSION_MAX: usize = 255;

/// Appends a text's block, or nothing for an empty text. Returns the number of bytes appended.
pub fn encode(out: &mut Vec<u8>, text: &str) -> usize {
    let start = out.len();
    if text.is_empty() {
        return 0;
    }
    let bytes = text.as_bytes();
    let literal = literal_len(bytes.len());
    if bytes.len() >= PACKED_FROM {
        let packed = lz4_flex::block::compress_prepend_size(bytes);
        if packed.len() * 10 <= literal * 9 {
            out.extend_from_slice(&packed);
            return out.len() - start;
        }
    }
    out.extend_from_slice(&(bytes.len() as u32).to_le_bytes());
    push_literals(out, bytes);
    debug_assert_eq!(out.len() - start, literal);
    out.len() - start
}

/// Bytes of a block of `len` literals.
fn literal_len(len: usize) -> usize {
    4 + 1 + if len >= 15 { (len - 15) / 255 + 1 } else { 0 } + len
}

fn push_literals(out: &mut Vec<u8>, bytes: &[u8]) {
    if bytes.len() < 15 {
        out.push((bytes.len() as u8) << 4);
    } else {
        out.push(15 << 4);
        let mut rest = bytes.len() - 15;
        while rest >= 255 {
            out.push(255);
            rest -= 255;
        }
        out.push(rest as u8);
    }
    out.extend_from_slice(bytes);
}

/// Decodes the block at `position` in the file; borrows its text if the block is all literals.
pub fn decode(block: &[u8], position: u64) -> Result<Cow<'_, str>> {
    let bad = |why: String| Error::corrupt("text", position, why);
    if block.is_empty() {
        return Ok(Cow::Borrowed(""));
    }
    if block.len() < 5 {
        return Err(bad("a block of fewer than 5 bytes".into()));
    }
    let size = get_u32(block, 0) as usize;
    let packed = &block[4..];
    if size == 0 {
        return Err(bad(
            "its block says that it is empty: an empty text has none".into(),
        ));
    }
    if size > TEXT_BYTES_MAX || size > packed.len().saturating_mul(EXPANSION_MAX) {
        return Err(bad(format!(
            "{} compressed bytes claim to be a text of {size}",
            packed.len()
        )));
    }
    if let Some(text) = literals(packed, size) {
        return std::str::from_utf8(text)
            .map(Cow::Borrowed)
            .map_err(|e| bad(e.to_string()));
    }
    let bytes = lz4_flex::block::decompress(packed, size).map_err(|e| bad(e.to_string()))?;
    if bytes.len() != size {
        return Err(bad(format!(
            "a text of {} bytes claims {size}",
            bytes.len()
        )));
    }
    String::from_utf8(bytes)
        .map(Cow::Owned)
        .map_err(|e| bad(e.to_string()))
}

/// The text of a block of exactly `size` literals.
fn literals(packed: &[u8], size: usize) -> Option<&[u8]> {
    let start = packed.len().checked_sub(size)?;
    if start != literal_len(size) - 4 - size {
        return None;
    }
    let front = if size < 15 {
        packed[0] == (size as u8) << 4
    } else {
        packed[0] == 15 << 4
            && packed[1..start - 1].iter().all(|&b| b == 255)
            && usize::from(packed[start - 1]) == (size - 15) % 255
    };
    front.then(|| &packed[start..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_every_length_read_back_and_literals_are_borrowed() {
        for len in (0..600).chain([4_000, 70_000]) {
            let text: String = (0..len)
                .map(|i| char::from(b'a' + (i % 1009 * i % 26) as u8))
                .collect();
            let mut block = Vec::new();
            assert_eq!(encode(&mut block, &text), block.len());
            assert_eq!(decode(&block, 0).unwrap(), text);
            assert_eq!(block.is_empty(), len == 0);
            if (1..PACKED_FROM).contains(&len) {
                assert!(matches!(decode(&block, 0).unwrap(), Cow::Borrowed(_)));
            }
        }
    }

    #[test]
    fn a_block_of_zeros_is_damage_and_no_text() {
        for len in [4, 5, 64, 4096] {
            let refused = decode(&vec![0; len], 0).unwrap_err();
            assert!(matches!(refused, Error::Corrupt { .. }), "{len}: {refused}");
        }
    }

    #[test]
    fn other_decoders_read_our_literals() {
        for len in [1, 14, 15, 16, 269, 270, 271, 525, 1_000] {
            let text = "x".repeat(len);
            let mut block = (len as u32).to_le_bytes().to_vec();
            push_literals(&mut block, text.as_bytes());
            assert_eq!(
                lz4_flex::block::decompress_size_prepended(&block).unwrap(),
                text.as_bytes()
            );
            assert!(
                matches!(decode(&block, 0).unwrap(), Cow::Borrowed(_)),
                "{len}"
            );
        }
    }

    #[test]
    fn a_text_that_shrinks_is_compressed() {
        let mut block = Vec::new();
        encode(&mut block, &"the same words again and again. ".repeat(30));
        assert!(block.len() < 200);
    }

    #[test]
    fn a_bomb_is_refused_before_it_is_allocated() {
        let mut bomb = u32::MAX.to_le_bytes().to_vec();
        bomb.extend_from_slice(&[0x1f, 0, 0, 0, 0]);
        assert!(decode(&bomb, 0).unwrap_err().to_string().contains("claim"));
        let mut bomb = 5_000u32.to_le_bytes().to_vec();
        bomb.extend_from_slice(&[0x1f, 65, 1, 0]);
        assert!(decode(&bomb, 0).is_err());
    }

    #[test]
    fn bytes_that_are_no_text_are_errors() {
        let mut block = 2u32.to_le_bytes().to_vec();
        block.extend_from_slice(&[2 << 4, 0xff, 0xfe]);
        assert!(
            decode(&block, 7)
                .unwrap_err()
                .to_string()
                .contains("byte 7")
        );
        for cut in 1..block.len() {
            assert!(decode(&block[..cut], 0).is_err());
        }
    }
}
