//! Finds the events that two brains have in common.

use std::collections::{HashMap, HashSet};

use amem_format::view::{Node, View};
use amem_format::{EventType, Micros, NodeId};
use xxhash_rust::xxh3::xxh3_128;

use super::budget::MemoryBudget;
use super::origin;
use crate::error::Result;

/// When an event was first recorded, in any brain, and its type. Recorded times within one brain are unique.
type EventKey = (Micros, EventType);

/// Bytes of one of our unmatched events: its entries by key and text, by key, and in the set of keys.
const OURS: usize = size_of::<((EventKey, Option<u128>), Vec<u64>)>()
    + size_of::<(EventKey, KeyEvents)>()
    + size_of::<[u64; 8]>()
    + size_of::<EventKey>();

/// Pairs of equal events.
#[derive(Debug)]
pub(crate) struct Matching {
    /// Ours, by the other's id.
    ours: Vec<Option<NodeId>>,
    /// Events of the other brain that may be events erased here. There are more candidates than erased events, and it
    /// is unknown which are new, so none is merged.
    withheld: HashSet<u64>,
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
    if node.is_erased() {
        Ok(None)
    } else {
        Ok(Some(xxh3_128(node.text()?.as_bytes())))
    }
}

impl Matching {
    /// Compares two brains event by event. Brains of one lineage begin with the same events; behind those, events are
    /// matched by when they were first recorded.
    pub(crate) fn of(ours: &View, theirs: &View, budget: &mut MemoryBudget) -> Result<Self> {
        // The caller holds the pairs as well.
        budget.take_entries(theirs.nodes(), size_of::<(NodeId, NodeId)>())?;
        let mut matching = Self {
            ours: vec![None; theirs.nodes() as usize],
            withheld: HashSet::new(),
        };
        // An event that one brain erased could be another event of that moment (clones whose clocks agree), so it is
        // matched after all others.
        let (mut common, mut open) = (0, Vec::new());
        while common < ours.nodes().min(theirs.nodes()) {
            let (a, b) = (ours.node(NodeId(common))?, theirs.node(NodeId(common))?);
            if (a.created_at(), a.event_type()) != (b.created_at(), b.event_type()) {
                break;
            }
            match (digest(&a)?, digest(&b)?) {
                (a, b) if a == b => matching.pair(common, common),
                (Some(_), Some(_)) => break,
                _ => {
                    budget.take_entries(1, size_of::<u64>())?;
                    open.push(common);
                }
            }
            common += 1;
        }
        if common == theirs.nodes() && open.is_empty() {
            return Ok(matching);
        }
        let before = budget.taken();
        let keys = keys(theirs, &open, common, budget)?;
        let mut unmatched = UnmatchedEvents::of(ours, &open, common, &keys, budget)?;
        let mut late = Vec::new();
        for (id, key) in unmatched_of(theirs, &open, common).zip(keys) {
            if !unmatched.has(key) {
                continue;
            }
            let text = digest(&theirs.node(NodeId(id))?)?;
            match unmatched.same(key, text) {
                Some(ours) => matching.pair(ours, id),
                None => {
                    budget.take_entries(1, size_of::<(EventKey, Option<u128>, u64)>())?;
                    late.push((key, text, id));
                }
            }
        }
        // Only events without a counterpart can match an erased one.
        let mut unmatched = unmatched.by_moment();
        for (key, text, id) in late {
            match unmatched.erased(key, text) {
                Counterpart::One(ours) => matching.pair(ours, id),
                Counterpart::Uncertain => drop(matching.withheld.insert(id)),
                Counterpart::None => {}
            }
        }
        budget.release_to(before);
        Ok(matching)
    }

    fn pair(&mut self, ours: u64, theirs: u64) {
        self.ours[theirs as usize] = Some(NodeId(ours));
    }

    /// Number of withheld events.
    pub(crate) fn withheld(&self) -> u64 {
        self.withheld.len() as u64
    }

    /// True if an event of the other brain is withheld.
    pub(crate) fn is_withheld(&self, theirs: NodeId) -> bool {
        self.withheld.contains(&theirs.0)
    }

    /// Our event that is the same as one of the other brain.
    pub(crate) fn ours(&self, theirs: NodeId) -> Option<NodeId> {
        self.ours.get(theirs.0 as usize).copied().flatten()
    }

    /// The pairs (ours, theirs), by the other's id.
    pub(crate) fn pairs(&self) -> impl Iterator<Item = (NodeId, NodeId)> + '_ {
        let pair = |(theirs, ours): (u64, &Option<NodeId>)| Some(((*ours)?, NodeId(theirs)));
        (0..).zip(&self.ours).filter_map(pair)
    }
}

/// Events that the common beginning does not match: those left open in it, and all behind it.
fn unmatched_of<'a>(
    view: &View,
    open: &'a [u64],
    from: u64,
) -> impl DoubleEndedIterator<Item = u64> + use<'a> {
    open.iter().copied().chain(from..view.nodes())
}

/// The keys of these events, by id.
fn keys(view: &View, open: &[u64], from: u64, budget: &mut MemoryBudget) -> Result<Vec<EventKey>> {
    let count = view.nodes() - from + open.len() as u64;
    // Twice: by id here, and sorted in `UnmatchedEvents`.
    budget.take(count.saturating_mul(2 * size_of::<EventKey>() as u64))?;
    let mut keys = Vec::with_capacity(count as usize);
    for id in unmatched_of(view, open, from) {
        let node = view.node(NodeId(id))?;
        keys.push((first_recorded(&node)?, node.event_type()));
    }
    Ok(keys)
}

/// Our unmatched events whose key the other brain has as well: none for unrelated brains, however large ours is.
struct UnmatchedEvents {
    /// Ids in descending order: the lowest is popped first.
    by_text: HashMap<(EventKey, Option<u128>), Vec<u64>>,
    moments: HashSet<EventKey>,
}

impl UnmatchedEvents {
    fn of(
        view: &View,
        open: &[u64],
        from: u64,
        theirs: &[EventKey],
        budget: &mut MemoryBudget,
    ) -> Result<Self> {
        let mut wanted = theirs.to_vec();
        wanted.sort_unstable();
        let mut by_text: HashMap<_, Vec<u64>> = HashMap::new();
        let mut moments = HashSet::new();
        for id in unmatched_of(view, open, from).rev() {
            let node = view.node(NodeId(id))?;
            let key = (first_recorded(&node)?, node.event_type());
            if wanted.binary_search(&key).is_ok() {
                budget.take_entries(1, OURS)?;
                moments.insert(key);
                by_text.entry((key, digest(&node)?)).or_default().push(id);
            }
        }
        Ok(Self { by_text, moments })
    }

    /// True if there was an event of this key.
    fn has(&self, key: EventKey) -> bool {
        self.moments.contains(&key)
    }

    /// Takes an event of the same key and text, or one that is erased as this is.
    fn same(&mut self, key: EventKey, text: Option<u128>) -> Option<u64> {
        self.by_text.get_mut(&(key, text)).and_then(Vec::pop)
    }

    fn by_moment(self) -> EventsByKey {
        let mut moments: HashMap<EventKey, KeyEvents> = HashMap::new();
        for ((key, text), ids) in self.by_text {
            let moment = moments.entry(key).or_default();
            match text {
                Some(_) => moment.whole.extend(ids),
                None => moment.erased.extend(ids),
            }
        }
        for moment in moments.values_mut() {
            moment.whole.sort_unstable_by(|a, b| b.cmp(a));
            moment.had_erased = !moment.erased.is_empty();
        }
        EventsByKey(moments)
    }
}

/// Unmatched events by key.
struct EventsByKey(HashMap<EventKey, KeyEvents>);

/// Our counterpart of an event.
enum Counterpart {
    One(u64),
    /// It was erased here or is new; it is unknown which.
    Uncertain,
    None,
}

#[derive(Default)]
struct KeyEvents {
    whole: Vec<u64>,
    erased: Vec<u64>,
    /// An event of this key was erased.
    had_erased: bool,
}

impl EventsByKey {
    /// Takes an intact event here for one that was erased there, or the other way round.
    fn erased(&mut self, key: EventKey, text: Option<u128>) -> Counterpart {
        let Some(moment) = self.0.get_mut(&key) else {
            return Counterpart::None;
        };
        let counterpart = match text {
            Some(_) => moment.erased.pop(),
            None => moment.whole.pop(),
        };
        match counterpart {
            Some(ours) => Counterpart::One(ours),
            None if text.is_some() && moment.had_erased => Counterpart::Uncertain,
            None => Counterpart::None,
        }
    }
}
