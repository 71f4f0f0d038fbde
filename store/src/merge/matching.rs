//! Which events of two brains are one.

use std::collections::HashMap;

use amem_core::event::Attributes;
use amem_core::view::{Node, View};
use amem_core::{EventType, Micros, NodeId};
use xxhash_rust::xxh3::xxh3_128;

use crate::error::Result;

/// The attribute that tells where a merged event comes from: `instance`, `event`, `time` (µs, recorded there) and
/// `agent`.
pub const ORIGIN: &str = "amem.origin";

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
    Ok(match origin(node)? {
        Some(time) => time,
        None => node.created_at(),
    })
}

fn origin(node: &Node<'_>) -> Result<Option<Micros>> {
    let Some(json) = node.attributes_json()?.filter(|json| json.contains(ORIGIN)) else {
        return Ok(None);
    };
    let Ok(attributes) = serde_json::from_str::<Attributes>(&json) else {
        return Ok(None);
    };
    let time = attributes.get(ORIGIN).and_then(|origin| origin.get("time"));
    Ok(time.and_then(serde_json::Value::as_i64).map(Micros))
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
        let mut index: HashMap<Key, Vec<(Option<u128>, u64)>> = HashMap::new();
        for id in common..ours.nodes() {
            let node = ours.node(NodeId(id))?;
            let key = (first_recorded(&node)?, node.event_type());
            index.entry(key).or_default().push((digest(&node)?, id));
        }
        for id in common..theirs.nodes() {
            let node = theirs.node(NodeId(id))?;
            let key = (first_recorded(&node)?, node.event_type());
            let Some(candidates) = index.get_mut(&key) else {
                continue;
            };
            let text = digest(&node)?;
            if let Some(at) = candidates.iter().position(|(other, _)| agree(*other, text)) {
                matching.tie(candidates.remove(at).1, id);
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
