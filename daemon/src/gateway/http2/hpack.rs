//! Header blocks (HPACK, RFC 7541) re-encoded: without the dynamic table, and with another `:authority`.
//!
//! Promises: no bytes make it panic, loop, or hold or return more than `HEADER_BLOCK_BYTES_MAX` and a table of 4096
//! bytes.
//! Not here: whether the headers are valid, which the server checks.

use std::collections::VecDeque;

use super::error::HeaderError;
use super::huffman;
use crate::limits::HEADER_BLOCK_BYTES_MAX;

/// Bytes of the dynamic table: the default (RFC 9113, 6.5.2).
const TABLE_BYTES_MAX: usize = 4096;
/// Overhead of an entry in bytes (RFC 7541, 4.1).
const ENTRY_BYTES: usize = 32;
/// The authority that replaces the client's.
const AUTHORITY: &[u8] = b"localhost";
/// The index of `:authority` in the static table.
const AUTHORITY_INDEX: u8 = 1;

/// Bytes of the names of the static table, from index 1 on (RFC 7541, appendix A).
#[rustfmt::skip]
const STATIC_NAME_BYTES: [u8; 61] = [
    10, 7, 7, 5, 5, 7, 7, 7, 7, 7, 7, 7, 7, 7, 14, 15,
    15, 13, 6, 27, 3, 5, 13, 13, 19, 16, 16, 14, 16, 13, 12, 6,
    4, 4, 6, 7, 4, 4, 8, 17, 13, 8, 19, 13, 4, 8, 12, 18,
    19, 5, 7, 7, 11, 6, 10, 25, 17, 10, 4, 3, 16,
];

/// The name of a header.
#[derive(Debug, Clone)]
enum Name {
    /// By its index in the static table.
    Static(u8),
    /// By its bytes.
    Text(Vec<u8>),
}

impl Name {
    fn bytes(&self) -> usize {
        match self {
            Self::Static(index) => usize::from(STATIC_NAME_BYTES[usize::from(*index) - 1]),
            Self::Text(text) => text.len(),
        }
    }

    fn is_authority(&self) -> bool {
        match self {
            Self::Static(index) => *index == AUTHORITY_INDEX,
            Self::Text(text) => text == b":authority",
        }
    }
}

/// Re-encodes the blocks of one connection, one after the other.
#[derive(Debug)]
pub(super) struct BlockEncoder {
    /// The dynamic table of the client's encoder, newest first.
    table: VecDeque<(Name, Vec<u8>)>,
    bytes: usize,
    bytes_max: usize,
}

impl BlockEncoder {
    pub(super) fn new() -> Self {
        Self {
            table: VecDeque::new(),
            bytes: 0,
            bytes_max: TABLE_BYTES_MAX,
        }
    }

    /// Re-encodes a block, and appends it to `out`.
    pub(super) fn encode(&mut self, block: &[u8], out: &mut Vec<u8>) -> Result<(), HeaderError> {
        let (mut input, begin, mut fields) = (BlockReader { block }, out.len(), 0);
        while let Some(first) = input.block.first().copied() {
            match first {
                0x80.. => match input.integer(7)? {
                    0 => return Err(HeaderError::Block),
                    index @ 1..=61 if index == usize::from(AUTHORITY_INDEX) => {
                        emit(&Name::Static(AUTHORITY_INDEX), b"", false, out);
                    }
                    index @ 1..=61 => out.push(0x80 | index as u8),
                    index => {
                        let (name, value) = self.entry(index)?;
                        emit(name, value, false, out);
                    }
                },
                0x40.. => {
                    let (name, value) = self.literal(&mut input, 6)?;
                    emit(&name, &value, false, out);
                    self.insert(name, value);
                }
                0x20.. => {
                    let bytes_max = input.integer(5)?;
                    // The size may change only at the beginning of a block.
                    if fields > 0 || bytes_max > TABLE_BYTES_MAX {
                        return Err(HeaderError::Block);
                    }
                    self.bytes_max = bytes_max;
                    self.shrink();
                    continue;
                }
                _ => {
                    let (name, value) = self.literal(&mut input, 4)?;
                    emit(&name, &value, first & 0x10 != 0, out);
                }
            }
            fields += 1;
            if out.len() - begin > HEADER_BLOCK_BYTES_MAX {
                return Err(HeaderError::TooLarge);
            }
        }
        Ok(())
    }

    fn literal(
        &self,
        input: &mut BlockReader<'_>,
        prefix: u8,
    ) -> Result<(Name, Vec<u8>), HeaderError> {
        let name = match input.integer(prefix)? {
            0 => Name::Text(input.string()?),
            index @ 1..=61 => Name::Static(index as u8),
            index => self.entry(index)?.0.clone(),
        };
        Ok((name, input.string()?))
    }

    fn entry(&self, index: usize) -> Result<&(Name, Vec<u8>), HeaderError> {
        let place = index.checked_sub(1 + STATIC_NAME_BYTES.len());
        let entry = place.and_then(|place| self.table.get(place));
        entry.ok_or(HeaderError::Block)
    }

    fn insert(&mut self, name: Name, value: Vec<u8>) {
        self.bytes += name.bytes() + value.len() + ENTRY_BYTES;
        self.table.push_front((name, value));
        self.shrink();
    }

    fn shrink(&mut self) {
        while self.bytes > self.bytes_max {
            let Some((name, value)) = self.table.pop_back() else {
                return;
            };
            self.bytes -= name.bytes() + value.len() + ENTRY_BYTES;
        }
    }
}

/// What remains of a block.
struct BlockReader<'a> {
    block: &'a [u8],
}

impl BlockReader<'_> {
    /// An integer that begins in the last `prefix` bits of a byte (RFC 7541, 5.1).
    fn integer(&mut self, prefix: u8) -> Result<usize, HeaderError> {
        let mut next = || {
            let (byte, rest) = self.block.split_first().ok_or(HeaderError::Block)?;
            self.block = rest;
            Ok(usize::from(*byte))
        };
        let most = (1 << prefix) - 1;
        let mut value = next()? & most;
        if value < most {
            return Ok(value);
        }
        // Four more bytes can say more than any block has.
        for shift in [0, 7, 14, 21] {
            let byte = next()?;
            value += (byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(HeaderError::Block)
    }

    fn string(&mut self) -> Result<Vec<u8>, HeaderError> {
        let is_huffman = self.block.first().is_some_and(|byte| byte & 0x80 != 0);
        let len = self.integer(7)?;
        let (string, rest) = self.block.split_at_checked(len).ok_or(HeaderError::Block)?;
        self.block = rest;
        if !is_huffman {
            return Ok(string.to_vec());
        }
        let mut out = Vec::with_capacity(len * 8 / 5);
        huffman::decode(string, &mut out, HEADER_BLOCK_BYTES_MAX).ok_or(HeaderError::Block)?;
        Ok(out)
    }
}

/// Appends a header as a literal without indexing.
fn emit(name: &Name, value: &[u8], secret: bool, out: &mut Vec<u8>) {
    let form = if secret { 0x10 } else { 0 };
    match name {
        Name::Static(index) => integer(form, 4, usize::from(*index), out),
        Name::Text(text) => {
            out.push(form);
            string(text, out);
        }
    }
    let value = if name.is_authority() {
        AUTHORITY
    } else {
        value
    };
    string(value, out);
}

fn string(text: &[u8], out: &mut Vec<u8>) {
    integer(0, 7, text.len(), out);
    out.extend_from_slice(text);
}

fn integer(form: u8, prefix: u8, value: usize, out: &mut Vec<u8>) {
    let most = (1 << prefix) - 1;
    if value < most {
        out.push(form | value as u8);
        return;
    }
    out.push(form | most as u8);
    let mut rest = value - most;
    while rest >= 0x80 {
        out.push(0x80 | (rest & 0x7f) as u8);
        rest >>= 7;
    }
    out.push(rest as u8);
}

#[cfg(test)]
mod tests {
    use super::*;
    use loona_hpack::{Decoder, Encoder};
    use proptest::prelude::*;

    type Fields = Vec<(Vec<u8>, Vec<u8>)>;

    /// Decodes each block with a fresh decoder: a server without a dynamic table.
    fn read(block: &[u8]) -> Fields {
        Decoder::new().decode(block).unwrap()
    }

    fn replaced(fields: &Fields) -> Fields {
        let mut fields = fields.clone();
        for (name, value) in &mut fields {
            if name == b":authority" {
                *value = AUTHORITY.to_vec();
            }
        }
        fields
    }

    #[test]
    fn the_names_of_the_static_table_have_their_lengths() {
        for (index, bytes) in (1u8..).zip(STATIC_NAME_BYTES) {
            let field = &read(&[0x80 | index])[0];
            assert_eq!(field.0.len(), usize::from(bytes), "{index}");
        }
    }

    #[test]
    fn the_blocks_of_the_standard_are_re_encoded() {
        // RFC 7541, C.4: three requests of one connection, packed with Huffman codes and a dynamic table.
        let blocks: [&[u8]; 3] = [
            b"\x82\x86\x84\x41\x8c\xf1\xe3\xc2\xe5\xf2\x3a\x6b\xa0\xab\x90\xf4\xff",
            b"\x82\x86\x84\xbe\x58\x86\xa8\xeb\x10\x64\x9c\xbf",
            b"\x82\x87\x85\xbf\x40\x88\x25\xa8\x49\xe9\x5b\xa9\x7d\x7f\x89\x25\xa8\x49\xe9\x5b\xb8\xe8\xb4\xbf",
        ];
        let (mut encoder, mut server) = (BlockEncoder::new(), Decoder::new());
        for block in blocks {
            let mut out = Vec::new();
            encoder.encode(block, &mut out).unwrap();
            assert_eq!(read(&out), replaced(&server.decode(block).unwrap()));
            assert!(read(&out).contains(&(b":authority".to_vec(), AUTHORITY.to_vec())));
        }
    }

    #[test]
    fn what_is_no_block_is_refused() {
        let long = [&[0x00, 0x01, b'a', 0x7f, 0xf1, 0x06][..], &[b'x'; 1008]].concat();
        let cases: [(&str, &[u8], bool); 9] = [
            ("index 0", &[0x80], false),
            ("index of nothing", &[0xbe], false),
            (
                "an integer without an end",
                &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
                false,
            ),
            ("a cut integer", &[0xff], false),
            ("a cut string", &[0x00, 0x03, b'a'], false),
            ("a bad Huffman string", &[0x00, 0x81, 0x00], false),
            ("a table larger than allowed", &[0x3f, 0xe2, 0x1f], false),
            ("a table that changes late", &[0x82, 0x20], false),
            ("a long string", &long, true),
        ];
        for (what, block, good) in cases {
            let packed = BlockEncoder::new().encode(block, &mut Vec::new());
            assert_eq!(packed.is_ok(), good, "{what}");
        }
    }

    #[test]
    fn a_block_that_unpacks_to_too_much_is_refused_before_it_is_held() {
        let (mut encoder, mut out) = (BlockEncoder::new(), Vec::new());
        // One entry of 4000 bytes, then many references to it, of one byte each.
        let mut block = vec![0x40, 0x01, b'a', 0x7f, 0xa1, 0x1e];
        block.extend([b'x'; 4000]);
        encoder.encode(&block, &mut out).unwrap();
        let bomb = vec![0xbe; 60_000];
        let mut out = Vec::new();
        assert_eq!(encoder.encode(&bomb, &mut out), Err(HeaderError::TooLarge));
        assert!(out.len() < HEADER_BLOCK_BYTES_MAX + 8192, "{}", out.len());
    }

    fn fields() -> impl Strategy<Value = Fields> {
        let name = prop_oneof![
            Just(b":authority".to_vec()),
            Just(b":path".to_vec()),
            Just(b"te".to_vec()),
            Just(b"accept-encoding".to_vec()),
            proptest::collection::vec(b'a'..=b'z', 1..40),
        ];
        let value = proptest::collection::vec(any::<u8>(), 0..200);
        proptest::collection::vec((name, value), 0..12)
    }

    proptest! {
        #[test]
        fn a_connection_means_the_same_after_as_before(blocks in proptest::collection::vec(fields(), 1..20)) {
            let (mut client, mut encoder) = (Encoder::new(), BlockEncoder::new());
            for block in &blocks {
                let packed = client.encode(block.iter().map(|(n, v)| (&n[..], &v[..])));
                let mut out = Vec::new();
                encoder.encode(&packed, &mut out).unwrap();
                prop_assert_eq!(read(&out), replaced(block));
            }
        }

        #[test]
        fn any_bytes_are_refused_or_give_a_block_that_can_be_read(blocks: Vec<Vec<u8>>) {
            let mut encoder = BlockEncoder::new();
            for block in &blocks {
                let mut out = Vec::new();
                if encoder.encode(block, &mut out).is_ok() {
                    prop_assert!(Decoder::new().decode(&out).is_ok());
                }
                prop_assert!(encoder.bytes <= TABLE_BYTES_MAX);
            }
        }
    }
}
