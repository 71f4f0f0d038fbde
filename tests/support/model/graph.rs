//! Graph queries by sets and distances.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use amem_format::{EdgeType, Flags, NodeId};
use amem_query::{Follow, Scope};

use super::history::ViewState;
use super::listing::is_in_scope;

/// A hop, in the order in which hops are tried: 0 for outgoing, the other event, the type.
type Hop = (u8, u64, u8);

/// What is replaced by what, above one event.
#[derive(Debug, PartialEq, Eq)]
pub struct Heads {
    /// The heads, the newest first.
    pub heads: Vec<NodeId>,
    /// From the event to the newest head; true for what is forgotten.
    pub chain: Vec<(NodeId, bool)>,
    /// There is a circle.
    pub is_cyclic: bool,
}

impl ViewState {
    fn is_there(&self, id: u64, scope: &Scope) -> bool {
        is_in_scope(&self.state.events[id as usize], scope)
    }

    /// True if an event is hidden from a request.
    pub(super) fn is_stub(&self, id: u64, include_forgotten: bool) -> bool {
        let flags = self.state.events[id as usize].flags;
        flags.has(Flags::FORGOTTEN) && !include_forgotten
    }

    /// The hops from an event, in order.
    fn hops(&self, id: u64, follow: Follow, types: &[EdgeType], scope: &Scope) -> Vec<Hop> {
        let mut hops = BTreeSet::new();
        for &(source, target, edge_type) in self.state.edges.keys() {
            if !types.is_empty() && !types.contains(&EdgeType(edge_type)) {
                continue;
            }
            if source == id && follow != Follow::Incoming && self.is_there(target, scope) {
                hops.insert((0, target, edge_type));
            }
            if target == id && follow != Follow::Outgoing && self.is_there(source, scope) {
                hops.insert((1, source, edge_type));
            }
        }
        hops.into_iter().collect()
    }
}

/// The edges of an event in one direction whose other end may be shown: (other, type), in order.
pub fn edges(
    known: &ViewState,
    id: u64,
    outgoing: bool,
    scope: &Scope,
    all: bool,
) -> Vec<(u64, u8)> {
    let follow = if outgoing {
        Follow::Outgoing
    } else {
        Follow::Incoming
    };
    let hops = known.hops(id, follow, &[], scope).into_iter();
    let shown = hops.filter(|(_, other, _)| !known.is_stub(*other, all));
    shown
        .map(|(_, other, edge_type)| (other, edge_type))
        .collect()
}

/// What is reached from an event: id, depth, parent's id and edge type, whether it is a stub; stubs that lead
/// to nothing shown left out.
#[expect(clippy::type_complexity, reason = "a row of an expected table")]
pub fn tree(
    known: &ViewState,
    start: u64,
    follow: Follow,
    types: &[EdgeType],
    depth: u32,
    scope: &Scope,
    all: bool,
) -> Vec<(NodeId, u32, Option<(NodeId, u8, bool)>, bool)> {
    forest(known, &[start], follow, types, depth, scope, all)
}

/// As `tree`, from several events at once.
#[expect(clippy::type_complexity, reason = "a row of an expected table")]
pub fn forest(
    known: &ViewState,
    starts: &[u64],
    follow: Follow,
    types: &[EdgeType],
    depth: u32,
    scope: &Scope,
    all: bool,
) -> Vec<(NodeId, u32, Option<(NodeId, u8, bool)>, bool)> {
    let mut found: Vec<_> = starts.iter().map(|&id| (id, 0, None, false)).collect();
    let mut queue: VecDeque<_> = starts.iter().map(|&id| (id, 0)).collect();
    while let Some((id, at)) = queue.pop_front() {
        if at == depth {
            continue;
        }
        for (direction, other, edge_type) in known.hops(id, follow, types, scope) {
            if found.iter().all(|row| row.0 != other) {
                let via = Some((NodeId(id), edge_type, direction == 0));
                found.push((other, at + 1, via, known.is_stub(other, all)));
                queue.push_back((other, at + 1));
            }
        }
    }
    // A stub stays while something stands on it.
    loop {
        let is_dead = |row: &(u64, u32, Option<(NodeId, u8, bool)>, bool)| {
            let is_parent = |other: &(u64, u32, Option<(NodeId, u8, bool)>, bool)| {
                other.2.is_some_and(|via| via.0.0 == row.0)
            };
            row.3 && !found.iter().any(is_parent)
        };
        let Some(at) = found.iter().position(is_dead) else {
            break;
        };
        found.remove(at);
    }
    let rows = found.into_iter();
    rows.map(|(id, depth, via, is_stub)| (NodeId(id), depth, via, is_stub))
        .collect()
}

/// The shortest way whose hops come first: from the distances to the target, step by step.
pub fn route(
    known: &ViewState,
    from: u64,
    to: u64,
    follow: Follow,
    types: &[EdgeType],
    depth: u32,
    scope: &Scope,
) -> Vec<NodeId> {
    let back = match follow {
        Follow::Outgoing => Follow::Incoming,
        Follow::Incoming => Follow::Outgoing,
        Follow::Both => Follow::Both,
    };
    let distance = distances(to, |id| {
        let hops = known.hops(id, back, types, scope).into_iter();
        hops.map(|(_, other, _)| other).collect()
    });
    let Some(&total) = distance.get(&from) else {
        return Vec::new();
    };
    if total > depth {
        return Vec::new();
    }
    let mut way = vec![NodeId(from)];
    let mut at = from;
    for left in (0..total).rev() {
        let hops = known.hops(at, follow, types, scope);
        let next = hops
            .iter()
            .find(|(_, other, _)| distance.get(other) == Some(&left));
        at = next.unwrap_or_else(|| panic!("a distance without a hop")).1;
        way.push(NodeId(at));
    }
    way
}

fn distances(start: u64, next: impl Fn(u64) -> Vec<u64>) -> BTreeMap<u64, u32> {
    let mut distance = BTreeMap::from([(start, 0)]);
    let mut queue = VecDeque::from([start]);
    while let Some(id) = queue.pop_front() {
        for other in next(id) {
            if !distance.contains_key(&other) {
                distance.insert(other, distance[&id] + 1);
                queue.push_back(other);
            }
        }
    }
    distance
}

/// The direct replacements of an event.
fn replacements(known: &ViewState, id: u64, scope: &Scope) -> Vec<u64> {
    let hops = known.hops(id, Follow::Incoming, &[EdgeType::SUPERSEDES], scope);
    hops.into_iter().map(|(_, other, _)| other).collect()
}

/// All replacements of an event, itself only if it replaces itself in a circle.
fn above(known: &ViewState, id: u64, scope: &Scope) -> BTreeSet<u64> {
    let mut met = BTreeSet::new();
    let mut todo = replacements(known, id, scope);
    while let Some(id) = todo.pop() {
        if met.insert(id) {
            todo.extend(replacements(known, id, scope));
        }
    }
    met
}

/// The heads of an event, the newest first.
pub fn heads(known: &ViewState, id: u64, scope: &Scope, all: bool) -> Vec<NodeId> {
    let mut reached = above(known, id, scope);
    reached.insert(id);
    let shown: BTreeSet<u64> = reached
        .into_iter()
        .filter(|&id| !known.is_stub(id, all))
        .collect();
    let is_head = |id: &&u64| above(known, **id, scope).is_disjoint(&shown);
    let mut heads: Vec<NodeId> = shown.iter().filter(is_head).map(|&id| NodeId(id)).collect();
    if heads.is_empty() {
        heads.extend(shown.last().map(|&id| NodeId(id)));
    }
    heads.sort_by(|a, b| b.cmp(a));
    heads
}

/// What an event was replaced by; `None` if nothing of it may be shown.
pub fn resolve(known: &ViewState, id: u64, scope: &Scope, all: bool) -> Option<Heads> {
    let heads = heads(known, id, scope, all);
    let head = heads.first()?.0;
    let supersedes = &[EdgeType::SUPERSEDES];
    let way = route(
        known,
        id,
        head,
        Follow::Incoming,
        supersedes,
        u32::MAX,
        scope,
    );
    let mut reached = above(known, id, scope);
    reached.insert(id);
    Some(Heads {
        heads,
        chain: way
            .into_iter()
            .map(|id| (id, known.is_stub(id.0, all)))
            .collect(),
        is_cyclic: reached
            .iter()
            .any(|&id| above(known, id, scope).contains(&id)),
    })
}

/// Contradictions, and contested beliefs with their heads.
#[expect(clippy::type_complexity, reason = "two expected tables")]
pub fn conflicts(
    known: &ViewState,
    scope: &Scope,
    all: bool,
) -> (Vec<(NodeId, NodeId)>, Vec<(NodeId, Vec<NodeId>)>) {
    let shows = |id: u64| known.is_there(id, scope) && !known.is_stub(id, all);
    let is_pair = |(source, target, edge_type): &&(u64, u64, u8)| {
        EdgeType(*edge_type) == EdgeType::CONTRADICTS && shows(*source) && shows(*target)
    };
    let pairs = known.state.edges.keys().filter(is_pair);
    let pairs = pairs.map(|&(source, target, _)| (NodeId(source), NodeId(target)));
    let beliefs = (0..known.state.events.len() as u64)
        .filter(|&id| shows(id) && replacements(known, id, scope).len() > 1);
    let contested = beliefs.map(|id| (NodeId(id), heads(known, id, scope, all)));
    (
        pairs.collect(),
        contested.filter(|(_, heads)| heads.len() > 1).collect(),
    )
}
