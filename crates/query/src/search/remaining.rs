//! The events not yet taken, by upper bound, the greatest first, without sorting all.

use std::borrow::Cow;

use crate::search::base_score::BaseScores;
use amem_format::top::ScoredEvent;
use amem_kernels::Kernels;

/// Events in the first sorted batch, and the growth of later batches.
const FIRST_BATCH: usize = 512;
const BATCH_GROWTH: usize = 8;
/// Bounds sampled to estimate how many reach a cutoff.
const SAMPLE: usize = 1024;

/// The events not yet taken. Events with bound 0 are left out.
pub(super) struct RemainingEvents<'o, 'v> {
    /// Maps positions to events if the bounds are its own; otherwise positions are ids.
    base_scores: Option<&'o BaseScores<'v>>,
    upper_bounds: Cow<'o, [f32]>,
    /// The greatest first; those before `position` were taken.
    sorted: Vec<ScoredEvent>,
    position: usize,
    /// Events with a lower bound are not sorted yet; 0 once all are.
    cutoff: f32,
    /// The approximate size of the next batch.
    batch: usize,
}

impl<'o, 'v> RemainingEvents<'o, 'v> {
    /// All events, by their base scores.
    pub(super) fn new(base_scores: &'o BaseScores<'v>) -> Self {
        Self::with(Some(base_scores), base_scores.upper_bounds())
    }

    /// All events, by other bounds.
    pub(super) fn by_bounds(bounds: Vec<f32>) -> Self {
        Self::with(None, bounds.into())
    }

    /// Only these events.
    pub(super) fn of(mut events: Vec<ScoredEvent>) -> Self {
        events.sort_unstable_by(|a, b| b.cmp(a));
        Self {
            sorted: events,
            cutoff: 0.0,
            ..Self::with(None, Vec::new().into())
        }
    }

    /// At most `count` of the events that were taken, the greatest first.
    pub(super) fn taken(&self, count: usize) -> &[ScoredEvent] {
        &self.sorted[..self.position.min(count)]
    }

    fn with(base_scores: Option<&'o BaseScores<'v>>, upper_bounds: Cow<'o, [f32]>) -> Self {
        Self {
            base_scores,
            upper_bounds,
            sorted: Vec::new(),
            position: 0,
            cutoff: f32::INFINITY,
            batch: FIRST_BATCH,
        }
    }

    /// The greatest remaining bound; `None` if no event remains.
    pub(super) fn upper_bound(&mut self) -> Option<f32> {
        while self.position == self.sorted.len() && self.cutoff > 0.0 {
            self.sort_more();
        }
        self.sorted.get(self.position).map(|next| next.score)
    }

    /// Takes the next event, with its bound.
    pub(super) fn pop(&mut self) -> Option<ScoredEvent> {
        self.upper_bound()?;
        self.position += 1;
        self.sorted.get(self.position - 1).copied()
    }

    /// The event `after` positions beyond the next one, if it is sorted.
    pub(super) fn peek_ahead(&self, after: usize) -> Option<u32> {
        self.sorted.get(self.position + after).map(|ahead| ahead.id)
    }

    /// Lowers the cutoff and sorts the events that now reach it; all of them rank below earlier ones.
    fn sort_more(&mut self) {
        let cutoff = cutoff(&self.upper_bounds, self.batch).filter(|&cutoff| cutoff < self.cutoff);
        let cutoff = cutoff.unwrap_or(0.0);
        let (above, from) = (self.cutoff, self.sorted.len());
        let (upper_bounds, sorted) = (&self.upper_bounds, &mut self.sorted);
        let base_scores = self.base_scores;
        // Events with score 0 are not hits.
        Kernels::best().reaching(upper_bounds, cutoff.max(f32::MIN_POSITIVE), &mut |at| {
            if upper_bounds[at] < above {
                sorted.push(ScoredEvent {
                    score: upper_bounds[at],
                    id: base_scores.map_or(at as u32, |base_scores| base_scores.event(at)),
                });
            }
        });
        sorted[from..].sort_unstable_by(|a, b| b.cmp(a));
        (self.cutoff, self.batch) = (cutoff, self.batch.saturating_mul(BATCH_GROWTH));
    }
}

/// A cutoff that about `wanted` events reach; `None` if that is all of them.
fn cutoff(upper_bounds: &[f32], wanted: usize) -> Option<f32> {
    let step = (upper_bounds.len() / SAMPLE).max(1);
    let mut sample: Vec<f32> = upper_bounds.iter().copied().step_by(step).collect();
    let at = wanted / step;
    if at >= sample.len() {
        return None;
    }
    let (_, cutoff, _) = sample.select_nth_unstable_by(at, |a, b| b.total_cmp(a));
    Some(*cutoff)
}
