//! An iterator over the session ids of a view, ascending or descending.

use super::snapshot::View;
use crate::base::sessions::SessionIndex;
use crate::error::Result;
use crate::types::SessionId;

/// Ids of the sessions as of the newest commit.
#[derive(Debug)]
pub struct SessionIds<'v> {
    base: SessionIndex<'v>,
    /// Remaining positions of the base's session table.
    left: std::ops::Range<u64>,
    /// Sessions that only the delta has, the next one last.
    newer: Vec<SessionId>,
    descending: bool,
    next_of_base: Option<SessionId>,
}

impl View {
    /// The ids of all sessions, or of those past `after`. The call costs in proportion to the delta's sessions, each
    /// step one lookup.
    pub fn session_ids(
        &self,
        after: Option<SessionId>,
        descending: bool,
    ) -> Result<SessionIds<'_>> {
        let base = self.brain.base.sessions()?;
        let mut left = 0..base.len();
        match after {
            Some(after) if descending => left.end = base.position_from(after)?,
            Some(after) => left.start = base.position_from(SessionId(after.0.saturating_add(1)))?,
            None => {}
        }
        let mut newer = Vec::new();
        for slot in self.brain.delta.sessions.slots.iter() {
            let is_past =
                after.is_none_or(|after| (slot.id > after) != descending && slot.id != after);
            if is_past && slot.lsn <= self.now.lsn && base.find(slot.id)?.is_none() {
                newer.push(slot.id);
            }
        }
        newer.sort_unstable();
        if !descending {
            newer.reverse();
        }
        let mut ids = SessionIds {
            base,
            left,
            newer,
            descending,
            next_of_base: None,
        };
        ids.step_base()?;
        Ok(ids)
    }
}

impl Iterator for SessionIds<'_> {
    type Item = Result<SessionId>;

    fn next(&mut self) -> Option<Self::Item> {
        let is_newer_next = match (self.newer.last(), self.next_of_base) {
            (Some(newer), Some(older)) => (*newer > older) == self.descending,
            (newer, _) => newer.is_some(),
        };
        if is_newer_next {
            return self.newer.pop().map(Ok);
        }
        let next = self.next_of_base;
        if let Err(error) = self.step_base() {
            return Some(Err(error));
        }
        next.map(Ok)
    }
}

impl SessionIds<'_> {
    fn step_base(&mut self) -> Result<()> {
        let position = if self.descending {
            self.left.next_back()
        } else {
            self.left.next()
        };
        let session = position.map(|at| self.base.at(at)).transpose()?;
        self.next_of_base = session.map(|session| session.id);
        Ok(())
    }
}
