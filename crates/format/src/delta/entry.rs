//! Events of the delta, and the versions of every event's state, base events included.

#![allow(missing_docs, reason = "fields and accessors whose names say all")]

use super::event_set::EventSet;
use super::skiplist::SkipList;
use super::sparse::Sparse;
use crate::append::{AppendVec, AtomicIndex, NONE, Trie};
use crate::sync::{AtomicBool, OnceLock, Ordering};
use crate::types::{ActorId, EventType, Flags, Lsn, Micros, NodeId, SessionId};

/// Bytes in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Span {
    pub position: u64,
    pub len: u32,
}

/// A variable-length value of a version; most versions leave it unchanged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueRef {
    /// As the event was created: in the base, or in the delta's event.
    Initial,
    None,
    /// In the journal.
    At(Span),
}

/// An event that the journal added, as it was created; `slot` leads to later versions.
#[derive(Debug)]
pub struct DeltaEvent {
    pub lsn: Lsn,
    /// Who recorded it.
    pub author: ActorId,
    pub event_type: EventType,
    pub session: SessionId,
    pub created_at: Micros,
    /// When it happened, if the writer gave a time.
    pub event_time: Option<Micros>,
    pub confidence: f32,
    pub lambda: f32,
    pub flags: Flags,
    pub access_count: u32,
    pub last_accessed: Micros,
    pub decay_score: f32,
    pub text: Span,
    /// JSON.
    pub attributes: Span,
    pub vector: Span,
    /// The previous event of its session, as an index into the delta's events; `END` if there is none.
    pub previous_in_session: u32,
    pub slot: Slot,
}

/// The newest entries about one event: heads of chains.
#[derive(Debug, Default)]
pub struct Slot {
    pub state: AtomicIndex,
    pub access: AtomicIndex,
    /// Edges of the delta that start at it.
    pub outgoing: AtomicIndex,
    /// Edges of the delta that end at it.
    pub incoming: AtomicIndex,
}

/// A version of the mutable fields of an event.
#[derive(Debug, Clone, Copy)]
pub struct StateVersion {
    pub lsn: Lsn,
    pub time: Micros,
    pub actor: ActorId,
    pub node: NodeId,
    /// Effective confidence.
    pub confidence: f32,
    /// The commit that set the confidence; 0 if it is as created.
    pub confidence_lsn: Lsn,
    pub flags: Flags,
    /// Decay rate per day.
    pub lambda: f32,
    pub attributes: ValueRef,
    pub vector: ValueRef,
    /// The previous version; `END` if there is none.
    pub previous: u32,
}

/// A version of an event's accesses.
#[derive(Debug, Clone, Copy)]
pub struct AccessVersion {
    pub lsn: Lsn,
    /// Accesses in all.
    pub count: u32,
    /// The last access.
    pub last: Micros,
    /// The previous version; `END` if there is none.
    pub previous: u32,
}

/// The events of the delta.
#[derive(Debug)]
pub struct Events {
    /// New events; the first has the id after the base's last.
    pub nodes: AppendVec<DeltaEvent>,
    /// Versions of state, by LSN.
    pub states: AppendVec<StateVersion>,
    /// Versions of accesses, by LSN.
    pub accesses: AppendVec<AccessVersion>,
    /// Base events with entries in the delta.
    slots: AppendVec<(NodeId, Slot)>,
    index: Sparse,
    with_slot: EventSet,
    /// Those of them with more than accesses.
    changed: EventSet,
    some_changed: AtomicBool,
    /// New events with an event time, by (event time, id).
    pub happened: SkipList<(i64, u32)>,
    /// New events without an event time, ascending ids.
    pub untimed: AppendVec<u32>,
    /// New events by type, allocated on first use: few brains have more than a handful of types.
    kinds: Box<[OnceLock<Box<AppendVec<u32>>>]>,
    /// New events by author, in the order in which the journal first names their authors.
    authors: AppendVec<AppendVec<u32>>,
    author_index: Trie<u64>,
    /// The empty list, for types and authors without new events.
    none: AppendVec<u32>,
    /// Events whose attributes changed after their creation, in the order of the first change.
    pub described: AppendVec<u32>,
}

impl Events {
    /// No events, on a base of `base_nodes`.
    pub(crate) fn new(base_nodes: u64) -> Self {
        Self {
            with_slot: EventSet::new(base_nodes),
            changed: EventSet::new(base_nodes),
            some_changed: AtomicBool::new(false),
            nodes: AppendVec::new(),
            states: AppendVec::new(),
            accesses: AppendVec::new(),
            slots: AppendVec::new(),
            index: Sparse::new(base_nodes),
            happened: SkipList::default(),
            untimed: AppendVec::new(),
            kinds: (0..=u8::MAX).map(|_| OnceLock::new()).collect(),
            authors: AppendVec::new(),
            author_index: Trie::new(),
            none: AppendVec::new(),
            described: AppendVec::new(),
        }
    }

    /// True if the journal changes no base event, apart from accesses.
    pub(crate) fn is_unchanged(&self) -> bool {
        !self.some_changed.load(Ordering::Acquire)
    }

    /// True if the journal changes the state or the edges of a base event.
    #[inline]
    pub(crate) fn is_changed(&self, id: NodeId) -> bool {
        self.changed.has(id)
    }

    /// Records that state or edges of a base event change; ids of the delta are ignored.
    pub(crate) fn changes(&self, id: NodeId) {
        self.changed.add(id);
        self.some_changed.store(true, Ordering::Release);
    }

    /// True if a base event has entries in the delta.
    #[inline]
    pub fn has_slot(&self, id: NodeId) -> bool {
        self.with_slot.has(id)
    }

    /// Bit i is set if base event 64 · `n` + i has entries in the delta.
    pub fn slot_bits(&self, n: u64) -> u64 {
        self.with_slot.word(n)
    }

    /// The entries of a base event.
    #[inline]
    pub fn base_slot(&self, id: NodeId) -> Option<&Slot> {
        if !self.with_slot.has(id) {
            return None;
        }
        self.slots.get(self.index.get(id.0)?).map(|(_, slot)| slot)
    }

    /// Base events with entries in the delta, in the order of their first entry.
    pub fn base_slots(&self) -> impl Iterator<Item = (NodeId, &Slot)> + '_ {
        self.slots.iter().map(|(id, slot)| (*id, slot))
    }

    /// The slot of a base event, created if absent.
    pub(crate) fn base_slot_or_new(&self, id: NodeId) -> Option<&Slot> {
        if let Some(at) = self.index.get(id.0) {
            return self.slots.get(at).map(|(_, slot)| slot);
        }
        let at = self.slots.push((id, Slot::default()));
        self.index.insert(id.0, at);
        self.with_slot.add(id);
        self.slots.get(at).map(|(_, slot)| slot)
    }

    /// Prefetches the slot of a base event.
    #[inline]
    pub(crate) fn expect(&self, id: NodeId) {
        self.index.expect(id.0);
    }

    /// The newest state of a slot up to `bound`.
    #[inline]
    pub fn state(&self, slot: &Slot, bound: Lsn) -> Option<&StateVersion> {
        let mut at = slot.state.get();
        loop {
            let state = self.states.get(at)?;
            if state.lsn <= bound {
                return Some(state);
            }
            at = state.previous;
        }
    }

    /// The newest accesses of a slot up to `bound`.
    #[inline]
    pub fn access(&self, slot: &Slot, bound: Lsn) -> Option<&AccessVersion> {
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

    /// New events of an author, ascending ids.
    pub fn of_author(&self, author: ActorId) -> &AppendVec<u32> {
        let at = self.author_index.get(author.0.into());
        at.and_then(|at| self.authors.get(at)).unwrap_or(&self.none)
    }

    /// Adds a version of an event's state.
    pub(crate) fn push_state(&self, slot: &Slot, state: StateVersion) {
        let before = self.states.get(slot.state.get());
        let was_initial = before.is_none_or(|before| before.attributes == ValueRef::Initial);
        if was_initial && state.attributes != ValueRef::Initial {
            // Ids fit 32 bits: NODES_MAX.
            self.described.push(state.node.0 as u32);
        }
        slot.state.set(self.states.push(state));
    }

    pub(crate) fn push(&self, node: DeltaEvent, id: u32) {
        let (event_type, event_time) = (node.event_type, node.event_time);
        let author = node.author;
        self.nodes.push(node);
        match self.author_index.get(author.0.into()) {
            Some(at) => drop(self.authors.get(at).map(|list| list.push(id))),
            None => {
                let list = AppendVec::new();
                list.push(id);
                self.author_index
                    .insert(author.0.into(), self.authors.push(list));
            }
        }
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
