//! Events by bounds of what they have of their own, the greatest first, without sorting all.

use std::collections::BinaryHeap;

use super::own::Own;
use crate::simd::Kernels;
use crate::text::Scored;

/// Events that are taken into the heap at first, and how many times as many next.
const FIRST: usize = 512;
const MORE: usize = 8;
/// Bounds that are looked at to guess how many reach one.
const SAMPLE: usize = 1024;

/// The events that were not given yet. Those with nothing are left out.
pub(super) struct Rest<'o, 'v> {
    own: &'o Own<'v>,
    heap: BinaryHeap<Scored>,
    /// Events whose bound does not reach this are not in the heap; none are if it is 0.
    cut: f32,
    /// About as many are to be taken in next.
    next: usize,
}

impl<'o, 'v> Rest<'o, 'v> {
    /// All events.
    pub(super) fn new(own: &'o Own<'v>) -> Self {
        let mut rest = Self {
            own,
            heap: BinaryHeap::new(),
            cut: f32::INFINITY,
            next: FIRST,
        };
        if own.uppers().is_none() {
            let said = own.said().filter(|&(_, score)| score > 0.0);
            rest.heap = said.map(|(id, score)| Scored { score, id }).collect();
            rest.cut = 0.0;
        }
        rest
    }

    /// No event that is left has more than this; `None` if none is left.
    pub(super) fn most(&mut self) -> Option<f32> {
        loop {
            let first = self.heap.peek().map(|first| first.score);
            // Below the cut it would come before others that are not in the heap.
            if self.cut == 0.0 || first.is_some_and(|first| first >= self.cut) {
                return first;
            }
            self.take_in();
        }
    }

    /// The next event, and a bound of what it has.
    pub(super) fn pop(&mut self) -> Option<Scored> {
        self.most()?;
        self.heap.pop()
    }

    /// Lowers the cut, and takes in the events that reach it now.
    fn take_in(&mut self) {
        let uppers = self.own.uppers().unwrap_or_default();
        let cut = cut(uppers, self.next).filter(|&cut| cut < self.cut);
        let cut = cut.unwrap_or(0.0);
        let (above, mut found) = (self.cut, Vec::new());
        // Events with nothing are not to be found.
        Kernels::best().reaching(uppers, cut.max(f32::MIN_POSITIVE), &mut |at| {
            if uppers[at] < above {
                found.push(Scored {
                    score: uppers[at],
                    id: at as u32,
                });
            }
        });
        self.heap.extend(found);
        (self.cut, self.next) = (cut, self.next.saturating_mul(MORE));
    }
}

/// A bound that about so many events reach; `None` if that is all of them.
fn cut(uppers: &[f32], wanted: usize) -> Option<f32> {
    let step = (uppers.len() / SAMPLE).max(1);
    let mut sample: Vec<f32> = uppers.iter().copied().step_by(step).collect();
    let at = wanted / step;
    if at >= sample.len() {
        return None;
    }
    let (_, cut, _) = sample.select_nth_unstable_by(at, |a, b| b.total_cmp(a));
    Some(*cut)
}
