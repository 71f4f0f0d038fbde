//! Events of the delta, and the versions of every event's state, base events included.

use super::event_set::Touched;
use super::skiplist::SkipList;
use super::sparse::Sparse;
use crate::append::{AppendVec, Link, NONE};
use crate::sync::{AtomicBool, OnceLock, Ordering};
use crate::types::{ActorId, EventType, Flags, Lsn, Micros, NodeId, SessionId};

/// Bytes in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Span {
    /// Where they begin.
    pub position: u64,
    /// Their number.
    pub len: u32,
}

/// Where a value is that most versions leave as it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Held {
    /// As the event was created: in the base, or in the delta's event.
    Initial,
    /// There is none.
    None,
    /// In the journal.
    At(Span),
}

/// An event that the journal added.
#[derive(Debug)]
pub struct Node {
    /// The commit that added it.
    pub lsn: Lsn,
    /// Its type.
    pub event_type: EventType,
    /// Its session.
    pub session: SessionId,
    /// Recorded time.
    pub created_at: Micros,
    /// When it happened.
    pub event_time: Option<Micros>,
    /// Confidence when it was created.
    pub confidence: f32,
    /// Decay rate when it was created.
    pub lambda: f32,
    /// Flags when it was created.
    pub flags: Flags,
    /// Access count when it was created.
    pub access_count: u32,
    /// Last access when it was created.
    pub last_accessed: Micros,
    /// Strength when it was created.
    pub decay_score: f32,
    /// The text.
    pub text: Span,
    /// Attributes as JSON, when it was created.
    pub attributes: Span,
    /// The vector, when it was created.
    pub vector: Span,
    /// The event before it in its session, as an index into the delta's events.
    pub previous_in_session: u32,
    /// What came later.
    pub slot: Slot,
}

/// The newest entries about one event.
#[derive(Debug, Default)]
pub struct Slot {
    /// Its state.
    pub state: Link,
    /// Its accesses.
    pub access: Link,
    /// Edges of the delta that start at it.
    pub outgoing: Link,
    /// Edges of the delta that end at it.
    pub incoming: Link,
}

/// A version of what may change about an event.
#[derive(Debug, Clone, Copy)]
pub struct State {
    /// The commit.
    pub lsn: Lsn,
    /// Its time.
    pub time: Micros,
    /// Who.
    pub actor: ActorId,
    /// The event.
    pub node: NodeId,
    /// Effective confidence.
    pub confidence: f32,
    /// The commit that set the confidence; 0 if it is as created.
    pub confidence_lsn: Lsn,
    /// Flags.
    pub flags: Flags,
    /// Decay rate per day.
    pub lambda: f32,
    /// Attributes.
    pub attributes: Held,
    /// Vector.
    pub vector: Held,
    /// The version before.
    pub previous: u32,
}

/// A version of how often an event was used.
#[derive(Debug, Clone, Copy)]
pub struct Access {
    /// The commit.
    pub lsn: Lsn,
    /// How often in all.
    pub count: u32,
    /// When last.
    pub last: Micros,
    /// The version before.
    pub previous: u32,
}

/// The events of the delta.
#[derive(Debug)]
pub struct Events {
    /// New events; the first has the id after the base's last.
    pub nodes: AppendVec<Node>,
    /// Versions of state, by LSN.
    pub states: AppendVec<State>,
    /// Versions of accesses, by LSN.
    pub accesses: AppendVec<Access>,
    /// Base events about which the journal says something.
    slots: AppendVec<(NodeId, Slot)>,
    index: Sparse,
    touched: Touched,
    /// Those of them about which it says more than that they were used.
    changed: Touched,
    some_changed: AtomicBool,
    /// New events with a time of their own, by (happened, id).
    pub happened: SkipList<(i64, u32)>,
    /// New events without one, ascending ids.
    pub untimed: AppendVec<u32>,
    /// New events of each type; few brains have more than a handful of types.
    kinds: Box<[OnceLock<Box<AppendVec<u32>>>]>,
    /// The events of a type of which there are none.
    none: AppendVec<u32>,
    /// Events that have, or had, other attributes than they were created with, in the order of that.
    pub described: AppendVec<u32>,
}

impl Events {
    /// None, on a base of so many events.
    pub(crate) fn new(base_nodes: u64) -> Self {
        Self {
            touched: Touched::new(base_nodes),
            changed: Touched::new(base_nodes),
            some_changed: AtomicBool::new(false),
            nodes: AppendVec::new(),
            states: AppendVec::new(),
            accesses: AppendVec::new(),
            slots: AppendVec::new(),
            index: Sparse::new(base_nodes),
            happened: SkipList::default(),
            untimed: AppendVec::new(),
            kinds: (0..=u8::MAX).map(|_| OnceLock::new()).collect(),
            none: AppendVec::new(),
            described: AppendVec::new(),
        }
    }

    /// True if the journal says nothing of any base event but that it was used.
    pub(crate) fn is_unchanged(&self) -> bool {
        !self.some_changed.load(Ordering::Acquire)
    }

    /// True if the journal says something of the state or the edges of a base event.
    #[inline]
    pub(crate) fn is_changed(&self, id: NodeId) -> bool {
        self.changed.has(id)
    }

    /// The state or the edges of an event change; one of the delta is left out.
    pub(crate) fn changes(&self, id: NodeId) {
        self.changed.add(id);
        self.some_changed.store(true, Ordering::Release);
    }

    /// True if the journal says something about a base event.
    #[inline]
    pub fn is_touched(&self, id: NodeId) -> bool {
        self.touched.has(id)
    }

    /// Of the base events from 64 · `n` on, about which of 64 the journal says something: a bit each.
    pub fn touched_in(&self, n: u64) -> u64 {
        self.touched.word(n)
    }

    /// What the journal says about a base event.
    #[inline]
    pub fn base_slot(&self, id: NodeId) -> Option<&Slot> {
        if !self.touched.has(id) {
            return None;
        }
        self.slots.get(self.index.get(id.0)?).map(|(_, slot)| slot)
    }

    /// Base events about which the journal says something, in order of their first mention.
    pub fn base_slots(&self) -> impl Iterator<Item = (NodeId, &Slot)> + '_ {
        self.slots.iter().map(|(id, slot)| (*id, slot))
    }

    /// As `base_slot`, made if it is not there.
    pub(crate) fn base_slot_or_new(&self, id: NodeId) -> Option<&Slot> {
        if let Some(at) = self.index.get(id.0) {
            return self.slots.get(at).map(|(_, slot)| slot);
        }
        let at = self.slots.push((id, Slot::default()));
        self.index.insert(id.0, at);
        self.touched.add(id);
        self.slots.get(at).map(|(_, slot)| slot)
    }

    /// Has the way to what the journal says about a base event loaded.
    #[inline]
    pub(crate) fn expect(&self, id: NodeId) {
        self.index.expect(id.0);
    }

    /// The newest state of a slot that a bound may see.
    #[inline]
    pub fn state(&self, slot: &Slot, bound: Lsn) -> Option<&State> {
        let mut at = slot.state.get();
        loop {
            let state = self.states.get(at)?;
            if state.lsn <= bound {
                return Some(state);
            }
            at = state.previous;
        }
    }

    /// The newest access of a slot that a bound may see.
    #[inline]
    pub fn access(&self, slot: &Slot, bound: Lsn) -> Option<&Access> {
        let mut at = slot.access.get();
        loop {
            let access = self.accesses.get(at)?;
            if access.lsn <= bound {
                return Some(access);
            }
            at = access.previous;
        }
    }

    /// New events of a type, ascending ids.
    pub fn of_kind(&self, event_type: EventType) -> &AppendVec<u32> {
        let kind = self.kinds[usize::from(event_type.0)].get();
        kind.map_or(&self.none, |list| list)
    }

    /// Adds a version of an event's state.
    pub(crate) fn push_state(&self, slot: &Slot, state: State) {
        let before = self.states.get(slot.state.get());
        let was_initial = before.is_none_or(|before| before.attributes == Held::Initial);
        if was_initial && state.attributes != Held::Initial {
            // Ids fit 32 bits: NODES_MAX.
            self.described.push(state.node.0 as u32);
        }
        slot.state.set(self.states.push(state));
    }

    pub(crate) fn push(&self, node: Node, id: u32) {
        let (event_type, event_time) = (node.event_type, node.event_time);
        self.nodes.push(node);
        let kind = &self.kinds[usize::from(event_type.0)];
        kind.get_or_init(Box::default).push(id);
        match event_time {
            Some(time) => self.happened.insert((time.0, id)),
            None => drop(self.untimed.push(id)),
        }
    }
}

/// The end of every chain.
pub const END: u32 = NONE;
