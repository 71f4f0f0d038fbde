//! Cached summaries of records: two bits an event, bounds of strength a block.
//!
//! A graph walk needs one bit of a 72-byte record, a ranking a bound. The summaries of all events fit the processor's
//! caches, where each record would be a miss. The first reader that needs a summary reads the records and caches it. A
//! base never changes, so a summary stays valid.
//!
//! Promises: a quarter of a byte an event after the first graph walk, at most one byte in all.
//! Not here: changes in the journal. The cache starts empty with each opened base.

use super::node::RawNode;
use crate::error::Result;
use crate::sync::{AtomicU64, OnceLock, Ordering};
use crate::types::{EventType, Flags, Micros, NodeId};

/// Blocks of a page; a page is allocated on its first use.
const PAGE: usize = 512;
/// Events in a word: two bits each.
const PER_WORD: u64 = 32;
/// Events that share a peak.
pub const BLOCK: u64 = 64;
/// Parts of a block, each with its own greatest confidence.
const PARTS: usize = 4;
/// Events of a part.
pub const PART: u64 = BLOCK / PARTS as u64;

/// The cached summaries of one base.
#[derive(Debug)]
pub(super) struct SummaryCache {
    /// Two bits an event: whether the state is cached, and whether the event is forgotten.
    forgotten: OnceLock<Box<[AtomicU64]>>,
    /// One a block, in pages.
    peaks: Box<[OnceLock<PeakPage>]>,
    nodes: u64,
}

type PeakPage = Box<[OnceLock<Peak>; PAGE]>;

/// The cached "forgotten" bits.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ForgottenBits<'a>(&'a [AtomicU64]);

/// Bounds of the values that determine strength, over the events of a block.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Peak {
    /// The greatest confidence in each part of the block.
    pub confidences: [f32; PARTS],
    /// The least decay rate among events with a rate of their own.
    pub(crate) lambda: f32,
    /// The latest touch.
    pub(crate) last_accessed: Micros,
    /// The greatest number of touches.
    pub(crate) access_count: u32,
    /// True if an event does not fade.
    pub(crate) is_pinned: bool,
    /// Bit n for the n-th type; unknown types set bit 0, as they decay like the first type.
    pub(crate) types: u8,
}

impl Peak {
    /// The peak of no events.
    const NONE: Self = Self {
        confidences: [f32::NEG_INFINITY; PARTS],
        lambda: f32::INFINITY,
        last_accessed: Micros(0),
        access_count: 0,
        is_pinned: false,
        types: 0,
    };

    /// True if every bound other than confidence is at least as strong as in `other`.
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

/// The index of a type's decay rate.
pub(crate) fn of_rate(event_type: EventType) -> usize {
    if event_type.is_known() {
        usize::from(event_type.0)
    } else {
        0
    }
}

impl SummaryCache {
    /// An empty cache for `nodes` events.
    pub(super) fn new(nodes: u64) -> Self {
        Self {
            forgotten: OnceLock::new(),
            peaks: (0..nodes.div_ceil(BLOCK * PAGE as u64))
                .map(|_| OnceLock::new())
                .collect(),
            nodes,
        }
    }

    /// The bits cached so far.
    pub(super) fn forgotten(&self) -> ForgottenBits<'_> {
        let words = || self.nodes.div_ceil(PER_WORD);
        let zeros = || (0..words()).map(|_| AtomicU64::new(0)).collect();
        ForgottenBits(self.forgotten.get_or_init(zeros))
    }

    /// The peak of block `n`; on a miss, computes it from `records`.
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
    /// Whether an event is forgotten; `None` on a miss.
    #[inline(always)]
    pub(crate) fn has(self, id: NodeId) -> Option<bool> {
        // Relaxed: the word carries the answer itself and publishes no other memory.
        let word = self.0.get((id.0 / PER_WORD) as usize)?;
        let known = word.load(Ordering::Relaxed) >> (2 * (id.0 % PER_WORD));
        (known & 1 == 1).then_some(known & 2 == 2)
    }

    /// Caches the state of an event.
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
    fn the_bits_of_events_are_independent() {
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
    fn a_peak_covers_its_block_and_reads_the_records_once() {
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
            "an unknown type has the rate of the first"
        );
        let last = summaries.peak(1, || of(64..80)).unwrap();
        assert_eq!((last.lambda, last.is_pinned), (66.0, true));
        assert_eq!(
            last.confidences[1],
            f32::NEG_INFINITY,
            "no event in that part"
        );
        assert!(first.covers(&first) && !first.covers(&last) && !last.covers(&first));

        assert_eq!(summaries.peak(0, || of(0..0)).unwrap(), first);
        let bad = summaries.peak(7, || (0..1).map(|_| RawNode::check(&all[3], NodeId(4), 0)));
        assert!(bad.is_err());
    }
}
