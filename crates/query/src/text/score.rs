//! BM25 scores over base and delta.
//!
//! The score of an event is the sum over the question's terms, in the order of their bytes, of
//! `weight · idf · tf · (k1 + 1) / (tf + k1 · max(1, 1 − b + b · length / usual length))`,
//! where `idf` is `ln(1 + (N − df + ½) / (df + ½))`, the usual length is `min(mean, max(16, quarter))` with the length
//! that a quarter of the texts do not exceed, and N, df, mean and quarter are those of the events below the bound, or
//! of the scope among them (Robertson and Zaragoza, The Probabilistic Relevance Framework, 2009; the ½ and 1 as in
//! Lucene).
//!
//! Promises: scores are equal to the bit wherever an event's postings are stored; `search` returns what sorting all of
//! `scores` would return. Hidden events count in the statistics and are not returned.
//! Not here: which events are hidden, and other parts of a score (`search`).

use std::sync::Arc;

use super::expand::{self, ExpandedTerm};
use super::list::{BACKGROUND_TEXTS, Lengths, Occurrences, TermList};
use super::requests::is_request;
use super::terms::{QueryTerm, TextQuery};
use amem_format::analyzer::ANALYZER_VERSION;
use amem_format::base::terms::{END, Terms};
use amem_format::brain::ScopeList;
use amem_format::delta::DeltaTerms;
use amem_format::error::Result;
use amem_format::top::{ScoredEvent, Top};
use amem_format::view::View;

/// Maximum terms of a question; of more, the heaviest count. One bit of an u128 stands for each.
pub const QUERY_TERMS_MAX: usize = 128;

/// Events per window in which scores are summed.
const WINDOW: usize = 4096;
/// Covers the rounding of a bound, which adds in another order than the score.
const ROUNDING: f32 = 1.0 + 1e-4;

/// The searched texts: those of the events below a bound, or of a scope among them.
#[derive(Debug, Clone)]
pub struct Texts<'a> {
    base: Option<Terms<'a>>,
    delta: Option<&'a DeltaTerms>,
    bound: u32,
    /// The version of the analyzer that made the indexes.
    version: u32,
    scope: Option<Arc<ScopeList>>,
}

/// Every event that contains a term of the question.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Scores {
    /// Ids, ascending, each with its positive score.
    pub events: Vec<(u32, f32)>,
    /// The greatest score; 0 if no event scores.
    pub max: f32,
}

impl Scores {
    /// The score of an event; 0 if it contains no term.
    pub fn of(&self, id: u32) -> f32 {
        self.events
            .binary_search_by_key(&id, |e| e.0)
            .map_or(0.0, |at| self.events[at].1)
    }
}

impl<'a> Texts<'a> {
    /// The texts of a view at its moment, of a scope's events only if there is one: then what other scopes store
    /// changes no score.
    pub fn of(view: &'a View, scope: Option<Arc<ScopeList>>) -> Result<Self> {
        let (base, delta) = view.terms()?;
        // `limits::NODES_MAX` bounds the number of events.
        let all = Self::new(base, Some(delta), view.nodes() as u32);
        Ok(Self { scope, ..all })
    }

    /// The texts of the events below `bound`. The delta starts where the base ends, at 0 without a base.
    pub fn new(base: Option<Terms<'a>>, delta: Option<&'a DeltaTerms>, bound: u32) -> Self {
        let events = base.map_or(0, |b| b.events());
        debug_assert!(delta.is_none_or(|d| d.first() == events));
        debug_assert!(bound <= delta.map_or(events, |d| d.end()));
        Self {
            base,
            delta,
            bound,
            version: base.map_or(ANALYZER_VERSION, |base| base.version()),
            scope: None,
        }
    }

    /// The best events for `query`, the best first, of equals the newest first, without those for which `skip` is true.
    pub fn search(
        &self,
        query: &TextQuery,
        limit: usize,
        skip: impl FnMut(u32) -> bool,
    ) -> Result<Vec<(u32, f32)>> {
        self.find(query)?.search(limit, skip)
    }

    /// The scores of all events that contain a term of `query`, without those for which `skip` is true.
    pub fn scores(&self, query: &TextQuery, skip: impl FnMut(u32) -> bool) -> Result<Scores> {
        self.find(query)?.scores(skip)
    }

    /// The postings of a question's terms.
    pub(crate) fn find(&self, query: &TextQuery) -> Result<FoundTerms<'a>> {
        let query = query.for_version(self.version);
        let texts = Occurrences::new(self.base, self.delta, self.bound, self.scope.as_deref());
        let mut lists = Vec::new();
        let lengths = texts.lengths();
        let unknown = lengths.rarity(0.0, BACKGROUND_TEXTS) as f32;
        let has_words = query.terms().any(|term| !term.is_support);
        let (mut asked, mut known, mut parts) = (0.0, 0.0, Vec::new());
        for term in weightiest(&texts, &query, self.bound)? {
            let group = match query.is_expanded() {
                true => expand::group(&texts, term, query.language())?,
                false => ExpandedTerm::exact(term),
            };
            let list = TermList::new(&texts, &group.members, term.weight)?;
            let rarity = list.as_ref().map_or(unknown, |list| list.rarity);
            let counts = !term.is_support && !is_request(&term.term);
            if counts {
                asked += rarity;
            }
            if let Some(list) = list {
                let rarity = if counts { rarity } else { 0.0 };
                known += if group.is_guess { GUESS_SHARE } else { 1.0 } * rarity;
                let expanded = match group.is_guess {
                    true => GUESS_SHARE,
                    false => EXPANDED_SHARE,
                };
                parts.push((rarity, expanded * rarity));
                lists.push(list);
            }
        }
        Ok(FoundTerms {
            has_words,
            known,
            asked,
            lengths,
            parts,
            lists,
        })
    }
}

/// The terms of a question that are looked for: of a long one those that weigh most as they are written, before other
/// forms of them are read.
fn weightiest<'q>(
    texts: &Occurrences<'_, '_>,
    query: &'q TextQuery,
    events: u32,
) -> Result<Vec<&'q QueryTerm>> {
    let terms: Vec<&QueryTerm> = query.terms().collect();
    if terms.len() <= QUERY_TERMS_MAX {
        return Ok(terms);
    }
    let mut weights = Vec::with_capacity(terms.len());
    for term in &terms {
        let mut count = 0;
        for spelling in std::iter::once(&term.term).chain(&term.spellings) {
            count += texts.count(spelling)?;
        }
        let rarity = match count {
            0 => 0.0,
            count => ((f64::from(events) + 1.0) / (f64::from(count) + 0.5))
                .ln()
                .max(0.0),
        };
        weights.push(f64::from(term.weight) * rarity);
    }
    let mut order: Vec<usize> = (0..terms.len()).collect();
    order.sort_by(|&a, &b| weights[b].total_cmp(&weights[a]));
    order.truncate(QUERY_TERMS_MAX);
    order.sort_unstable();
    Ok(order.into_iter().map(|at| terms[at]).collect())
}

/// The part of its rarity that a word counts of which a text has another form, and a word that no text has where it
/// has one of another spelling.
const EXPANDED_SHARE: f32 = 0.8;
const GUESS_SHARE: f32 = 0.7;

/// The terms of a question that the searched texts contain.
#[derive(Debug)]
pub(crate) struct FoundTerms<'a> {
    /// In the order of the terms.
    lists: Vec<TermList<'a>>,
    /// What each list counts in a relevance, in nats: as it was asked, and as another form.
    parts: Vec<(f32, f32)>,
    has_words: bool,
    /// The rarities of the question's words, found or not, without words of requests.
    asked: f32,
    /// Those of the found ones.
    known: f32,
    lengths: Lengths<'a>,
}

/// Which of the found terms a text contains, one bit each.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct ContainedTerms {
    /// As they were asked.
    exact: u128,
    /// In any form.
    any: u128,
}

impl ContainedTerms {
    /// Adds what another text contains.
    pub(crate) fn add(&mut self, other: Self) {
        self.exact |= other.exact;
        self.any |= other.any;
    }
}

impl FoundTerms<'_> {
    /// True if the question has words, found or not.
    pub(crate) fn has_words(&self) -> bool {
        self.has_words
    }

    /// The number of texts.
    pub(crate) fn texts(&self) -> f32 {
        self.lengths.texts() as f32
    }

    /// The terms of a text.
    pub(crate) fn length_of(&self, id: u32) -> u32 {
        self.lengths.of(id)
    }

    /// The share of the question's words that any text has, by their rarity.
    pub(crate) fn known(&self) -> f32 {
        self.share_of(self.known)
    }

    /// The rarities of the words that are contained, in nats, and their share of the question.
    pub(crate) fn matched(&self, contained: ContainedTerms) -> (f32, f32) {
        let has = |bits: u128, at: usize| bits >> at & 1 == 1;
        let parts = self.parts.iter().enumerate();
        let nats = parts
            .map(|(at, (exact, expanded))| match has(contained.any, at) {
                true if has(contained.exact, at) => *exact,
                true => *expanded,
                false => 0.0,
            })
            .sum();
        (nats, self.share_of(nats))
    }

    fn share_of(&self, nats: f32) -> f32 {
        if self.asked > 0.0 {
            nats / self.asked
        } else {
            0.0
        }
    }

    /// Which words each of the events contains. `ids` ascend.
    pub(crate) fn contained(&mut self, ids: &[u32]) -> Result<Vec<ContainedTerms>> {
        let mut contained = vec![ContainedTerms::default(); ids.len()];
        for (at, (list, parts)) in self.lists.iter_mut().zip(&self.parts).enumerate() {
            if parts.0 == 0.0 {
                continue;
            }
            list.rewind()?;
            for (terms, &id) in contained.iter_mut().zip(ids) {
                list.seek(id)?;
                if list.id == id {
                    terms.any |= 1 << at;
                    terms.exact |= u128::from(list.is_exact()) << at;
                }
            }
        }
        Ok(contained)
    }

    /// The best events, the best first, of equals the newest first, without those for which `skip` is true.
    pub(crate) fn search(
        &mut self,
        limit: usize,
        mut skip: impl FnMut(u32) -> bool,
    ) -> Result<Vec<(u32, f32)>> {
        let lists = &mut self.lists;
        let mut top = Top::new(limit);
        if limit == 0 {
            return Ok(Vec::new());
        }
        // MaxScore (Turtle and Flood, 1995): skips events whose terms add up to less than the threshold.
        let mut by_bound: Vec<usize> = (0..lists.len()).collect();
        by_bound.sort_by(|&a, &b| lists[a].upper_bound.total_cmp(&lists[b].upper_bound));
        let bound_below = sums_of_bounds(lists, &by_bound);
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
                let scored = ScoredEvent { score, id };
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

    /// The scores of those of some events, ids ascending, that contain a term, as `scores` computes them.
    pub(crate) fn scores_of(
        &mut self,
        ids: &[u32],
        mut skip: impl FnMut(u32) -> bool,
    ) -> Result<Scores> {
        let mut sums = vec![(0.0f32, false); ids.len()];
        for list in &mut self.lists {
            list.rewind()?;
            for (sum, &id) in sums.iter_mut().zip(ids) {
                list.seek(id)?;
                if list.id == id {
                    *sum = (sum.0 + list.score(), true);
                }
            }
        }
        let mut out = Scores::default();
        for (&id, (score, is_found)) in ids.iter().zip(sums) {
            if is_found && !skip(id) {
                out.events.push((id, score));
                out.max = out.max.max(score);
            }
        }
        Ok(out)
    }

    /// The scores of all events that contain a term, without those for which `skip` is true.
    pub(crate) fn scores(&mut self, mut skip: impl FnMut(u32) -> bool) -> Result<Scores> {
        let lists = &mut self.lists;
        let mut out = Scores::default();
        let mut sums = vec![0.0f32; WINDOW];
        let mut said = [0u64; WINDOW / 64];
        loop {
            let start = lists.iter().map(|list| list.id).min().unwrap_or(END);
            if start == END {
                return Ok(out);
            }
            for list in lists.iter_mut() {
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
}

/// For each position in the order, the sum of the upper bounds up to it.
fn sums_of_bounds(lists: &[TermList<'_>], order: &[usize]) -> Vec<f32> {
    let sum = |sum: &mut f32, &i: &usize| {
        *sum += lists[i].upper_bound;
        Some(*sum)
    };
    order.iter().scan(0.0, sum).collect()
}
