//! Which events of two brains are one.

use std::collections::HashMap;

use amem_core::view::{Node, View};
use amem_core::{EventType, Micros, NodeId};
use xxhash_rust::xxh3::xxh3_128;

use super::origin;
use crate::error::Result;

/// When an event was first recorded, anywhere, and its type. Recorded times of one brain are all different.
type Key = (Micros, EventType);

/// The events of another brain that are ours already.
#[derive(Debug)]
pub(crate) struct Matching {
    /// Ours, by the other's id.
    ours: Vec<Option<NodeId>>,
}

/// When an event was first recorded: here, or where it was merged from.
pub(crate) fn first_recorded(node: &Node<'_>) -> Result<Micros> {
    let origin = origin::of(node)?;
    Ok(origin
        .and_then(|origin| origin::time(&origin))
        .unwrap_or_else(|| node.created_at()))
}

/// A text, or that it was erased.
fn digest(node: &Node<'_>) -> Result<Option<u128>> {
    match node.is_erased() {
        true => Ok(None),
        false => Ok(Some(xxh3_128(node.text()?.as_bytes()))),
    }
}

/// True if two events of the same moment and type are one: what was erased could be any.
fn agree(a: Option<u128>, b: Option<u128>) -> bool {
    a.is_none() || b.is_none() || a == b
}

impl Matching {
    /// Compares two brains event by event. Those of one lineage have a beginning in common; behind it, or where there is
    /// none, events are found by when they were first recorded.
    pub(crate) fn of(ours: &View, theirs: &View) -> Result<Self> {
        let mut matching = Self {
            ours: vec![None; theirs.nodes() as usize],
        };
        let mut common = 0;
        while common < ours.nodes().min(theirs.nodes()) {
            let (a, b) = (ours.node(NodeId(common))?, theirs.node(NodeId(common))?);
            let same = (a.created_at(), a.event_type()) == (b.created_at(), b.event_type());
            if !same || !agree(digest(&a)?, digest(&b)?) {
                break;
            }
            matching.tie(common, common);
            common += 1;
        }
        if common == theirs.nodes() {
            return Ok(matching);
        }
        let mut rest = Rest::of(ours, common)?;
        let mut late = Vec::new();
        for id in common..theirs.nodes() {
            let node = theirs.node(NodeId(id))?;
            let key = (first_recorded(&node)?, node.event_type());
            let text = digest(&node)?;
            match rest.same(key, text) {
                Some(ours) => matching.tie(ours, id),
                None => late.push((key, text, id)),
            }
        }
        // Only what is one with nothing else can be one with what was erased.
        let mut rest = rest.by_moment();
        for (key, text, id) in late {
            if let Some(ours) = rest.erased(key, text) {
                matching.tie(ours, id);
            }
        }
        Ok(matching)
    }

    fn tie(&mut self, ours: u64, theirs: u64) {
        self.ours[theirs as usize] = Some(NodeId(ours));
    }

    /// Our event that is one with this of the other brain.
    pub(crate) fn ours(&self, theirs: NodeId) -> Option<NodeId> {
        self.ours.get(theirs.0 as usize).copied().flatten()
    }

    /// The pairs (ours, theirs), by the other's id.
    pub(crate) fn pairs(&self) -> impl Iterator<Item = (NodeId, NodeId)> + '_ {
        let pair = |(theirs, ours): (u64, &Option<NodeId>)| Some(((*ours)?, NodeId(theirs)));
        (0..).zip(&self.ours).filter_map(pair)
    }
}

/// Our events that are not matched yet, in the order of their ids: the next is the last of a list.
struct Rest(HashMap<(Key, Option<u128>), Vec<u64>>);

impl Rest {
    fn of(view: &View, from: u64) -> Result<Self> {
        let mut rest: HashMap<_, Vec<u64>> = HashMap::new();
        for id in (from..view.nodes()).rev() {
            let node = view.node(NodeId(id))?;
            let key = (first_recorded(&node)?, node.event_type());
            rest.entry((key, digest(&node)?)).or_default().push(id);
        }
        Ok(Self(rest))
    }

    /// One of the same moment, type and text; or erased as this is.
    fn same(&mut self, key: Key, text: Option<u128>) -> Option<u64> {
        self.0.get_mut(&(key, text)).and_then(Vec::pop)
    }

    fn by_moment(self) -> Moments {
        let mut moments: HashMap<Key, Moment> = HashMap::new();
        for ((key, text), ids) in self.0 {
            let moment = moments.entry(key).or_default();
            match text {
                Some(_) => moment.whole.extend(ids),
                None => moment.erased.extend(ids),
            }
        }
        for moment in moments.values_mut() {
            moment.whole.sort_unstable_by(|a, b| b.cmp(a));
        }
        Moments(moments)
    }
}

/// The same by moment and type.
struct Moments(HashMap<Key, Moment>);

#[derive(Default)]
struct Moment {
    whole: Vec<u64>,
    erased: Vec<u64>,
}

impl Moments {
    /// For what was erased there one that is whole here, and the other way round.
    fn erased(&mut self, key: Key, text: Option<u128>) -> Option<u64> {
        let moment = self.0.get_mut(&key)?;
        match text {
            Some(_) => moment.erased.pop(),
            None => moment.whole.pop(),
        }
    }
}
