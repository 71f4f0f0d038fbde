//! Events by type and by session: the lists of base and delta joined.

#![allow(missing_docs, reason = "fields and accessors whose names say all")]

use super::snapshot::View;
use crate::append::AppendVec;
use crate::base::sessions::Session;
use crate::delta::log::SessionSlot;
use crate::error::{Error, Result};
use crate::types::{ActorId, EventType, Lsn, Micros, NodeId, SessionId};

/// Ids of events, ascending: a list of the base, then one of the delta.
#[derive(Debug, Clone)]
pub struct Ids<'v> {
    base: &'v [u32],
    newer: DeltaIds<'v>,
}

#[derive(Debug, Clone)]
enum DeltaIds<'v> {
    Shared(&'v AppendVec<u32>, usize),
    Owned(Vec<u32>),
}

impl Ids<'_> {
    pub fn len(&self) -> usize {
        let newer = match &self.newer {
            DeltaIds::Shared(_, len) => *len,
            DeltaIds::Owned(ids) => ids.len(),
        };
        self.base.len() + newer
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    #[inline]
    pub fn get(&self, i: usize) -> Option<NodeId> {
        let id = match i.checked_sub(self.base.len()) {
            None => self.base[i],
            Some(at) => match &self.newer {
                DeltaIds::Shared(list, len) if at < *len => *list.get(at as u32)?,
                DeltaIds::Shared(..) => return None,
                DeltaIds::Owned(list) => *list.get(at)?,
            },
        };
        Some(NodeId(id.into()))
    }

    pub fn iter(&self) -> impl DoubleEndedIterator<Item = NodeId> + '_ {
        (0..self.len()).filter_map(|i| self.get(i))
    }

    /// The first index whose id is at least `id`.
    pub fn position(&self, id: NodeId) -> usize {
        let (mut from, mut to) = (0, self.len());
        while from < to {
            let middle = (from + to) / 2;
            if self.get(middle).is_some_and(|found| found < id) {
                from = middle + 1
            } else {
                to = middle
            }
        }
        from
    }
}

impl View {
    /// The events of a type, hidden ones too.
    pub fn of_type(&self, event_type: EventType) -> Result<Ids<'_>> {
        let base = self.below(self.brain.base.kinds()?.members(event_type)?);
        let list = self.brain.delta.events.of_kind(event_type);
        let len = list.partition_point(list.len(), |&id| u64::from(id) < self.at.nodes);
        Ok(Ids {
            base,
            newer: DeltaIds::Shared(list, len as usize),
        })
    }

    /// The events that an actor recorded, hidden ones too.
    pub fn of_author(&self, actor: ActorId) -> Result<Ids<'_>> {
        let base = match self.brain.base.authors()? {
            Some(authors) => self.below(authors.members(actor)?),
            None => &[],
        };
        let list = self.brain.delta.events.of_author(actor);
        let len = list.partition_point(list.len(), |&id| u64::from(id) < self.at.nodes);
        Ok(Ids {
            base,
            newer: DeltaIds::Shared(list, len as usize),
        })
    }

    /// The events of a session, hidden ones too.
    pub fn of_session(&self, id: SessionId) -> Result<Ids<'_>> {
        let sessions = self.brain.base.sessions()?;
        let base = match sessions.find(id)? {
            Some(position) => self.below(sessions.members(position)?),
            None => &[],
        };
        let (delta, first) = (&self.brain.delta, self.brain.base.nodes());
        let mut newer = Vec::new();
        let mut at = delta
            .sessions
            .find(id)
            .map_or(crate::delta::entry::END, |slot| slot.newest.get());
        while let Some(node) = delta.events.nodes.get(at) {
            if first + u64::from(at) < self.at.nodes {
                newer.push((first + u64::from(at)) as u32);
            }
            at = node.previous_in_session;
        }
        newer.reverse();
        Ok(Ids {
            base,
            newer: DeltaIds::Owned(newer),
        })
    }

    /// The number of events recorded before a time, which is the id of the first later one: recorded times ascend
    /// with ids.
    pub fn recorded_before(&self, time: Micros) -> Result<u64> {
        let (mut from, mut to) = (0, self.at.nodes);
        while from < to {
            let middle = from + (to - from) / 2;
            if self.recorded(middle)? < time {
                from = middle + 1
            } else {
                to = middle
            }
        }
        Ok(from)
    }

    fn recorded(&self, id: u64) -> Result<Micros> {
        match id.checked_sub(self.brain.base.nodes()) {
            None => self.brain.base.recorded(NodeId(id)),
            Some(at) => match self.brain.delta.events.nodes.get(at as u32) {
                Some(node) => Ok(node.created_at),
                None => Err(Error::UnknownEvent {
                    id: NodeId(id),
                    count: self.at.nodes,
                }),
            },
        }
    }

    fn below<'v>(&self, ids: &'v [u32]) -> &'v [u32] {
        match ids.last() {
            Some(&last) if u64::from(last) >= self.at.nodes => {
                &ids[..ids.partition_point(|&id| u64::from(id) < self.at.nodes)]
            }
            _ => ids,
        }
    }

    /// A session at the view's moment: with the times and the outcome of its latest span.
    pub fn session(&self, id: SessionId) -> Result<Option<Session<'_>>> {
        match self.latest_session(id)? {
            Some(session) if self.is_as_of() => self.session_at_moment(session),
            session => Ok(session),
        }
    }

    /// The client's key of a session; empty for none.
    pub fn session_key(&self, id: SessionId) -> Result<&str> {
        let session = self.latest_session(id)?;
        Ok(session.map_or("", |session| session.key))
    }

    /// A session as of the newest commit.
    pub(super) fn latest_session(&self, id: SessionId) -> Result<Option<Session<'_>>> {
        let sessions = self.brain.base.sessions()?;
        let base = sessions.find(id)?.map(|at| sessions.at(at)).transpose()?;
        self.session_with(id, base)
    }

    /// The session that a client opened with this key.
    pub fn session_by_key(&self, key: &str) -> Result<Option<SessionId>> {
        let sessions = self.brain.base.sessions()?;
        if !key.is_empty()
            && let Some(at) = sessions.find_key(key)?
        {
            return Ok(Some(sessions.at(at)?.id));
        }
        let found = self.brain.delta.sessions.find_key(key);
        Ok(found.filter(|&id| {
            self.brain
                .delta
                .sessions
                .find(id)
                .is_some_and(|slot| slot.lsn <= self.now.lsn)
        }))
    }

    /// The id for the next session: one past the largest.
    pub fn next_session(&self) -> Result<SessionId> {
        let sessions = self.brain.base.sessions()?;
        let base = match sessions.len().checked_sub(1) {
            Some(last) => sessions.at(last)?.id.0,
            None => 0,
        };
        Ok(SessionId(
            base.max(self.brain.delta.sessions.largest().0)
                .saturating_add(1),
        ))
    }

    fn session_with<'v>(
        &'v self,
        id: SessionId,
        base: Option<Session<'v>>,
    ) -> Result<Option<Session<'v>>> {
        let delta = &self.brain.delta;
        let Some(slot) = self.session_slot(id) else {
            return Ok(base);
        };
        let mut session = base;
        if let Some(node) = self
            .newest_of(slot, self.now.lsn)
            .and_then(|at| delta.events.nodes.get(at))
        {
            let first = slot.first_event.get().copied().unwrap_or(node.created_at);
            let mut known = session.unwrap_or(Session {
                opened: first,
                ..unknown(id)
            });
            known.last_event = known.last_event.max(node.created_at);
            session = Some(known);
        }
        if let Some(version) = delta.sessions.version(slot, self.now.lsn) {
            let mut known = session.unwrap_or(unknown(id));
            if let Some((key, agent, at)) = version.opened {
                known.key = self.brain.span_str(key)?;
                known.agent = self.brain.span_str(agent)?;
                known.opened = at;
                known.explicit = true;
                known.last_event = known.last_event.max(at);
            }
            if version.reopenings > 0 {
                (known.closed, known.outcome) = (None, "");
            }
            if let Some((outcome, at)) = version.closed {
                known.closed = Some(at);
                known.outcome = self.brain.span_str(outcome)?;
            }
            session = Some(known);
        }
        Ok(session)
    }

    /// What the delta knows of a session.
    pub(super) fn session_slot(&self, id: SessionId) -> Option<&SessionSlot> {
        let slot = self.brain.delta.sessions.find(id);
        slot.filter(|slot| slot.lsn <= self.now.lsn)
    }

    /// The newest event of a session up to `bound`, as an index into the delta's events.
    fn newest_of(&self, slot: &SessionSlot, bound: Lsn) -> Option<u32> {
        let mut at = slot.newest.get();
        while let Some(node) = self.brain.delta.events.nodes.get(at) {
            if node.lsn <= bound {
                return Some(at);
            }
            at = node.previous_in_session;
        }
        None
    }

    /// The newest event of a session, hidden or not.
    pub fn last_of_session(&self, id: SessionId) -> Result<Option<NodeId>> {
        let slot = self.brain.delta.sessions.find(id);
        if let Some(at) = slot.and_then(|slot| self.newest_of(slot, self.at.lsn)) {
            return Ok(Some(NodeId(self.brain.base.nodes() + u64::from(at))));
        }
        let sessions = self.brain.base.sessions()?;
        let Some(position) = sessions.find(id)? else {
            return Ok(None);
        };
        let members = self.below(sessions.members(position)?);
        Ok(members.last().map(|&id| NodeId(id.into())))
    }

    /// The event of a session before one of its events, hidden or not.
    pub fn before_in_session(&self, session: SessionId, event: NodeId) -> Result<Option<NodeId>> {
        let first = self.brain.base.nodes();
        if let Some(at) = event.0.checked_sub(first) {
            let nodes = &self.brain.delta.events.nodes;
            let before = nodes.get(at as u32).map(|node| node.previous_in_session);
            if let Some(before) = before.filter(|before| nodes.get(*before).is_some()) {
                return Ok(Some(NodeId(first + u64::from(before))));
            }
        }
        let sessions = self.brain.base.sessions()?;
        let Some(position) = sessions.find(session)? else {
            return Ok(None);
        };
        let members = self.below(sessions.members(position)?);
        let older = members.partition_point(|&id| u64::from(id) < event.0);
        Ok(older.checked_sub(1).map(|at| NodeId(members[at].into())))
    }

    /// Every session at the view's moment, ascending by id.
    pub fn sessions(&self) -> Result<Vec<Session<'_>>> {
        let base = self.brain.base.sessions()?;
        let mut newer: Vec<SessionId> = Vec::new();
        for slot in self.brain.delta.sessions.slots.iter() {
            if slot.lsn <= self.now.lsn && base.find(slot.id)?.is_none() {
                newer.push(slot.id);
            }
        }
        newer.sort_unstable();
        let mut out = Vec::with_capacity(base.len() as usize + newer.len());
        let mut newer = newer.into_iter().peekable();
        for position in 0..base.len() {
            let session = base.at(position)?;
            while let Some(id) = newer.next_if(|&id| id < session.id) {
                out.extend(self.session_with(id, None)?);
            }
            out.extend(self.session_with(session.id, Some(session))?);
        }
        for id in newer {
            out.extend(self.session_with(id, None)?);
        }
        if !self.is_as_of() {
            return Ok(out);
        }
        let at_moment = out
            .into_iter()
            .map(|session| self.session_at_moment(session));
        at_moment.filter_map(Result::transpose).collect()
    }
}

fn unknown(id: SessionId) -> Session<'static> {
    Session {
        id,
        key: "",
        agent: "",
        opened: Micros(0),
        explicit: false,
        last_event: Micros(0),
        closed: None,
        outcome: "",
    }
}
