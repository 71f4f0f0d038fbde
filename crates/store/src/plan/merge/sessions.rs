//! Sessions of the other brain: which of ours they are, and which ended.

use amem_format::base::sessions::Session;
use amem_format::journal::op::Op;
use amem_format::{NodeId, SessionId};

use crate::error::{Error, Result};
use crate::merge::budget::entries;
use crate::plan::merge::merge_plan::MergePlan;

impl MergePlan<'_, '_> {
    /// Sessions of events that are here already are the same session; so are those of one key that were opened at the
    /// same moment. Others are opened when an event needs them.
    pub(super) fn sessions(&mut self) -> Result<()> {
        self.sessions.insert(SessionId(0), SessionId(0));
        let pairs: Vec<(NodeId, NodeId)> = self.matching.pairs().collect();
        for (ours, theirs) in pairs {
            let (ours, theirs) = (self.plan.view.node(ours)?, self.other.node(theirs)?);
            if ours.session() != SessionId(0) {
                let known = self.sessions.entry(theirs.session());
                known.or_insert(ours.session());
            }
        }
        let sessions = self.other.brain();
        let count =
            sessions.base().sessions()?.len() + sessions.delta().sessions.slots.len() as u64;
        self.check_budget_for(entries(count, size_of::<Session<'_>>()))?;
        for theirs in self.other.sessions()? {
            let ours = match self.sessions.get(&theirs.id) {
                Some(&known) => Some(known),
                None => self.same_session(&theirs)?,
            };
            if let Some(ours) = ours {
                self.sessions.insert(theirs.id, ours);
                self.close(ours, &theirs)?;
                self.check_budget()?;
            }
        }
        Ok(())
    }

    /// Our session that is the same, though no event shows it: it was opened before the brains diverged.
    fn same_session(&self, theirs: &Session<'_>) -> Result<Option<SessionId>> {
        let id = match theirs.key {
            "" => Some(theirs.id),
            key => self.plan.view.session_by_key(key)?,
        };
        let Some(id) = id else { return Ok(None) };
        let ours = self.plan.view.session(id)?;
        let is_it = |ours: &Session<'_>| {
            (ours.opened, ours.agent, ours.key) == (theirs.opened, theirs.agent, theirs.key)
        };
        Ok(ours.filter(is_it).map(|_| id))
    }

    /// Ends our session if the other's has ended, or has ended later with another outcome.
    fn close(&mut self, id: SessionId, theirs: &Session<'_>) -> Result<()> {
        let (Some(there), Some(ours)) = (theirs.closed, self.plan.view.session(id)?) else {
            return Ok(());
        };
        let is_later = match ours.closed {
            None => true,
            Some(_) if ours.outcome == theirs.outcome => false,
            Some(here) => (there, theirs.outcome) > (here, ours.outcome),
        };
        if is_later && id != SessionId(0) {
            self.plan.push(&Op::CloseSession {
                session: id,
                outcome: theirs.outcome,
                at: self.plan.next_time,
            });
            self.merged.sessions += 1;
        }
        Ok(())
    }

    /// Our session that an event of another's joins; opened if it is not here.
    pub(super) fn session(&mut self, theirs: SessionId) -> Result<SessionId> {
        if let Some(&known) = self.sessions.get(&theirs) {
            return Ok(known);
        }
        let session = self.other.session(theirs)?;
        let (key, agent) = session.as_ref().map_or(("", ""), |s| (s.key, s.agent));
        let next = self.plan.view.next_session()?.0.checked_add(self.opened);
        let id = next.map(SessionId);
        let id = id.ok_or_else(|| Error::invalid("merge", "there are no session numbers left"))?;
        // Keys are unique: a second session with the same key gets none.
        let is_taken = !key.is_empty() && self.plan.view.session_by_key(key)?.is_some();
        let at = self.plan.next_time;
        self.plan.push(&Op::OpenSession {
            session: id,
            key: if is_taken { "" } else { key },
            agent,
            at,
        });
        if let Some(session) = session.filter(|session| session.closed.is_some()) {
            self.plan.push(&Op::CloseSession {
                session: id,
                outcome: session.outcome,
                at,
            });
        }
        self.opened += 1;
        self.merged.sessions += 1;
        self.sessions.insert(theirs, id);
        Ok(id)
    }
}
