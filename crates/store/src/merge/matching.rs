//! Which events of two brains are the same.

use std::collections::{HashMap, HashSet};

use amem_format::view::{Node, View};
use amem_format::{EventType, Micros, NodeId};
use xxhash_rust::xxh3::xxh3_128;

use super::budget::MemoryBudget;
use super::origin;
use crate::error::Result;

/// When an event was first recorded, anywhere, and its type. Recorded times of one brain are all different.
type Key = (Micros, EventType);

/// Bytes of one of our events among those that are not matched yet: its entry and list by moment, type and text, those
/// by moment and type alone, and its moment.
const OURS: usize = size_of::<((Key, Option<u128>), Vec<u64>)>()
    + size_of::<(Key, Moment)>()
    + size_of::<[u64; 8]>()
    + size_of::<Key>();

/// The events of another brain that are ours already.
#[derive(Debug)]
pub(crate) struct Matching {
    /// Ours, by the other's id.
    ours: Vec<Option<NodeId>>,
    /// Events of the other brain that may be what was erased here. It has more candidates than were erased, and nothing
    /// says which of them are new, so none is merged.
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
    /// Compares two brains event by event. Those of one lineage have a beginning in common; behind it, or where there
    /// is none, events are found by when they were first recorded.
    pub(crate) fn of(ours: &View, theirs: &View, budget: &mut MemoryBudget) -> Result<Self> {
        // The caller holds the pairs as well.
        budget.take_entries(theirs.nodes(), size_of::<(NodeId, NodeId)>())?;
        let mut matching = Self {
            ours: vec![None; theirs.nodes() as usize],
            withheld: HashSet::new(),
        };
        // What one of them erased could be another event of that moment, as where both are clones and their clocks
        // agree: it waits until everything else has found its like.
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
        let mut rest = Rest::of(ours, &open, common, &keys, budget)?;
        let mut late = Vec::new();
        for (id, key) in rest_of(theirs, &open, common).zip(keys) {
            if !rest.has(key) {
                continue;
            }
            let text = digest(&theirs.node(NodeId(id))?)?;
            match rest.same(key, text) {
                Some(ours) => matching.pair(ours, id),
                None => {
                    budget.take_entries(1, size_of::<(Key, Option<u128>, u64)>())?;
                    late.push((key, text, id));
                }
            }
        }
        // Only what is one with nothing else can be one with what was erased.
        let mut rest = rest.by_moment();
        for (key, text, id) in late {
            match rest.erased(key, text) {
                Like::One(ours) => matching.pair(ours, id),
                Like::Perhaps => drop(matching.withheld.insert(id)),
                Like::None => {}
            }
        }
        budget.release_to(before);
        Ok(matching)
    }

    fn pair(&mut self, ours: u64, theirs: u64) {
        self.ours[theirs as usize] = Some(NodeId(ours));
    }

    /// Events that are not brought, as they may be what was erased here.
    pub(crate) fn withheld(&self) -> u64 {
        self.withheld.len() as u64
    }

    /// True if an event of the other brain is one of those.
    pub(crate) fn is_withheld(&self, theirs: NodeId) -> bool {
        self.withheld.contains(&theirs.0)
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

/// The events that have no like in the common beginning: those left open in it, and all behind it.
fn rest_of<'a>(
    view: &View,
    open: &'a [u64],
    from: u64,
) -> impl DoubleEndedIterator<Item = u64> + use<'a> {
    open.iter().copied().chain(from..view.nodes())
}

/// When those were first recorded, by id.
fn keys(view: &View, open: &[u64], from: u64, budget: &mut MemoryBudget) -> Result<Vec<Key>> {
    let count = view.nodes() - from + open.len() as u64;
    // Twice: by id here, and in order of time (`Rest`).
    budget.take(count.saturating_mul(2 * size_of::<Key>() as u64))?;
    let mut keys = Vec::with_capacity(count as usize);
    for id in rest_of(view, open, from) {
        let node = view.node(NodeId(id))?;
        keys.push((first_recorded(&node)?, node.event_type()));
    }
    Ok(keys)
}

/// Our events that are not matched yet and are of a moment that the other brain has an event of: of two brains that
/// have nothing in common none, however large ours is.
struct Rest {
    /// In the order of their ids: the next is the last of a list.
    by_text: HashMap<(Key, Option<u128>), Vec<u64>>,
    moments: HashSet<Key>,
}

impl Rest {
    fn of(
        view: &View,
        open: &[u64],
        from: u64,
        theirs: &[Key],
        budget: &mut MemoryBudget,
    ) -> Result<Self> {
        let mut wanted = theirs.to_vec();
        wanted.sort_unstable();
        let mut by_text: HashMap<_, Vec<u64>> = HashMap::new();
        let mut moments = HashSet::new();
        for id in rest_of(view, open, from).rev() {
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

    /// True if there was one of this moment and type.
    fn has(&self, key: Key) -> bool {
        self.moments.contains(&key)
    }

    /// One of the same moment, type and text; or erased as this is.
    fn same(&mut self, key: Key, text: Option<u128>) -> Option<u64> {
        self.by_text.get_mut(&(key, text)).and_then(Vec::pop)
    }

    fn by_moment(self) -> Moments {
        let mut moments: HashMap<Key, Moment> = HashMap::new();
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
        Moments(moments)
    }
}

/// The same by moment and type.
struct Moments(HashMap<Key, Moment>);

/// Our event that is one with one of the other brain.
enum Like {
    One(u64),
    /// It was erased here, or is new: nothing is left that says which.
    Perhaps,
    None,
}

#[derive(Default)]
struct Moment {
    whole: Vec<u64>,
    erased: Vec<u64>,
    /// Something of it was erased.
    had_erased: bool,
}

impl Moments {
    /// For what was erased there one that is whole here, and the other way round.
    fn erased(&mut self, key: Key, text: Option<u128>) -> Like {
        let Some(moment) = self.0.get_mut(&key) else {
            return Like::None;
        };
        let like = match text {
            Some(_) => moment.erased.pop(),
            None => moment.whole.pop(),
        };
        match like {
            Some(ours) => Like::One(ours),
            None if text.is_some() && moment.had_erased => Like::Perhaps,
            None => Like::None,
        }
    }
}
