//! A frame: one entry of the journal.
//!
//! | at | type | field |
//! |---|---|---|
//! | 0 | u32 | length of the payload in bytes |
//! | 4 | u8 | kind: which mutation this is, for people and subscribers |
//! | 5 | u8 | more: 1 if the transaction continues in the next frame |
//! | 6 | u16 | zero |
//! | 8 | u64 | LSN, from 1 |
//! | 16 | i64 | recorded time, µs |
//! | 24 | u32 | actor |
//! | 28 | u32 | zero |
//! | 32 | u64 | checksum: XXH3-64 of bytes 0..32 and the payload, seeded with the checksum of the frame before |
//! | 40 | | payload, then zeros to a multiple of 8 |
//!
//! A frame counts only if its checksum holds and its LSN follows the one before. All zeros is no frame.

use xxhash_rust::xxh3::Xxh3;

use crate::bytes::{get_i64, get_u32, get_u64, put_i64, put_u32, put_u64};
use crate::error::{Error, Result};
use crate::limits::FRAME_BYTES_MAX;
use crate::types::{ActorId, Lsn, Micros};

/// Bytes before the payload.
pub const HEADER: usize = 40;
/// Bytes of payload that one frame can hold.
pub const PAYLOAD_MAX: usize = FRAME_BYTES_MAX - HEADER;

macro_rules! kinds {
    ($($value:literal $kind:ident $name:literal $what:literal;)*) => {
        /// Which mutation a transaction is.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum Kind {
            $(#[doc = concat!("A transaction that ", $what, ".")] $kind = $value,)*
        }

        impl Kind {
            /// Every kind, by value, from 1 without a gap.
            pub const ALL: [Self; [$($value),*].len()] = [$(Self::$kind),*];

            /// The kind's name, in lower case.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$kind => $name,)*
                }
            }

            /// What a transaction of this kind does, as docs/FORMAT.md says it.
            pub fn what(self) -> &'static str {
                match self {
                    $(Self::$kind => $what,)*
                }
            }
        }
    };
}

kinds! {
    1 Ingest "ingest" "adds events, and edges with them";
    2 Correct "correct" "adds an event that replaces another";
    3 Link "link" "adds an edge, or changes its weight";
    4 Unlink "unlink" "retracts an edge";
    5 Touch "touch" "counts accesses";
    6 Pin "pin" "exempts an event from decay";
    7 Unpin "unpin" "subjects it to decay again";
    8 Forget "forget" "hides an event";
    9 Restore "restore" "shows it again";
    10 Erase "erase" "marks events for erasure";
    11 Compress "compress" "adds an episode, and a part-of edge from each event of a session; or these of some of its events, to an episode that it adds or that an earlier such commit has added";
    12 SetVector "set-vector" "sets or removes a vector";
    13 SetAttributes "set-attributes" "sets or removes attributes";
    14 Decay "decay" "sets the moment and the rates of strength";
    15 OpenSession "open-session" "opens a session";
    16 CloseSession "close-session" "closes it";
    17 SetSettings "set-settings" "replaces the settings";
    18 Import "import" "adds the content of other files";
    19 Merge "merge" "adds what another brain has and this one lacks";
}

impl Kind {
    /// The kind of this value.
    pub fn from_u8(value: u8) -> Option<Self> {
        Self::ALL.get(usize::from(value).checked_sub(1)?).copied()
    }
}

/// The fields in front of a payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// The mutation.
    pub kind: Kind,
    /// The transaction continues in the next frame.
    pub more: bool,
    /// The frame's number.
    pub lsn: Lsn,
    /// Recorded time.
    pub time: Micros,
    /// The committing actor.
    pub actor: ActorId,
}

/// A frame with a valid header, in a chain that the caller has checked.
#[derive(Debug, Clone, Copy)]
pub struct Frame<'a> {
    /// The fields in front of the payload.
    pub header: Header,
    /// The payload.
    pub payload: &'a [u8],
    /// Position of the payload in the file.
    pub payload_position: u64,
    /// Position of the next frame.
    pub end: u64,
    /// This frame's checksum, the seed of the next.
    pub checksum: u64,
}

/// Bytes of a frame whose payload has `payload` bytes.
pub fn encoded_len(payload: usize) -> usize {
    (HEADER + payload).next_multiple_of(8)
}

/// Appends a frame and returns its checksum.
pub fn encode(out: &mut Vec<u8>, header: &Header, payload: &[u8], seed: u64) -> Result<u64> {
    Error::check_limit(
        "the payload of a frame (bytes)",
        payload.len() as u64,
        PAYLOAD_MAX as u64,
    )?;
    let mut front = [0; HEADER];
    put_u32(&mut front, 0, payload.len() as u32);
    front[4] = header.kind as u8;
    front[5] = u8::from(header.more);
    put_u64(&mut front, 8, header.lsn.0);
    put_i64(&mut front, 16, header.time.0);
    put_u32(&mut front, 24, header.actor.0);
    let checksum = checksum(&front, payload, seed);
    put_u64(&mut front, 32, checksum);
    out.extend_from_slice(&front);
    out.extend_from_slice(payload);
    out.resize(out.len().next_multiple_of(8), 0);
    Ok(checksum)
}

/// The content of a position where a frame can begin.
#[derive(Debug)]
pub enum FrameSlot<'a> {
    /// A frame that continues the chain.
    Frame(Frame<'a>),
    /// Zeros, or the end of the bytes.
    Nothing,
    /// A torn or foreign frame, and why.
    Bad(String),
    /// A frame of the chain that a newer version wrote, and what is unknown in it.
    Newer(String),
}

/// Splits the bytes of a commit into its frames, without their checksums: the caller has checked or made them.
pub fn split(mut bytes: &[u8], mut position: u64) -> Result<Vec<Frame<'_>>> {
    let mut out = Vec::new();
    while bytes.len() >= HEADER {
        let seedless = (Lsn(get_u64(bytes, 8)), get_u64(bytes, 32));
        match parse(bytes, position, seedless.0, seedless.1) {
            FrameSlot::Frame(frame) => {
                let len = (frame.end - position) as usize;
                (bytes, position) = (&bytes[len..], frame.end);
                out.push(frame);
            }
            FrameSlot::Nothing | FrameSlot::Bad(_) | FrameSlot::Newer(_) => break,
        }
    }
    if bytes.is_empty() {
        Ok(out)
    } else {
        Err(Error::corrupt(
            "journal",
            position,
            "a commit that was there is gone",
        ))
    }
}

/// Reads the frame at the start of `bytes`. `position` is that of `bytes` in the file, `seed` the checksum before.
pub fn decode(bytes: &[u8], position: u64, expected: Lsn, seed: u64) -> FrameSlot<'_> {
    if bytes.len() < HEADER {
        return if bytes.iter().all(|&b| b == 0) {
            FrameSlot::Nothing
        } else {
            FrameSlot::Bad("a frame's header is cut short".into())
        };
    }
    let front = &bytes[..HEADER];
    if front.iter().all(|&b| b == 0) {
        return FrameSlot::Nothing;
    }
    let len = get_u32(front, 0) as usize;
    if len > PAYLOAD_MAX || encoded_len(len) > bytes.len() {
        return FrameSlot::Bad(format!(
            "a frame claims {len} bytes of payload, {} are there",
            bytes.len() - HEADER
        ));
    }
    let payload = &bytes[HEADER..HEADER + len];
    let found = checksum(front, payload, seed);
    if found != get_u64(front, 32) {
        return FrameSlot::Bad("a frame's checksum does not hold".into());
    }
    parse(bytes, position, expected, found)
}

/// Reads a frame without computing its checksum.
fn parse(bytes: &[u8], position: u64, expected: Lsn, found: u64) -> FrameSlot<'_> {
    let front = &bytes[..HEADER];
    let len = get_u32(front, 0) as usize;
    let Some(payload) = bytes
        .get(HEADER..HEADER + len)
        .filter(|_| encoded_len(len) <= bytes.len())
    else {
        return FrameSlot::Bad("a frame is cut short".into());
    };
    let lsn = Lsn(get_u64(front, 8));
    if lsn != expected || lsn.0 == 0 {
        return FrameSlot::Bad(format!("a frame has LSN {lsn}, {expected} should follow"));
    }
    let end = encoded_len(len);
    // No checksum covers the padding.
    if bytes[HEADER + len..end].iter().any(|&b| b != 0) {
        return FrameSlot::Bad("the padding of a frame is not zero".into());
    }
    let zeros = front[6..8].iter().chain(&front[28..32]);
    let (Some(kind), true, true) = (
        Kind::from_u8(front[4]),
        front[5] <= 1,
        zeros.copied().all(|b| b == 0),
    ) else {
        // Its checksum holds and it continues the chain: it is whole, and says what this version does not know.
        return FrameSlot::Newer(format!(
            "a frame of kind {}, more {} or with reserved bytes that are not zero",
            front[4], front[5]
        ));
    };
    FrameSlot::Frame(Frame {
        header: Header {
            kind,
            more: front[5] == 1,
            lsn,
            time: Micros(get_i64(front, 16)),
            actor: ActorId(get_u32(front, 24)),
        },
        payload,
        payload_position: position + HEADER as u64,
        end: position + end as u64,
        checksum: found,
    })
}

fn checksum(front: &[u8], payload: &[u8], seed: u64) -> u64 {
    let mut hasher = Xxh3::with_seed(seed);
    hasher.update(&front[..32]);
    hasher.update(payload);
    hasher.digest()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(lsn: u64) -> Header {
        Header {
            kind: Kind::Ingest,
            more: false,
            lsn: Lsn(lsn),
            time: Micros(7),
            actor: ActorId(2),
        }
    }

    #[test]
    fn a_frame_reads_back() {
        for len in 0..40 {
            let payload: Vec<u8> = (0..len).map(|i| i as u8 + 1).collect();
            let mut out = Vec::new();
            let checksum = encode(&mut out, &header(5), &payload, 99).unwrap();
            assert_eq!(out.len(), encoded_len(len));
            let FrameSlot::Frame(frame) = decode(&out, 8192, Lsn(5), 99) else {
                panic!("no frame")
            };
            assert_eq!(frame.header, header(5));
            assert_eq!(frame.payload, payload);
            assert_eq!(
                (frame.end, frame.checksum),
                (8192 + out.len() as u64, checksum)
            );
        }
    }

    #[test]
    fn any_flipped_bit_another_seed_or_lsn_is_no_frame() {
        let mut out = Vec::new();
        encode(&mut out, &header(5), b"payload of a frame", 99).unwrap();
        for bit in 0..out.len() * 8 {
            let mut bad = out.clone();
            bad[bit / 8] ^= 1 << (bit % 8);
            assert!(
                matches!(decode(&bad, 0, Lsn(5), 99), FrameSlot::Bad(_)),
                "bit {bit}"
            );
        }
        assert!(matches!(decode(&out, 0, Lsn(5), 98), FrameSlot::Bad(_)));
        assert!(matches!(decode(&out, 0, Lsn(6), 99), FrameSlot::Bad(_)));
        assert!(matches!(
            decode(&out[..out.len() - 1], 0, Lsn(5), 99),
            FrameSlot::Bad(_)
        ));
        assert!(matches!(
            decode(&[0; 64], 0, Lsn(5), 99),
            FrameSlot::Nothing
        ));
        assert!(matches!(decode(&[], 0, Lsn(5), 99), FrameSlot::Nothing));
    }

    #[test]
    fn every_kind_has_its_value() {
        for value in 0..=255 {
            let is_kind = (1..=Kind::ALL.len()).contains(&usize::from(value));
            assert_eq!(
                Kind::from_u8(value).map(|k| k as u8),
                is_kind.then_some(value)
            );
        }
    }
}
