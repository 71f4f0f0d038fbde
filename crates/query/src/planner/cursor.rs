//! Page tokens: where the next page of a listing begins.
//!
//! A token is 66 bytes in URL-safe base 64 (RFC 4648, section 5): 88 characters, no padding. It holds the instance and
//! the LSN of the first page's view, the query, and the last row returned.
//!
//! The next page starts after that row, on the view that the caller asks. It leaves out events committed since the
//! first page. Other changes show: a forgotten event disappears; ordered by strength, an event that weakens may appear
//! twice and one that strengthens not at all. In an `as_of` view only forgetting changes anything. A full page has a
//! token even if no row follows.
//!
//! Promises: a token of another instance, query or version, or a damaged one, is rejected with what to do. A token is
//! not a secret and grants nothing: it holds a position in what its bearer may list anyway.
//! Not here: whether the view still reaches the LSN (`view`), what the keys mean (each query).

use uuid::Uuid;
use xxhash_rust::xxh3::xxh3_64;

use amem_format::bytes::{get_u16, get_u64, put_u16, put_u64};
use amem_format::error::{Error, Result};
use amem_format::types::{Lsn, NodeId};

/// Characters of a token.
pub(crate) const TOKEN_LEN: usize = BYTES / 3 * 4;

const VERSION: u16 = 1;
// One u16, the UUID and seven u64; the last u64 is the checksum of all before it.
const AT_INSTANCE: usize = 2;
const AT_LSN: usize = AT_INSTANCE + 16;
const AT_QUERY: usize = AT_LSN + 8;
const AT_KEYS: [usize; 2] = [AT_QUERY + 8, AT_QUERY + 16];
const AT_ID: usize = AT_QUERY + 24;
const AT_CHECKSUM: usize = AT_ID + 8;
const BYTES: usize = AT_CHECKSUM + 8;
const _: () = assert!(BYTES == 66 && BYTES.is_multiple_of(3), "no padding");

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// A position in a listing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PageCursor {
    /// The listed instance.
    pub(crate) instance: Uuid,
    /// The LSN of the view that the first page was read from.
    pub(crate) lsn: Lsn,
    /// The hash of the request without its page (`hash`).
    pub(crate) query: u64,
    /// The sort keys of the last row, as the query ordered them; 0 if the row has none.
    pub(crate) keys: [u64; 2],
    /// The event of the last row.
    pub(crate) id: NodeId,
}

impl PageCursor {
    /// Hashes the canonical bytes of a request.
    pub(crate) fn hash(request: &[u8]) -> u64 {
        xxh3_64(request)
    }

    /// Encodes the token.
    pub(crate) fn encode(&self) -> String {
        let mut raw = [0; BYTES];
        put_u16(&mut raw, 0, VERSION);
        raw[AT_INSTANCE..AT_LSN].copy_from_slice(self.instance.as_bytes());
        put_u64(&mut raw, AT_LSN, self.lsn.0);
        put_u64(&mut raw, AT_QUERY, self.query);
        put_u64(&mut raw, AT_KEYS[0], self.keys[0]);
        put_u64(&mut raw, AT_KEYS[1], self.keys[1]);
        put_u64(&mut raw, AT_ID, self.id.0);
        let checksum = xxh3_64(&raw[..AT_CHECKSUM]);
        put_u64(&mut raw, AT_CHECKSUM, checksum);
        to_text(&raw)
    }

    /// Decodes a token and checks that it belongs to the instance and the query.
    pub(crate) fn decode(token: &str, instance: Uuid, query: u64) -> Result<Self> {
        let raw = from_text(token).ok_or_else(|| refused("not a token of amemd"))?;
        let version = get_u16(&raw, 0);
        let is_whole = get_u64(&raw, AT_CHECKSUM) == xxh3_64(&raw[..AT_CHECKSUM]);
        if !is_whole {
            return Err(refused("damaged: its checksum does not match"));
        }
        if version != VERSION {
            return Err(refused("of another version of amemd"));
        }
        let mut uuid = [0; 16];
        uuid.copy_from_slice(&raw[AT_INSTANCE..AT_LSN]);
        let cursor = Self {
            instance: Uuid::from_bytes(uuid),
            lsn: Lsn(get_u64(&raw, AT_LSN)),
            query: get_u64(&raw, AT_QUERY),
            keys: AT_KEYS.map(|at| get_u64(&raw, at)),
            id: NodeId(get_u64(&raw, AT_ID)),
        };
        if cursor.instance != instance {
            return Err(Error::ForeignInstance {
                expected: instance,
                found: cursor.instance,
            });
        }
        if cursor.query != query {
            return Err(refused(
                "of another query: its filter, order or as_of was different",
            ));
        }
        Ok(cursor)
    }
}

fn refused(why: &str) -> Error {
    Error::invalid(
        "page token",
        format!("{why}; start the listing again without a token"),
    )
}

fn to_text(raw: &[u8; BYTES]) -> String {
    let mut text = [0; TOKEN_LEN];
    for (three, four) in raw.chunks_exact(3).zip(text.chunks_exact_mut(4)) {
        let bits = u32::from_be_bytes([0, three[0], three[1], three[2]]);
        for (character, shift) in four.iter_mut().zip([18, 12, 6, 0]) {
            *character = ALPHABET[(bits >> shift & 63) as usize];
        }
    }
    text.iter()
        .map(|&character| char::from(character))
        .collect()
}

fn from_text(text: &str) -> Option<[u8; BYTES]> {
    if text.len() != TOKEN_LEN {
        return None;
    }
    let mut raw = [0; BYTES];
    for (four, three) in text.as_bytes().chunks_exact(4).zip(raw.chunks_exact_mut(3)) {
        let mut bits = 0_u32;
        for &character in four {
            let value = ALPHABET.iter().position(|&c| c == character)?;
            bits = bits << 6 | value as u32;
        }
        three.copy_from_slice(&bits.to_be_bytes()[1..]);
    }
    Some(raw)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SAMPLE: PageCursor = PageCursor {
        instance: Uuid::from_u128(0x0123_4567_89ab_cdef_0123_4567_89ab_cdef),
        lsn: Lsn(42),
        query: 7,
        keys: [u64::MAX, 0x3f80_0000],
        id: NodeId(9),
    };

    fn decode(token: &str) -> Result<PageCursor> {
        PageCursor::decode(token, SAMPLE.instance, SAMPLE.query)
    }

    #[test]
    fn a_token_is_what_it_was() {
        // Golden: a token must outlive an update of the daemon, or change its version.
        let token = concat!(
            "AQABI0VniavN7wEjRWeJq83vKgAAAAAAAAAHAAAAAAAA",
            "AP__________AACAPwAAAAAJAAAAAAAAAI2i28LB2xUT",
        );
        assert_eq!(SAMPLE.encode(), token);
        assert_eq!(decode(token).unwrap(), SAMPLE);
    }

    #[test]
    fn another_instance_is_named() {
        let other = Uuid::from_u128(1);
        match PageCursor::decode(&SAMPLE.encode(), other, SAMPLE.query).unwrap_err() {
            Error::ForeignInstance { expected, found } => {
                assert_eq!((expected, found), (other, SAMPLE.instance));
            }
            error => panic!("{error}"),
        }
    }

    #[test]
    fn another_query_is_refused() {
        let error = PageCursor::decode(&SAMPLE.encode(), SAMPLE.instance, 8).unwrap_err();
        assert!(error.to_string().contains("of another query"), "{error}");
    }

    #[test]
    fn another_version_is_refused() {
        let mut raw = from_text(&SAMPLE.encode()).unwrap();
        put_u16(&mut raw, 0, VERSION + 1);
        let checksum = xxh3_64(&raw[..AT_CHECKSUM]);
        put_u64(&mut raw, AT_CHECKSUM, checksum);
        let error = decode(&to_text(&raw)).unwrap_err().to_string();
        assert!(error.contains("another version"), "{error}");
    }

    #[test]
    fn every_changed_bit_is_noticed() {
        let raw = from_text(&SAMPLE.encode()).unwrap();
        for bit in 0..BYTES * 8 {
            let mut raw = raw;
            raw[bit / 8] ^= 1 << (bit % 8);
            let error = decode(&to_text(&raw)).unwrap_err();
            assert!(error.to_string().contains("start the listing again"));
            assert!(matches!(error, Error::Invalid { .. }), "bit {bit}: {error}");
        }
    }

    proptest! {
        #[test]
        fn every_cursor_survives_a_round_trip(
            instance: u128, lsn: u64, query: u64, keys: [u64; 2], id: u64,
        ) {
            let cursor = PageCursor {
                instance: Uuid::from_u128(instance), lsn: Lsn(lsn), query, keys, id: NodeId(id),
            };
            let token = cursor.encode();
            prop_assert_eq!(token.len(), TOKEN_LEN);
            prop_assert!(token.bytes().all(|c| c.is_ascii_alphanumeric() || b"-_".contains(&c)));
            prop_assert_eq!(PageCursor::decode(&token, cursor.instance, query).unwrap(), cursor);
        }

        #[test]
        fn no_text_is_taken_for_a_token(text in "[-_A-Za-z0-9]{88}|.{0,100}") {
            let is_refused = matches!(decode(&text), Err(Error::Invalid { .. }));
            prop_assert!(is_refused);
        }
    }
}
