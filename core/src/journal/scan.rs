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
                total += frame.payload.len();
                if total > TRANSACTION_BYTES_MAX {
                    return Err(Error::corrupt(
                        "transaction",
                        at.at,
                        "longer than the limit",
                    ));
                }
                if frames.first().is_some_and(|first| {
                    (first.header.kind, first.header.actor, first.header.time)
                        != (frame.header.kind, frame.header.actor, frame.header.time)
                }) {
                    return Err(Error::corrupt("transaction", at.at, "its frames disagree"));
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
