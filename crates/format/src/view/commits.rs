//! The commits of a view, one by one: what a subscription sends.
//!
//! The newest commits stand in the journal, those before them in the base's section of recent commits, as far
//! back as its limits reach (`limits::RECENT_COMMITS_MAX`). Between the oldest that is held and the newest none
//! is missing.
//!
//! Promises: a commit comes whole, with the LSN of its last frame; what was erased is in none of a base's.
//! Not here: what an operation means to a reader (`amemd`).

use std::borrow::Cow;

use super::snapshot::View;
use crate::error::{Error, Result};
use crate::journal::op::{Commit, Op, Ops};
use crate::types::Lsn;

/// A commit, and what it did.
#[derive(Debug, Clone, PartialEq)]
pub struct Committed<'a> {
    /// Number, time, actor, kind.
    pub commit: Commit,
    /// The payloads of its frames, and where each begins (in the file, or in its section).
    payloads: Vec<(u64, Cow<'a, [u8]>)>,
}

impl Committed<'_> {
    /// Its operations, in order. Their checksums held when the file was opened or the commit applied.
    pub fn ops(&self) -> impl Iterator<Item = Result<Op<'_>>> {
        self.payloads
            .iter()
            .flat_map(|(at, payload)| Ops::new(payload, *at))
    }
}

impl View {
    /// The oldest LSN after which every commit is held one by one.
    pub fn commits_held_after(&self) -> Result<Lsn> {
        let kept = self.brain().base().commits()?;
        if kept.is_empty() {
            return Ok(self.identity().base_lsn);
        }
        Ok(Lsn(kept.at(0)?.header.lsn.0.saturating_sub(1)))
    }

    /// The first commit past an LSN; `None` if there is none in the view.
    ///
    /// `CommitsGone` if it is not held any more, `UnknownLsn` if the view does not reach the LSN.
    pub fn commit_after(&self, lsn: Lsn) -> Result<Option<Committed<'_>>> {
        if lsn > self.lsn() {
            return Err(Error::UnknownLsn {
                asked: lsn,
                last: self.lsn(),
            });
        }
        if lsn < self.identity().base_lsn {
            return self.kept_after(lsn).map(Some);
        }
        let log = &self.brain().delta().log;
        let place = log.until_lsn(self.delta_commits(), lsn);
        let entry = match log.get(place) {
            Some(entry) if place < self.delta_commits() => entry,
            _ => return Ok(None),
        };
        let frames = self.brain().frames_at(entry.position, entry.end)?;
        let payloads = frames
            .iter()
            .map(|frame| (frame.payload_position, Cow::Borrowed(frame.payload)));
        Ok(Some(Committed {
            commit: entry.commit,
            payloads: payloads.collect(),
        }))
    }

    fn kept_after(&self, lsn: Lsn) -> Result<Committed<'_>> {
        let oldest = self.commits_held_after()?;
        if lsn < oldest {
            return Err(Error::CommitsGone { asked: lsn, oldest });
        }
        let kept = self.brain().base().commits()?;
        let mut at = kept.after(lsn)?;
        // An LSN within a commit is before it: the commit is told from its beginning.
        while at > 0 && kept.at(at - 1)?.header.more {
            at -= 1;
        }
        let mut payloads = Vec::new();
        while at < kept.len() {
            let frame = kept.at(at)?;
            let header = frame.header;
            payloads.push((0, frame.payload));
            at += 1;
            if !header.more && header.lsn > lsn {
                return Ok(Committed {
                    commit: Commit {
                        lsn: header.lsn,
                        time: header.time,
                        actor: header.actor,
                        kind: header.kind,
                    },
                    payloads,
                });
            }
        }
        let why = format!("the commit after LSN {lsn} should be there and is not");
        Err(Error::corrupt("recent commits", 0, why))
    }
}
