//! What was summaries of a base by reading its records, so that they need not be read again.
//!
//! Of a record's 72 bytes a walk wants one bit, a ranking a bound. The bits and bounds of all events are so few that
//! they stay in the cache, where the records would be a miss each. Nothing is summaries ahead: who asks first reads the
//! record. A base never changes, so what was summaries of it holds as long as it does.
//!
//! Promises: an event costs a quarter of a byte once a graph was walked, and a byte at most.
//! Not here: what the journal says since; a base that is opened anew knows nothing.

use super::node::RawNode;
use crate::error::Result;
use crate::sync::{AtomicU64, OnceLock, Ordering};
use crate::types::{EventType, Flags, Micros, NodeId};

/// Blocks of a page: one is made when something of it is first wanted.
const PAGE: usize = 512;
/// Events whose bits are in one word: two each.
const PER_WORD: u64 = 32;
/// Events that have a peak in common.
pub const BLOCK: u64 = 64;
/// Parts of a block.
const PARTS: usize = 4;
/// Events of a part.
pub const PART: u64 = BLOCK / PARTS as u64;

/// What was summaries.
#[derive(Debug)]
pub(super) struct SummaryCache {
    /// Of each event, whether it is known if it is forgotten, and whether it is.
    forgotten: OnceLock<Box<[AtomicU64]>>,
    /// Of each block, page by page.
    peaks: Box<[OnceLock<PeakPage>]>,
    nodes: u64,
}

type PeakPage = Box<[OnceLock<Peak>; PAGE]>;

/// What is known of who is forgotten.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ForgottenBits<'a>(&'a [AtomicU64]);

/// What of the events of a block makes for strength, each at its most.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Peak {
    /// The greatest confidence of each part of the block.
    pub confidences: [f32; PARTS],
    /// The least decay rate of those that have their own.
    pub(crate) lambda: f32,
    /// When one was last touched.
    pub(crate) last_accessed: Micros,
    /// How often one was touched.
    pub(crate) access_count: u32,
    /// One of them does not fade.
    pub(crate) is_pinned: bool,
    /// Bit n for the n-th type; that of the first for types that nobody knows, whose rate is the first's.
    pub(crate) types: u8,
}

impl Peak {
    /// Of no event.
    const NONE: Self = Self {
        confidences: [f32::NEG_INFINITY; PARTS],
        lambda: f32::INFINITY,
        last_accessed: Micros(0),
        access_count: 0,
        is_pinned: false,
        types: 0,
    };

    /// True if whatever makes for a share of confidence is at least as much as in another.
    pub fn covers(&self, other: &Self) -> bool {
        self.lambda <= other.lambda
            && self.last_accessed >= other.last_accessed
            && self.access_count >= other.access_count
            && self.is_pinned >= other.is_pinned
            && other.types & !self.types == 0
    }

    fn add(&mut self, record: RawNode<'_>) {
        let part = &mut self.confidences[(record.id().0 % BLOCK / PART) as usize];
        *part = part.max(record.confidence());
        self.last_accessed = self.last_accessed.max(record.last_accessed());
        self.access_count = self.access_count.max(record.access_count());
        self.is_pinned |= record.flags().has(Flags::PINNED);
        match record.lambda() {
            lambda if lambda > 0.0 => self.lambda = self.lambda.min(lambda),
            _ => self.types |= 1 << of_rate(record.event_type()),
        }
    }
}

/// Which of the types' decay rates a type has.
pub(crate) fn of_rate(event_type: EventType) -> usize {
    if event_type.is_known() {
        usize::from(event_type.0)
    } else {
        0
    }
}

impl SummaryCache {
    /// Nothing, of so many events.
    pub(super) fn new(nodes: u64) -> Self {
        Self {
            forgotten: OnceLock::new(),
            peaks: (0..nodes.div_ceil(BLOCK * PAGE as u64))
                .map(|_| OnceLock::new())
                .collect(),
            nodes,
        }
    }

    /// Who is forgotten, as far as it is known.
    pub(super) fn forgotten(&self) -> ForgottenBits<'_> {
        let words = || self.nodes.div_ceil(PER_WORD);
        let zeros = || (0..words()).map(|_| AtomicU64::new(0)).collect();
        ForgottenBits(self.forgotten.get_or_init(zeros))
    }

    /// The peak of the events from `BLOCK` · `n` on; if it is not known, `records` gives their records.
    pub(super) fn peak<'r, R>(&self, n: u64, records: impl FnOnce() -> R) -> Result<Peak>
    where
        R: Iterator<Item = Result<RawNode<'r>>>,
    {
        let at = n as usize;
        let page = self.peaks.get(at / PAGE);
        let page = page
            .map(|page| page.get_or_init(|| Box::new(std::array::from_fn(|_| OnceLock::new()))));
        let known = page.map(|page| &page[at % PAGE]);
        if let Some(peak) = known.and_then(OnceLock::get) {
            return Ok(*peak);
        }
        let mut peak = Peak::NONE;
        for record in records() {
            peak.add(record?);
        }
        Ok(known.map_or(peak, |known| *known.get_or_init(|| peak)))
    }
}

impl ForgottenBits<'_> {
    /// Whether an event is forgotten, if that is known.
    #[inline(always)]
    pub(crate) fn has(self, id: NodeId) -> Option<bool> {
        // What is known is in the word itself; there is nothing else that must be seen before it.
        let word = self.0.get((id.0 / PER_WORD) as usize)?;
        let known = word.load(Ordering::Relaxed) >> (2 * (id.0 % PER_WORD));
        (known & 1 == 1).then_some(known & 2 == 2)
    }

    /// From now on it is known.
    pub(crate) fn set(self, id: NodeId, is_forgotten: bool) {
        if let Some(word) = self.0.get((id.0 / PER_WORD) as usize) {
            let known = 1 | u64::from(is_forgotten) << 1;
            word.fetch_or(known << (2 * (id.0 % PER_WORD)), Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::node::{LEN, NodeRecord};
    use crate::types::SessionId;

    #[test]
    fn what_is_known_of_one_event_says_nothing_of_others() {
        let summaries = SummaryCache::new(100);
        let known = summaries.forgotten();
        let said = [(0, true), (31, false), (32, true), (99, false)];
        for (id, is_forgotten) in said {
            known.set(NodeId(id), is_forgotten);
        }
        known.set(NodeId(1 << 40), true);
        for id in 0..200 {
            let right = said.iter().find(|(one, _)| *one == id);
            let found = summaries.forgotten().has(NodeId(id));
            assert_eq!(found, right.map(|(_, is_forgotten)| *is_forgotten), "{id}");
        }
    }

    fn record(id: u64) -> [u8; LEN] {
        let record = NodeRecord {
            id: NodeId(id),
            event_type: EventType(if id == 40 { 200 } else { 2 + (id % 2) as u8 }),
            flags: if id == 70 {
                Flags::PINNED
            } else {
                Flags::default()
            },
            created_at: Micros(7),
            session: SessionId(1),
            confidence: 1.0 / (id + 1) as f32,
            access_count: (id == 3).into(),
            last_accessed: Micros(1_000 + id as i64),
            decay_score: 0.5,
            content_offset: 0,
            content_len: 0,
            edge_offset: 0,
            edge_count: 0,
            lambda: if id == 5 || id == 66 { id as f32 } else { 0.0 },
        };
        record.encode()
    }

    #[test]
    fn a_peak_is_of_all_events_of_its_block_and_is_read_once() {
        let all: Vec<_> = (0..80).map(record).collect();
        let summaries = SummaryCache::new(80);
        let of = |ids: std::ops::Range<u64>| {
            let all = &all;
            ids.map(move |id| RawNode::check(&all[id as usize], NodeId(id), 0))
        };
        let first = summaries.peak(0, || of(0..64)).unwrap();
        let confidences = [0, 16, 32, 48].map(|id| 1.0 / (id + 1) as f32);
        assert_eq!(first.confidences, confidences);
        assert_eq!((first.lambda, first.access_count), (5.0, 1));
        assert_eq!(first.last_accessed, Micros(1_063));
        assert_eq!(
            first.types, 0b1101,
            "a type that nobody knows has the rate of the first"
        );
        let last = summaries.peak(1, || of(64..80)).unwrap();
        assert_eq!((last.lambda, last.is_pinned), (66.0, true));
        assert_eq!(last.confidences[1], f32::NEG_INFINITY, "nobody is there");
        assert!(first.covers(&first) && !first.covers(&last) && !last.covers(&first));

        assert_eq!(summaries.peak(0, || of(0..0)).unwrap(), first);
        let bad = summaries.peak(7, || (0..1).map(|_| RawNode::check(&all[3], NodeId(4), 0)));
        assert!(bad.is_err());
    }
}
