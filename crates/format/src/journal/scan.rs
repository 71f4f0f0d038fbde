//! Scans a journal: whole transactions in order, up to the end of the chain.

use super::frame::{self, Frame, FrameSlot};
use super::op::Commit;
use crate::error::{Error, Result};
use crate::limits::TRANSACTION_BYTES_MAX;
use crate::types::Lsn;

/// The state of a scan: enough to continue it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    /// Position of the next frame in the file.
    pub at: u64,
    /// The LSN of the last frame seen.
    pub lsn: Lsn,
    /// The checksum of the last frame seen, or the journal's seed.
    pub checksum: u64,
}

/// One step of a scan.
#[derive(Debug)]
pub enum ScanStep<'a> {
    /// A whole transaction.
    Transaction {
        /// Its number, time, actor and kind.
        commit: Commit,
        /// Its frames, in order.
        frames: Vec<Frame<'a>>,
        /// The state after it.
        after: Position,
    },
    /// The end of the chain.
    End {
        /// Why the bytes there are no transaction; `None` for zeros.
        torn: Option<String>,
    },
}

/// Reads the transaction at a position. `bytes` go from `from.at` to the end of what may be read.
pub fn next(bytes: &[u8], from: Position) -> Result<ScanStep<'_>> {
    next_within(bytes, from, TRANSACTION_BYTES_MAX as u64)
}

fn next_within(bytes: &[u8], from: Position, bytes_max: u64) -> Result<ScanStep<'_>> {
    let mut frames: Vec<Frame<'_>> = Vec::with_capacity(1);
    let mut at = from;
    let mut total = 0;
    loop {
        let skip = (at.at - from.at) as usize;
        let rest = bytes.get(skip..).unwrap_or_default();
        match frame::decode(rest, at.at, Lsn(at.lsn.0.wrapping_add(1)), at.checksum) {
            FrameSlot::Nothing if frames.is_empty() => return Ok(ScanStep::End { torn: None }),
            FrameSlot::Nothing => {
                return Ok(ScanStep::End {
                    torn: Some("a transaction is not whole".into()),
                });
            }
            FrameSlot::Bad(why) => return Ok(ScanStep::End { torn: Some(why) }),
            FrameSlot::Newer(what) => return Err(Error::Newer { what }),
            FrameSlot::Frame(frame) => {
                let damage = |why: &str| Err(Error::corrupt("transaction", at.at, why));
                // Headers count: each frame takes memory, even an empty one.
                total += frame.end - at.at;
                if total > bytes_max {
                    return damage("longer than the limit");
                }
                if frame.header.more && frame.payload.is_empty() {
                    return damage("it goes on behind a frame that says nothing");
                }
                if frames.first().is_some_and(|first| {
                    (first.header.kind, first.header.actor, first.header.time)
                        != (frame.header.kind, frame.header.actor, frame.header.time)
                }) {
                    return damage("its frames disagree");
                }
                at = Position {
                    at: frame.end,
                    lsn: frame.header.lsn,
                    checksum: frame.checksum,
                };
                let more = frame.header.more;
                frames.push(frame);
                if !more {
                    let header = frame.header;
                    let commit = Commit {
                        lsn: header.lsn,
                        time: header.time,
                        actor: header.actor,
                        kind: header.kind,
                    };
                    return Ok(ScanStep::Transaction {
                        commit,
                        frames,
                        after: at,
                    });
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::frame::{Header, Kind};
    use crate::types::{ActorId, Micros};

    const START: Position = Position {
        at: 8192,
        lsn: Lsn(4),
        checksum: 99,
    };

    /// Frames of one transaction, with these payloads.
    fn frames(payloads: &[&[u8]]) -> Vec<u8> {
        let (mut out, mut checksum) = (Vec::new(), START.checksum);
        for (at, payload) in payloads.iter().enumerate() {
            let header = Header {
                kind: Kind::Ingest,
                more: at + 1 < payloads.len(),
                lsn: Lsn(START.lsn.0 + 1 + at as u64),
                time: Micros(7),
                actor: ActorId(0),
            };
            checksum = frame::encode(&mut out, &header, payload, checksum).unwrap();
        }
        out
    }

    #[test]
    fn a_transaction_goes_on_only_behind_frames_that_say_something() {
        let bytes = frames(&[b"one", b"two", b""]);
        let ScanStep::Transaction { frames: found, .. } = next(&bytes, START).unwrap() else {
            panic!("no transaction")
        };
        assert_eq!(found.len(), 3);
        for payloads in [&[&b""[..], b"one"][..], &[b"one", b"", b"two"]] {
            let refused = next(&frames(payloads), START).unwrap_err();
            assert!(refused.to_string().contains("says nothing"), "{refused}");
        }
    }

    #[test]
    fn the_headers_of_a_transaction_count_towards_its_limit() {
        let bytes = frames(&[&b"8 bytes."[..]; 10]);
        assert_eq!(bytes.len(), 480);
        next_within(&bytes, START, 480).unwrap();
        let refused = next_within(&bytes, START, 479).unwrap_err();
        assert!(refused.to_string().contains("limit"), "{refused}");
    }
}
