//! Walking a journal: whole transactions, one after the other, up to the first that is not there.

use super::frame::{self, Found, Frame};
use super::op::Commit;
use crate::error::{Error, Result};
use crate::limits::TRANSACTION_BYTES_MAX;
use crate::types::Lsn;

/// Where a walk stands: all that continuing it needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    /// Where the next frame would begin, in the file.
    pub at: u64,
    /// The LSN of the last frame seen.
    pub lsn: Lsn,
    /// The checksum of the last frame seen, or the journal's seed.
    pub checksum: u64,
}

/// What came next.
#[derive(Debug)]
pub enum Next<'a> {
    /// A whole transaction, and where the next would begin.
    Transaction {
        /// Its number, time, actor and kind.
        commit: Commit,
        /// Its frames, in order.
        frames: Vec<Frame<'a>>,
        /// Where the walk stands after it.
        after: Position,
    },
    /// No further whole transaction; why, if bytes stand there that are none.
    End {
        /// What stands there instead of a frame, if not zeros.
        torn: Option<String>,
    },
}

/// Reads the transaction at a position. `bytes` are those from `from.at` to the end of what may be read.
pub fn next(bytes: &[u8], from: Position) -> Result<Next<'_>> {
    next_within(bytes, from, TRANSACTION_BYTES_MAX as u64)
}

/// The same with another limit of a transaction's bytes.
fn next_within(bytes: &[u8], from: Position, bytes_max: u64) -> Result<Next<'_>> {
    let mut frames: Vec<Frame<'_>> = Vec::with_capacity(1);
    let mut at = from;
    let mut total = 0;
    loop {
        let skip = (at.at - from.at) as usize;
        let rest = bytes.get(skip..).unwrap_or_default();
        match frame::decode(rest, at.at, Lsn(at.lsn.0 + 1), at.checksum) {
            Found::Nothing if frames.is_empty() => return Ok(Next::End { torn: None }),
            Found::Nothing => {
                return Ok(Next::End {
                    torn: Some("a transaction is not whole".into()),
                });
            }
            Found::Bad(why) => return Ok(Next::End { torn: Some(why) }),
            Found::Frame(frame) => {
                let damage = |why: &str| Err(Error::corrupt("transaction", at.at, why));
                // Headers count: what is kept of a frame is in memory, whatever it holds.
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
                    return Ok(Next::Transaction {
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
        let Next::Transaction { frames: found, .. } = next(&bytes, START).unwrap() else {
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
