//! Events by bounds of what they have, the greatest first, without sorting all.

use std::borrow::Cow;

use crate::search::base_score::BaseScores;
use amem_format::simd::Kernels;
use amem_format::top::Scored;

/// Events that are sorted at first, and how many times as many next.
const FIRST: usize = 512;
const MORE: usize = 8;
/// Bounds that are looked at to guess how many reach one.
const SAMPLE: usize = 1024;

/// The events that were not given yet. Those with nothing are left out.
pub(super) struct RemainingEvents<'o, 'v> {
    /// By whom events are told if `uppers` are of those that say a word, in the order of that; all by id otherwise.
    said: Option<&'o BaseScores<'v>>,
    uppers: Cow<'o, [f32]>,
    /// In order, the greatest first; those before `at` were given.
    sorted: Vec<Scored>,
    at: usize,
    /// Events whose bound does not reach this were not sorted; all were if it is 0.
    cut: f32,
    /// About as many are to be sorted next.
    next: usize,
}

impl<'o, 'v> RemainingEvents<'o, 'v> {
    /// All events, by what they have of their own.
    pub(super) fn new(own: &'o BaseScores<'v>) -> Self {
        match own.uppers() {
            Some(uppers) => Self::by(None, Cow::Borrowed(uppers)),
            None => Self::by(Some(own), own.said().map(|(_, text)| text).collect()),
        }
    }

    /// All events, by bounds of something else.
    pub(super) fn of(bounds: Vec<f32>) -> Self {
        Self::by(None, bounds.into())
    }

    fn by(said: Option<&'o BaseScores<'v>>, uppers: Cow<'o, [f32]>) -> Self {
        Self {
            said,
            uppers,
            sorted: Vec::new(),
            at: 0,
            cut: f32::INFINITY,
            next: FIRST,
        }
    }

    /// No event that is left has more than this; `None` if none is left.
    pub(super) fn most(&mut self) -> Option<f32> {
        while self.at == self.sorted.len() && self.cut > 0.0 {
            self.sort_more();
        }
        self.sorted.get(self.at).map(|next| next.score)
    }

    /// The next event, and a bound of what it has.
    pub(super) fn pop(&mut self) -> Option<Scored> {
        self.most()?;
        self.at += 1;
        self.sorted.get(self.at - 1).copied()
    }

    /// The event that comes so many after the next, if that is known.
    pub(super) fn coming(&self, after: usize) -> Option<u32> {
        self.sorted.get(self.at + after).map(|coming| coming.id)
    }

    /// Lowers the cut, and sorts the events that reach it now: all of them come after those before.
    fn sort_more(&mut self) {
        let cut = cut(&self.uppers, self.next).filter(|&cut| cut < self.cut);
        let cut = cut.unwrap_or(0.0);
        let (above, from) = (self.cut, self.sorted.len());
        let (uppers, sorted) = (&self.uppers, &mut self.sorted);
        let said = self.said;
        // Events with nothing are not to be found.
        Kernels::best().reaching(uppers, cut.max(f32::MIN_POSITIVE), &mut |at| {
            if uppers[at] < above {
                sorted.push(Scored {
                    score: uppers[at],
                    id: said.map_or(at as u32, |own| own.said_at(at)),
                });
            }
        });
        sorted[from..].sort_unstable_by(|a, b| b.cmp(a));
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
