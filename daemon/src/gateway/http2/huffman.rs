//! The Huffman code of HPACK (RFC 7541, appendix B), decoding only.
//!
//! The code is canonical: the lengths define all codes, which ascend with length, then with symbol.

/// Bits of the code of each symbol; the last is EOS, which no string may contain.
#[rustfmt::skip]
const BITS: [u8; 257] = [
    13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28,
    28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 28,
    6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6,
    5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10,
    13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7,
    7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6,
    15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5,
    6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28,
    20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23,
    24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24,
    22, 21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23,
    21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23,
    26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25,
    19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27, 27,
    20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23,
    26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26,
    30,
];
/// Bits of the longest code.
const BITS_MAX: usize = 30;

/// The codes of one length.
#[derive(Clone, Copy)]
struct CodeRange {
    /// The first code.
    first: u32,
    /// The number of codes.
    count: u32,
    /// The index of their first symbol in `SYMBOLS`.
    at: usize,
}

const TABLE: ([CodeRange; BITS_MAX + 1], [u16; 257]) = table();

const fn table() -> ([CodeRange; BITS_MAX + 1], [u16; 257]) {
    let empty = CodeRange {
        first: 0,
        count: 0,
        at: 0,
    };
    let (mut rows, mut symbols) = ([empty; BITS_MAX + 1], [0u16; 257]);
    let (mut code, mut at, mut bits) = (0u32, 0, 1);
    while bits <= BITS_MAX {
        code <<= 1;
        rows[bits].first = code;
        rows[bits].at = at;
        let mut symbol = 0;
        while symbol < 257 {
            if BITS[symbol] as usize == bits {
                symbols[at] = symbol as u16;
                at += 1;
                code += 1;
                rows[bits].count += 1;
            }
            symbol += 1;
        }
        bits += 1;
    }
    (rows, symbols)
}

/// Decodes a string, and appends it. `None` if it is invalid, or longer than `most` bytes.
pub(super) fn decode(string: &[u8], out: &mut Vec<u8>, most: usize) -> Option<()> {
    let (rows, symbols) = (&TABLE.0, &TABLE.1);
    let (mut code, mut bits, begin) = (0u32, 0usize, out.len());
    for byte in string {
        for shift in (0..8).rev() {
            code = code << 1 | u32::from(byte >> shift & 1);
            bits += 1;
            let row = rows.get(bits)?;
            if let Some(place) = code.checked_sub(row.first).filter(|p| *p < row.count) {
                let symbol = symbols[row.at + place as usize];
                out.push(u8::try_from(symbol).ok()?);
                (code, bits) = (0, 0);
            }
        }
        if out.len() - begin > most {
            return None;
        }
    }
    // The padding of the last byte is a prefix of EOS, all ones, and shorter than a byte.
    (bits < 8 && code == (1 << bits) - 1).then_some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn decoded(string: &[u8]) -> Option<Vec<u8>> {
        let mut out = Vec::new();
        decode(string, &mut out, 1 << 16).map(|()| out)
    }

    #[test]
    fn the_examples_of_the_standard_are_read() {
        let hex = |text: &str| -> Vec<u8> {
            let byte = |at| u8::from_str_radix(&text[at..at + 2], 16).unwrap();
            (0..text.len()).step_by(2).map(byte).collect()
        };
        for (string, meaning) in [
            ("f1e3c2e5f23a6ba0ab90f4ff", "www.example.com"),
            ("a8eb10649cbf", "no-cache"),
            ("25a849e95bb8e8b4bf", "custom-value"),
            (
                "d07abe941054d444a8200595040b8166e082a62d1bff",
                "Mon, 21 Oct 2013 20:13:21 GMT",
            ),
        ] {
            assert_eq!(decoded(&hex(string)).unwrap(), meaning.as_bytes());
        }
        assert_eq!(decoded(&[0xf8, 0xff]), None, "padding of a whole byte");
        assert_eq!(decoded(&[0x1e]), None, "padding that is not all ones");
        assert_eq!(decoded(&[0xff; 4]), None, "the end of a string within it");
        let mut out = Vec::new();
        assert_eq!(decode(&[0; 100], &mut out, 50), None, "too long");
    }

    /// Encodes bytes.
    fn encode(text: &[u8]) -> Vec<u8> {
        let mut bits = Vec::new();
        for byte in text {
            let len = usize::from(BITS[usize::from(*byte)]);
            let row = TABLE.0[len];
            let place = TABLE.1[row.at..]
                .iter()
                .position(|symbol| *symbol == u16::from(*byte))
                .unwrap();
            let code = row.first + place as u32;
            bits.extend((0..len).rev().map(|shift| code >> shift & 1));
        }
        bits.resize(bits.len().next_multiple_of(8), 1);
        let byte = |bits: &[u32]| bits.iter().fold(0, |byte, bit| byte << 1 | *bit as u8);
        bits.chunks(8).map(byte).collect()
    }

    proptest! {
        #[test]
        fn what_is_packed_is_read_here_and_elsewhere(text: Vec<u8>) {
            let string = encode(&text);
            let other = loona_hpack::huffman::HuffmanDecoder::new().decode(&string);
            prop_assert_eq!(other.unwrap(), text.clone());
            prop_assert_eq!(decoded(&string).unwrap(), text);
        }

        #[test]
        fn any_bytes_are_read_as_another_implementation_reads_them(string: Vec<u8>) {
            let other = loona_hpack::huffman::HuffmanDecoder::new().decode(&string).ok();
            prop_assert_eq!(decoded(&string), other);
        }
    }
}
