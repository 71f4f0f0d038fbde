//! Sessions of the other brain: which of ours they are, their spans, and which ended.
//!
//! New events join our session; a closed one is opened again, and where the other brain closed it between two of the
//! events, so does the merge. At the end the session is open or closed as in the brain that changed this last.

use amem_format::base::sessions::Session;
use amem_format::base::spans::SessionSpan;
use amem_format::journal::op::Op;
use amem_format::stamp::StampTarget;
use amem_format::view::View;
use amem_format::{Micros, NodeId, SessionId};

use crate::error::{Error, Result};
use crate::merge::budget::entries;
use crate::merge::changes::Changes;
use crate::plan::merge::merge_plan::MergePlan;
use crate::plan::merge::spans::{BY_MERGE, SessionEnd, SpanProgress, SpanState};

impl<'v> MergePlan<'_, 'v> {
    /// Sessions of events that are here already are the same session; so are those of one key that were opened at the
    /// same moment. Others are opened when an event needs them.
    pub(super) fn sessions(&mut self) -> Result<()> {
        self.sessions.ours.insert(SessionId(0), SessionId(0));
        let pairs: Vec<(NodeId, NodeId)> = self.matching.pairs().collect();
        for (ours, theirs) in pairs {
            let (ours, theirs) = (self.plan.view.node(ours)?, self.other.node(theirs)?);
            if ours.session() != SessionId(0) {
                let known = self.sessions.ours.entry(theirs.session());
                known.or_insert(ours.session());
                let pair = (ours.session(), theirs.session());
                if theirs.session() != SessionId(0) && self.sessions.pairs.insert(pair) {
                    self.budget.take_entries(1, size_of::<[u64; 4]>())?;
                }
                let until = self.sessions.known_until.entry(theirs.session());
                let until = until.or_insert(theirs.created_at());
                *until = theirs.created_at().max(*until);
            }
        }
        let brain = self.other.brain();
        let earlier = brain.base().spans()?.map_or(0, |spans| spans.len());
        let newer = &brain.delta().sessions;
        let count = brain.base().sessions()?.len() + newer.slots.len() as u64;
        let spans = earlier + newer.versions.len() as u64;
        self.check_budget_for(
            entries(count, size_of::<Session<'_>>()) + entries(spans, size_of::<SessionSpan<'_>>()),
        )?;
        for theirs in self.other.sessions()? {
            if !self.sessions.ours.contains_key(&theirs.id)
                && let Some(ours) = self.same_session(&theirs)?
            {
                self.sessions.ours.insert(theirs.id, ours);
                self.sessions.pairs.insert((ours, theirs.id));
                self.check_budget()?;
            }
        }
        Ok(())
    }

    /// Our session that is the same, though no event shows it: it was opened before the brains diverged.
    fn same_session(&self, theirs: &Session<'_>) -> Result<Option<SessionId>> {
        let view = self.plan.view;
        let id = match theirs.key {
            "" => Some(theirs.id),
            key => view.session_by_key(key)?,
        };
        let Some(id) = id else { return Ok(None) };
        let Some(ours) = view.session(id)? else {
            return Ok(None);
        };
        let opened = [
            view.session_spans(id)?.first().map(|span| span.opened),
            self.other
                .session_spans(theirs.id)?
                .first()
                .map(|span| span.opened),
        ];
        let is_it = opened[0] == opened[1] && (ours.agent, ours.key) == (theirs.agent, theirs.key);
        Ok(is_it.then_some(id))
    }

    /// Our session that an event of another's joins, open; added if it is not here. `recorded` is the event's time
    /// there.
    pub(super) fn session(&mut self, theirs: SessionId, recorded: Micros) -> Result<SessionId> {
        let ours = match self.sessions.ours.get(&theirs) {
            Some(&known) => known,
            None => self.add_session(theirs)?,
        };
        if ours == SessionId(0) {
            return Ok(ours);
        }
        let closed = self.next_span(theirs, recorded)?;
        let state = self.session_state(ours)?;
        if let (Some((at, outcome)), SpanState::Open(since)) = (closed, &state)
            && *since <= at
        {
            self.set_session((ours, theirs), SpanState::Closed(outcome.to_owned()))?;
        }
        if let SpanState::Closed(_) = self.session_state(ours)? {
            self.set_session((ours, theirs), SpanState::Open(BY_MERGE))?;
        }
        Ok(ours)
    }

    /// Goes on to the span of an event; returns when and how the span before it was closed.
    fn next_span(
        &mut self,
        theirs: SessionId,
        recorded: Micros,
    ) -> Result<Option<(Micros, &'v str)>> {
        if !self.sessions.theirs.contains_key(&theirs) {
            let mut progress = SpanProgress {
                spans: self.other.session_spans(theirs)?,
                reached: 0,
            };
            progress.reached = match self.sessions.known_until.get(&theirs) {
                Some(&until) => progress.position(until),
                // The first event of a session that is not here.
                None => progress.position(recorded),
            };
            self.sessions.theirs.insert(theirs, progress);
        }
        let Some(progress) = self.sessions.theirs.get_mut(&theirs) else {
            return Ok(None);
        };
        let at = progress.position(recorded);
        if at <= progress.reached {
            return Ok(None);
        }
        progress.reached = at;
        let before = progress.spans.get(at - 1);
        Ok(before.and_then(|span| Some((span.closed?, span.outcome))))
    }

    /// Our session as the plan so far leaves it.
    fn session_state(&mut self, ours: SessionId) -> Result<SpanState> {
        if let Some(state) = self.sessions.states.get(&ours) {
            return Ok(state.clone());
        }
        let session = self.plan.view.session(ours)?;
        let missing = || Error::UnknownSession { id: ours };
        let state = SpanState::of(&session.ok_or_else(missing)?);
        self.sessions.states.insert(ours, state.clone());
        Ok(state)
    }

    /// Opens our session, which is one of theirs, or closes it.
    fn set_session(
        &mut self,
        (ours, theirs): (SessionId, SessionId),
        state: SpanState,
    ) -> Result<()> {
        let at = self.plan.next_time;
        match &state {
            SpanState::Closed(outcome) => self.plan.push(&Op::CloseSession {
                session: ours,
                outcome,
                at,
            }),
            SpanState::Open(_) => {
                let names = self.session_names(ours, theirs)?;
                self.plan.push(&Op::OpenSession {
                    session: ours,
                    key: names.0,
                    agent: names.1,
                    at,
                });
            }
        }
        self.sessions.states.insert(ours, state);
        self.sessions.changed.insert(ours);
        Ok(())
    }

    /// Key and agent of our session, or of theirs that becomes ours.
    fn session_names(&self, ours: SessionId, theirs: SessionId) -> Result<(&'v str, &'v str)> {
        if let Some(session) = self.plan.view.session(ours)? {
            return Ok((session.key, session.agent));
        }
        self.their_names(theirs)
    }

    /// Key and agent of their session, as it is called here.
    fn their_names(&self, theirs: SessionId) -> Result<(&'v str, &'v str)> {
        let session = self.other.session(theirs)?;
        let (key, agent) = session.map_or(("", ""), |session| (session.key, session.agent));
        // Keys are unique: a second session with the same key gets none.
        let is_taken = !key.is_empty() && self.plan.view.session_by_key(key)?.is_some();
        Ok((if is_taken { "" } else { key }, agent))
    }

    fn add_session(&mut self, theirs: SessionId) -> Result<SessionId> {
        let next = self.plan.view.next_session()?.0;
        let id = next.checked_add(self.sessions.added).map(SessionId);
        let id = id.ok_or_else(|| Error::invalid("merge", "there are no session numbers left"))?;
        self.sessions.ours.insert(theirs, id);
        self.sessions.pairs.insert((id, theirs));
        self.set_session((id, theirs), SpanState::Open(BY_MERGE))?;
        self.sessions.added += 1;
        self.merged.sessions += 1;
        Ok(id)
    }

    /// Leaves each session open or closed as in the brain that changed this last.
    pub(super) fn end_sessions(&mut self) -> Result<()> {
        let pairs: Vec<_> = std::mem::take(&mut self.sessions.pairs)
            .into_iter()
            .collect();
        for of_one in pairs.chunk_by(|a, b| a.0 == b.0) {
            let Some(&(ours, theirs)) = of_one.first() else {
                continue;
            };
            let before = match self.plan.view.session(ours)? {
                Some(session) => Some(session_end(self.plan.view, &self.ours, &session)?),
                None => None,
            };
            let mut last = before.clone();
            for (_, theirs) in of_one {
                let Some(session) = self.other.session(*theirs)? else {
                    continue;
                };
                let there = session_end(self.other, &self.theirs, &session)?;
                last = Some(match last {
                    Some(last) if !is_later(&there, &last) => last,
                    _ => there,
                });
            }
            if let Some(last) = last {
                self.end_session((ours, theirs), before, last)?;
                self.check_budget()?;
            }
        }
        Ok(())
    }

    fn end_session(
        &mut self,
        (ours, theirs): (SessionId, SessionId),
        before: Option<SessionEnd>,
        last: SessionEnd,
    ) -> Result<()> {
        let is_changed = before
            .as_ref()
            .is_some_and(|before| before.state.outcome() != last.state.outcome());
        self.merged.sessions += u64::from(is_changed);
        self.set_end((ours, theirs), last.state)?;
        let is_new = before.is_none_or(|before| before.at < last.at);
        if let Some(at) = last.at
            && (is_new || self.sessions.changed.contains(&ours))
        {
            self.stamp(StampTarget::Session(ours), at);
        }
        Ok(())
    }

    fn set_end(&mut self, (ours, theirs): (SessionId, SessionId), wanted: SpanState) -> Result<()> {
        match (self.session_state(ours)?, wanted) {
            (SpanState::Open(_), SpanState::Open(_)) => Ok(()),
            (SpanState::Closed(here), SpanState::Closed(there)) if here == there => Ok(()),
            // The outcome so far stays with its span.
            (SpanState::Closed(_), closed @ SpanState::Closed(_)) => {
                self.set_session((ours, theirs), SpanState::Open(BY_MERGE))?;
                self.set_session((ours, theirs), closed)
            }
            (_, wanted) => self.set_session((ours, theirs), wanted),
        }
    }
}

/// How a session ends in its brain.
fn session_end(view: &View, changes: &Changes, session: &Session<'_>) -> Result<SessionEnd> {
    let recorded = match session.closed {
        Some(at) => Some(at),
        // A session that was merely opened ends with any close.
        None => {
            let is_reopened = view.session_spans(session.id)?.len() > 1;
            is_reopened.then_some(session.opened)
        }
    };
    Ok(SessionEnd {
        at: changes.session(session.id, recorded),
        state: SpanState::of(session),
    })
}

/// True if theirs is later than ours, or the greater of the same time.
fn is_later(theirs: &SessionEnd, ours: &SessionEnd) -> bool {
    (theirs.at, theirs.state.outcome()) > (ours.at, ours.state.outcome())
}
