//! Two brains as one: what of another brain is ours already, and what changed where since.
//!
//! Promises: an event is the same event in both if it was recorded at the same moment, of the same type, with the same
//! text, wherever it has been merged to since; one that was erased is known by moment and type. Both brains are only
//! read.
//! Not here: what becomes of the differences (`plan::merge`).

pub(crate) mod changes;
pub(crate) mod matching;
pub(crate) mod origin;
pub(crate) mod room;

use std::collections::HashSet;
use std::sync::Arc;

use amem_format::NodeId;
use amem_format::limits::{ANSWER_BYTES_MAX, TRANSACTION_BYTES_MAX};
use amem_format::view::View;
use serde::{Deserialize, Serialize, Serializer};

pub use self::origin::ORIGIN;
use self::room::Room;
use crate::error::Result;
use crate::mutation::Mutation;
use crate::plan;

/// Another brain, of which this one takes what it has not.
#[derive(Debug, Clone)]
pub struct Other {
    /// All of it, as of one moment.
    pub view: Arc<View>,
    /// Bytes of a merge that is written behind the other commits; a larger one is in a new generation.
    pub journal_bytes: usize,
    /// Bytes of the one commit that a merge is: a larger one is refused.
    pub commit_bytes_max: u64,
    /// Bytes of memory that a merge may take: a larger one is refused before they are taken.
    pub bytes_max: u64,
}

/// Bytes of memory that each merge may take, unless it is said otherwise, and each file that is read for one.
pub(crate) const MERGE_BYTES_MAX: u64 = 4 << 30;

/// Bytes of the one commit that a merge is, unless it is said otherwise: who asked and the answer go into it, too.
const COMMIT_BYTES_MAX: u64 = (TRANSACTION_BYTES_MAX - 2 * ANSWER_BYTES_MAX) as u64;

/// Bytes of a merge that is written behind the other commits, unless it is said otherwise.
const JOURNAL_BYTES: usize = 32 << 20;

impl Other {
    /// A brain as of a view.
    pub fn new(view: View) -> Self {
        Self {
            view: Arc::new(view),
            journal_bytes: JOURNAL_BYTES,
            commit_bytes_max: COMMIT_BYTES_MAX,
            bytes_max: MERGE_BYTES_MAX,
        }
    }

    /// What a merge into a brain would do.
    pub fn would_do(&self, view: &View) -> Result<Merged> {
        let mutation = Mutation::Merge(self.clone());
        let planned = plan::plan(view, &mutation, view.time())?;
        Ok(planned.answer.merged.unwrap_or_default())
    }
}

/// Which of a brain's events another brain has whole.
pub fn whole_in(view: &View, other: &View, ids: &[NodeId]) -> Result<Vec<NodeId>> {
    let mut room = Room::new(MERGE_BYTES_MAX);
    let (ids, mut found) = (ids.iter().collect::<HashSet<_>>(), Vec::new());
    let matching = matching::Matching::of(view, other, &mut room)?;
    for (ours, theirs) in matching.pairs() {
        if ids.contains(&ours) && !other.node(theirs)?.is_erased() {
            found.push(ours);
        }
    }
    if found.is_empty() && matching.withheld() > 0 {
        // One of those may be what was erased here.
        let erased = ids
            .iter()
            .filter(|id| view.node(***id).is_ok_and(|node| node.is_erased()));
        found.extend(erased.map(|id| **id));
    }
    Ok(found)
}

/// True if another brain has the text of one of these events, whatever brain it is: one of another layout does not say
/// what it was made of.
pub fn has_text_of(view: &View, other: &View, ids: &[NodeId]) -> Result<bool> {
    let mut texts = HashSet::with_capacity(ids.len());
    for id in ids {
        texts.insert(view.node(*id)?.text()?.into_owned());
    }
    for at in 0..other.nodes() {
        if texts.contains(&*other.node(NodeId(at))?.text()?) {
            return Ok(true);
        }
    }
    Ok(false)
}

impl PartialEq for Other {
    fn eq(&self, other: &Self) -> bool {
        let moment = |view: &View| (view.instance(), view.lsn(), view.time());
        moment(&self.view) == moment(&other.view)
    }
}

impl Serialize for Other {
    /// What makes a request for it the same request: instance, LSN, and its time, as a brain whose disk was cloned has
    /// another commit under the same number.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let view = &self.view;
        (view.instance(), view.lsn().0, view.time().0).serialize(serializer)
    }
}

/// What a merge did, or would do.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Merged {
    /// Events of the other brain that were here already.
    pub matched: u64,
    /// Events that are new here.
    pub events: u64,
    /// Edges that are new here, or have another weight.
    pub edges: u64,
    /// Edges that were retracted.
    pub retracted: u64,
    /// Events that were here and have other attributes, another vector, or are pinned, forgotten, compressed otherwise.
    pub changed: u64,
    /// Events whose uses were counted.
    pub touched: u64,
    /// Sessions that are new here, or were closed there, or later and otherwise.
    pub sessions: u64,
    /// Supersedes edges that are on a cycle of both brains' edges, and were left out.
    pub cycles: u64,
    /// Vectors of another space, which were left out, or made anew by the built-in embedder.
    pub other_vectors: u64,
    /// Events that are erased in the other brain and whole here: they stay, until they are erased here, too.
    pub erased_there: u64,
    /// Events of the other brain, whole there, that may be what was erased here and were not brought: of one moment and
    /// type there are more of them than were erased.
    pub withheld: u64,
}
