//! How well events answer a question: BM25 over base and delta.
//!
//! The score of an event is the sum over the question's terms, in the order of their bytes, of
//! `times · idf · tf · (k1 + 1) / (tf + k1 · max(1, 1 − b + b · length / mean length))`, where `idf` is
//! `ln(1 + (N − df + ½) / (df + ½))` and N, df and the mean are those of the events below the bound
//! (Robertson and Zaragoza, The Probabilistic Relevance Framework, 2009; the ½ and 1 as in Lucene).
//!
//! Promises: the same scores, to the bit, wherever an event's postings stand; `search` gives what
//! sorting all of `scores` would give. Hidden events count in the statistics and are not answered.
//! Not here: which events are hidden, and what else speaks for an event (`query`).

use super::list::{Lengths, TermList};
use super::terms::TextQuery;
use amem_format::base::terms::{END, Terms};
use amem_format::delta::DeltaTerms;
use amem_format::error::Result;
use amem_format::top::{Scored, Top};
use amem_format::view::View;

/// Terms of a question that are looked for; of more, those that weigh most.
pub const QUERY_TERMS_MAX: usize = 128;

/// Events whose scores are added up at a time.
const WINDOW: usize = 4096;
/// A bound is a sum in another order than the score it bounds: this much more covers the rounding.
const ROUNDING: f32 = 1.0 + 1e-4;

/// The texts that are searched: those of the events below a bound.
#[derive(Debug, Clone, Copy)]
pub struct Texts<'a> {
    base: Option<Terms<'a>>,
    delta: Option<&'a DeltaTerms>,
    bound: u32,
}

/// Every event that says a term of the question.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Scores {
    /// Ids ascending, each with its score, which is positive.
    pub events: Vec<(u32, f32)>,
    /// The greatest score; 0 if there is none.
    pub max: f32,
}

impl Scores {
    /// The score of an event; 0 if it says no term of the question.
    pub fn of(&self, id: u32) -> f32 {
        self.events
            .binary_search_by_key(&id, |e| e.0)
            .map_or(0.0, |at| self.events[at].1)
    }
}

impl<'a> Texts<'a> {
    /// The texts of the moment that a view is of.
    pub fn of(view: &'a View) -> Result<Self> {
        let (base, delta) = view.terms()?;
        // The number of events is bounded by `limits::NODES_MAX`.
        Ok(Self::new(base, Some(delta), view.nodes() as u32))
    }

    /// The texts of the events below `bound`. The delta starts where the base ends (at 0 without a
    /// base) and covers what the base does not.
    pub fn new(base: Option<Terms<'a>>, delta: Option<&'a DeltaTerms>, bound: u32) -> Self {
        let events = base.map_or(0, |b| b.events());
        debug_assert!(delta.is_none_or(|d| d.first() == events));
        debug_assert!(bound <= delta.map_or(events, |d| d.end()));
        Self { base, delta, bound }
    }

    /// The events that answer `query` best, best first, of equals the newest first; not those for
    /// which `skip` is true.
    pub fn search(
        &self,
        query: &TextQuery,
        limit: usize,
        mut skip: impl FnMut(u32) -> bool,
    ) -> Result<Vec<(u32, f32)>> {
        let mut lists = self.lists(query)?;
        let mut top = Top::new(limit);
        if limit == 0 {
            return Ok(Vec::new());
        }
        // MaxScore (Turtle and Flood, 1995): an event that only says terms which together add less
        // than the threshold is never looked at.
        let mut by_bound: Vec<usize> = (0..lists.len()).collect();
        by_bound.sort_by(|&a, &b| lists[a].upper_bound.total_cmp(&lists[b].upper_bound));
        let bound_below = sums_of_bounds(&lists, &by_bound);
        let mut parts = vec![0.0f32; lists.len()];
        let mut optional = 0;
        loop {
            let needed = &by_bound[optional..];
            let id = needed.iter().map(|&i| lists[i].id).min().unwrap_or(END);
            if id == END {
                break;
            }
            let threshold = top.threshold();
            let mut sum = 0.0;
            for &i in needed {
                if lists[i].id == id {
                    parts[i] = lists[i].score();
                    sum += parts[i];
                    lists[i].advance()?;
                }
            }
            let mut hopeless = false;
            for at in (0..optional).rev() {
                hopeless = (sum + bound_below[at]) * ROUNDING < threshold;
                if hopeless {
                    break;
                }
                let list = &mut lists[by_bound[at]];
                list.seek(id)?;
                if list.id == id {
                    parts[by_bound[at]] = list.score();
                    sum += parts[by_bound[at]];
                }
            }
            if !hopeless {
                let score = parts.iter().fold(0.0, |sum, part| sum + part);
                let scored = Scored { score, id };
                if top.takes(scored) && !skip(id) {
                    top.push(scored);
                    let threshold = top.threshold();
                    let is_optional = |&bound: &f32| bound * ROUNDING < threshold;
                    optional = bound_below.iter().take_while(|&m| is_optional(m)).count();
                }
            }
            parts.fill(0.0);
        }
        Ok(top.into_sorted().collect())
    }

    /// The scores of all events that say a term of `query`, but those for which `skip` is true.
    pub fn scores(&self, query: &TextQuery, mut skip: impl FnMut(u32) -> bool) -> Result<Scores> {
        let mut lists = self.lists(query)?;
        let mut out = Scores::default();
        let mut sums = vec![0.0f32; WINDOW];
        let mut said = [0u64; WINDOW / 64];
        loop {
            let start = lists.iter().map(|list| list.id).min().unwrap_or(END);
            if start == END {
                return Ok(out);
            }
            for list in &mut lists {
                while list.id != END && ((list.id - start) as usize) < WINDOW {
                    let at = (list.id - start) as usize;
                    sums[at] += list.score();
                    said[at / 64] |= 1 << (at % 64);
                    list.advance()?;
                }
            }
            for (word, bits) in said.iter_mut().enumerate() {
                while *bits != 0 {
                    let at = word * 64 + bits.trailing_zeros() as usize;
                    *bits &= *bits - 1;
                    let (id, score) = (start + at as u32, std::mem::take(&mut sums[at]));
                    if !skip(id) {
                        out.events.push((id, score));
                        out.max = out.max.max(score);
                    }
                }
            }
        }
    }

    /// The postings of the question's terms, in the order of the terms.
    fn lists(&self, query: &TextQuery) -> Result<Vec<TermList<'a>>> {
        let lengths = Lengths::new(self.base, self.delta, self.bound);
        let mut lists = Vec::new();
        for (term, times) in query.terms() {
            lists.extend(TermList::new(lengths, term, times, self.bound)?);
        }
        if lists.len() > QUERY_TERMS_MAX {
            let mut order: Vec<usize> = (0..lists.len()).collect();
            order.sort_by(|&a, &b| lists[b].weight.total_cmp(&lists[a].weight));
            order.truncate(QUERY_TERMS_MAX);
            let mut at = 0..;
            lists.retain(|_| at.next().is_some_and(|at| order.contains(&at)));
        }
        Ok(lists)
    }
}

/// For each place in the order, the most that the lists up to it can add together.
fn sums_of_bounds(lists: &[TermList<'_>], order: &[usize]) -> Vec<f32> {
    let sum = |sum: &mut f32, &i: &usize| {
        *sum += lists[i].upper_bound;
        Some(*sum)
    };
    order.iter().scan(0.0, sum).collect()
}
