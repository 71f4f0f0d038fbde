//! The spans of sessions: those of the base, those of the delta, and what of them lies before a moment.

use super::snapshot::View;
use crate::base::sessions::Session;
use crate::base::spans::SessionSpan;
use crate::delta::log::{SessionSlot, SessionVersion};
use crate::error::Result;
use crate::types::{Micros, SessionId};

impl View {
    /// The spans of a session up to the view's moment, the latest one last; none if there is no such session.
    ///
    /// An event belongs to the last span that was opened before it was recorded, or at that time; earlier ones belong
    /// to the first span.
    pub fn session_spans(&self, id: SessionId) -> Result<Vec<SessionSpan<'_>>> {
        let Some(latest) = self.latest_session(id)? else {
            return Ok(Vec::new());
        };
        let mut spans = self.earlier_spans(id)?;
        spans.push((&latest).into());
        if self.is_as_of() {
            self.cut(id, &mut spans)?;
        }
        Ok(spans)
    }

    /// Removes what came after the view's moment.
    fn cut(&self, id: SessionId, spans: &mut Vec<SessionSpan<'_>>) -> Result<()> {
        let time = self.moment().1;
        let begun = spans.partition_point(|span| span.opened <= time);
        // An imported session may have been opened by a clock that was ahead of its events.
        let is_there = begun > 0 || self.last_of_session(id)?.is_some();
        spans.truncate(begun.max(usize::from(is_there)));
        if let Some(last) = spans.last_mut()
            && last.closed.is_some_and(|closed| closed > time)
        {
            (last.closed, last.outcome) = (None, "");
        }
        Ok(())
    }

    /// A session as it was at the moment of an `as_of` view.
    pub(super) fn session_at_moment<'v>(
        &'v self,
        mut session: Session<'v>,
    ) -> Result<Option<Session<'v>>> {
        let Some(span) = self.session_spans(session.id)?.pop() else {
            return Ok(None);
        };
        let last = self.last_of_session(session.id)?;
        let last = last.map(|id| self.node(id)).transpose()?;
        let opened = if span.explicit {
            span.opened
        } else {
            Micros::MIN
        };
        let last = last.map_or(span.opened, |node| node.created_at().max(opened));
        session.last_event = last;
        (session.opened, session.explicit) = (span.opened, span.explicit);
        (session.closed, session.outcome) = (span.closed, span.outcome);
        Ok(Some(session))
    }

    /// The spans of a session before its latest one, as of the newest commit.
    fn earlier_spans(&self, id: SessionId) -> Result<Vec<SessionSpan<'_>>> {
        let base = &self.brain.base;
        let mut spans = match base.spans()? {
            Some(index) => index.of(id)?,
            None => Vec::new(),
        };
        let Some(slot) = self.session_slot(id) else {
            return Ok(spans);
        };
        let sessions = base.sessions()?;
        let of_base = sessions.find(id)?.map(|at| sessions.at(at)).transpose()?;
        let all = &self.brain.delta.sessions;
        let first = spans.len();
        let mut next = all.version(slot, self.now.lsn);
        while let Some(version) = next {
            next = all.versions.get(version.previous);
            if version.reopenings > next.map_or(0, |before| before.reopenings) {
                spans.push(self.span_before(slot, next, of_base)?);
            }
        }
        if let Some(newer) = spans.get_mut(first..) {
            newer.reverse();
        }
        Ok(spans)
    }

    /// The span that a reopening follows; `version` is the one in front of the reopening.
    fn span_before<'v>(
        &'v self,
        slot: &SessionSlot,
        version: Option<&SessionVersion>,
        of_base: Option<Session<'v>>,
    ) -> Result<SessionSpan<'v>> {
        // The base has the first span of the delta, or its beginning.
        let of_base = of_base.filter(|_| version.is_none_or(|version| version.reopenings == 0));
        let first = slot.first_event.get().copied().unwrap_or(Micros(0));
        let mut span = SessionSpan {
            opened: of_base.map_or(first, |session| session.opened),
            explicit: of_base.is_some_and(|session| session.explicit),
            closed: of_base.and_then(|session| session.closed),
            outcome: of_base.map_or("", |session| session.outcome),
        };
        if let Some((_, _, at)) = version.and_then(|version| version.opened) {
            (span.opened, span.explicit) = (at, true);
        }
        if let Some((outcome, at)) = version.and_then(|version| version.closed) {
            (span.closed, span.outcome) = (Some(at), self.brain.span_str(outcome)?);
        }
        Ok(span)
    }

    /// The spans of all sessions before their latest ones, by session, then time, as of the newest commit.
    pub fn all_earlier_spans(&self) -> Result<Vec<(SessionId, SessionSpan<'_>)>> {
        let mut reopened: Vec<SessionId> = Vec::new();
        let all = &self.brain.delta.sessions;
        for slot in all.slots.iter() {
            let version = all.version(slot, self.now.lsn);
            if version.is_some_and(|version| version.reopenings > 0) {
                reopened.push(slot.id);
            }
        }
        if let Some(index) = self.brain.base.spans()? {
            for position in 0..index.len() {
                let (id, _) = index.at(position)?;
                if reopened.last() != Some(&id) {
                    reopened.push(id);
                }
            }
        }
        reopened.sort_unstable();
        reopened.dedup();
        let mut spans = Vec::new();
        for id in reopened {
            spans.extend(self.earlier_spans(id)?.into_iter().map(|span| (id, span)));
        }
        Ok(spans)
    }
}
