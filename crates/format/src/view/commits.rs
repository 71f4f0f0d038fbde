//! The commits of a view, one by one, for subscriptions.
//!
//! The newest commits are in the journal, earlier ones in the base's section of recent commits, as far back as
//! `limits::RECENT_COMMITS_MAX` allows. The range has no gaps.
//!
//! Promises: a commit is returned whole, with the LSN of its last frame; the base's recent commits hold no erased
//! data.
//! Not here: what an operation means to a reader (`amemd`).

#![allow(missing_docs, reason = "fields and accessors whose names say all")]

use std::borrow::Cow;

use super::snapshot::View;
use crate::error::{Error, Result};
use crate::journal::op::{Commit, Op, Ops};
use crate::types::Lsn;

/// A commit and its operations.
#[derive(Debug, Clone, PartialEq)]
pub struct CommitRecord<'a> {
    pub commit: Commit,
    /// Payload and offset of each frame; the offset is in the file, or 0 for a frame of the base.
    payloads: Vec<(u64, Cow<'a, [u8]>)>,
}

impl CommitRecord<'_> {
    /// Its operations, in order. Checksums were verified when the file was opened or the commit applied.
    pub fn ops(&self) -> impl Iterator<Item = Result<Op<'_>>> {
        self.payloads
            .iter()
            .flat_map(|(at, payload)| Ops::new(payload, *at))
            .map(|op| op.map_err(|e| e.or_corrupt("commit", 0)))
    }
}

impl View {
    /// The oldest LSN after which every commit is still available.
    pub fn commits_held_after(&self) -> Result<Lsn> {
        let kept = self.brain().base().commits()?;
        if kept.is_empty() {
            return Ok(self.identity().base_lsn);
        }
        Ok(Lsn(kept.at(0)?.header.lsn.0.saturating_sub(1)))
    }

    /// The first commit past an LSN; `None` if the view has none.
    ///
    /// Errors: `CommitsGone` if that commit is no longer available, `UnknownLsn` if the LSN is past the view.
    pub fn commit_after(&self, lsn: Lsn) -> Result<Option<CommitRecord<'_>>> {
        if lsn > self.lsn() {
            return Err(Error::UnknownLsn {
                asked: lsn,
                last: self.lsn(),
            });
        }
        if lsn < self.identity().base_lsn {
            return self.recent_commit_after(lsn).map(Some);
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
        Ok(Some(CommitRecord {
            commit: entry.commit,
            payloads: payloads.collect(),
        }))
    }

    fn recent_commit_after(&self, lsn: Lsn) -> Result<CommitRecord<'_>> {
        let oldest = self.commits_held_after()?;
        if lsn < oldest {
            return Err(Error::CommitsGone { asked: lsn, oldest });
        }
        let kept = self.brain().base().commits()?;
        let mut at = kept.after(lsn)?;
        // An LSN inside a commit counts as before it: return the commit from its first frame.
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
                return Ok(CommitRecord {
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
