//! The postings of one query term, base and delta as one ascending list, with their scores.

use amem_format::base::terms::{END, LengthQuarter, PostingCursor, Postings, Terms};
use amem_format::brain::ScopeList;
use amem_format::delta::DeltaTerms;
use amem_format::error::Result;

use super::terms::Member;

/// How fast repeated terms saturate, and how much long texts are discounted: the values that Robertson and Zaragoza
/// (The Probabilistic Relevance Framework, 2009) recommend without tuning. A text shorter than the mean counts as one
/// of mean length; otherwise a short exclamation would beat the sentence that it belongs to.
const K1: f64 = 1.2;
const B: f64 = 0.75;

/// A text counts as one of usual length if it is no longer than the mean, or than the shortest quarter of the texts and
/// this many terms: in conversations with an assistant the mean is that of its long answers, and every message of the
/// user would count as a short one. No constant alone would do: it takes paragraphs of other brains for long.
const SHORT_TERMS: u32 = 16;

/// The frequency of a text that has only additions of a term, at most: one with the term itself comes first.
const EXPANDED_TF_MAX: f32 = 0.9;

/// The lengths of the texts that count, and the factors that follow from their mean.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lengths<'a> {
    base: Option<Terms<'a>>,
    delta: Option<&'a DeltaTerms>,
    /// The number of texts.
    texts: f64,
    /// The constant part of the discount, and the part per term of the text.
    constant: f32,
    per_term: f32,
}

impl<'a> Lengths<'a> {
    /// The lengths of all texts below `bound`.
    pub(super) fn new(base: Option<Terms<'a>>, delta: Option<&'a DeltaTerms>, bound: u32) -> Self {
        let total = base
            .map_or(0, |b| b.total_length_below(bound))
            .saturating_add(delta.map_or(0, |d| d.total_length_below(bound)));
        let quarter = match delta.and_then(|delta| delta.quarter_below(bound)) {
            Some(quarter) => quarter,
            None => base.map_or(0, |base| base.quarter_below(bound).length()),
        };
        Self::of_texts(base, delta, f64::from(bound), (total, quarter))
    }

    /// The lengths of the texts of a scope.
    pub(super) fn within(
        base: Option<Terms<'a>>,
        delta: Option<&'a DeltaTerms>,
        scope: &ScopeList,
    ) -> Self {
        let counted = || {
            let lengths = scope.ids.iter().map(|&id| length_of(base, delta, id));
            let total = lengths.clone().map(u64::from).sum();
            (total, LengthQuarter::of(lengths).length())
        };
        let lengths = *scope.lengths.get_or_init(counted);
        Self::of_texts(base, delta, scope.ids.len() as f64, lengths)
    }

    fn of_texts(
        base: Option<Terms<'a>>,
        delta: Option<&'a DeltaTerms>,
        texts: f64,
        (total, quarter): (u64, u32),
    ) -> Self {
        // Without any term there is nothing to score; 1 keeps the numbers finite.
        let mean = match total {
            0 => 1.0,
            total => total as f64 / texts,
        };
        let mean = mean.min(f64::from(quarter.max(SHORT_TERMS)));
        Self {
            base,
            delta,
            texts,
            constant: (K1 * (1.0 - B)) as f32,
            per_term: (K1 * B / mean) as f32,
        }
    }

    /// The saturation, 0 to 1, of a term that occurs `tf` times in a text of `length` terms.
    #[inline]
    fn saturated(&self, tf: f32, length: u32) -> f32 {
        let discount = self.constant + self.per_term * length as f32;
        tf / (tf + discount.max(K1 as f32))
    }

    #[inline]
    fn of(&self, id: u32) -> u32 {
        length_of(self.base, self.delta, id)
    }
}

/// Where terms occur: below a bound, within a scope if there is one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Occurrences<'s, 'a> {
    lengths: Lengths<'a>,
    bound: u32,
    scope: Option<&'s ScopeList>,
}

impl<'s, 'a> Occurrences<'s, 'a> {
    pub(super) fn new(
        base: Option<Terms<'a>>,
        delta: Option<&'a DeltaTerms>,
        bound: u32,
        scope: Option<&'s ScopeList>,
    ) -> Self {
        let lengths = match scope {
            Some(scope) => Lengths::within(base, delta, scope),
            None => Lengths::new(base, delta, bound),
        };
        Self {
            lengths,
            bound,
            scope,
        }
    }

    /// The base's dictionary.
    pub(super) fn base(&self) -> Option<Terms<'a>> {
        self.lengths.base
    }

    /// The delta's dictionary.
    pub(super) fn delta(&self) -> Option<&'a DeltaTerms> {
        self.lengths.delta
    }

    /// The number of events that contain a term.
    pub(super) fn count(&self, term: &str) -> Result<u32> {
        if self.scope.is_some() {
            return Ok(self.all(term)?.len() as u32);
        }
        let postings = self.lengths.base.map_or(Ok(None), |base| base.find(term))?;
        let old = postings.map_or(Ok(0), |postings| postings.df_below(self.bound))?;
        Ok(old + self.recent(term).count() as u32)
    }

    /// True if an event contains a term.
    pub(super) fn has(&self, term: &str) -> Result<bool> {
        match self.scope {
            Some(_) => Ok(self.count(term)? > 0),
            None => Ok(self.recent(term).next().is_some() || self.is_in_base(term)?),
        }
    }

    fn is_in_base(&self, term: &str) -> Result<bool> {
        let postings = self.lengths.base.map_or(Ok(None), |base| base.find(term))?;
        Ok(postings.map_or(Ok(0), |postings| postings.df_below(self.bound))? > 0)
    }

    /// The events of the delta that contain a term, newest first.
    fn recent(&self, term: &str) -> impl Iterator<Item = (u32, u32)> + use<'a> {
        let bound = self.bound;
        let delta = self.lengths.delta.map(|delta| delta.postings(term, bound));
        delta.into_iter().flatten()
    }

    /// The events that contain a term, ascending, each with its frequency. With a scope, reads at most as many postings
    /// as the scope has events, and those of the delta.
    fn all(&self, term: &str) -> Result<Vec<(u32, u32)>> {
        let mut found = Vec::new();
        if let Some(postings) = self.lengths.base.map_or(Ok(None), |base| base.find(term))? {
            let mut cursor = PostingCursor::new(postings)?;
            let mut rest = self.scope.map(|scope| scope.ids.as_slice());
            while cursor.id() < self.bound {
                let Some(ids) = &mut rest else {
                    found.push((cursor.id(), cursor.tf()));
                    cursor.advance()?;
                    continue;
                };
                *ids = &ids[ids.partition_point(|&id| id < cursor.id())..];
                match ids.first() {
                    None => break,
                    Some(&id) if id == cursor.id() => {
                        found.push((id, cursor.tf()));
                        cursor.advance()?;
                    }
                    Some(&id) => cursor.seek(id)?,
                }
            }
        }
        let start = found.len();
        let is_in = |id: u32| {
            self.scope
                .is_none_or(|scope| scope.ids.binary_search(&id).is_ok())
        };
        found.extend(self.recent(term).filter(|&(id, _)| is_in(id)));
        found[start..].reverse();
        Ok(found)
    }

    /// The postings of a group as one list: frequencies add up by weight.
    fn merged(&self, group: &[Member]) -> Result<Vec<(u32, f32)>> {
        let mut all: Vec<(u32, bool, f32)> = Vec::new();
        for (term, weight) in group {
            let is_exact = *weight == 1.0;
            let postings = self.all(term)?.into_iter();
            all.extend(postings.map(|(id, tf)| (id, is_exact, weight * tf as f32)));
        }
        // Stable: the sum of an event's frequencies is the same wherever its postings are stored.
        all.sort_by_key(|&(id, ..)| id);
        let sum = |chunk: &[(u32, bool, f32)]| {
            let tf = chunk.iter().map(|&(.., tf)| tf).sum::<f32>();
            let is_exact = chunk.iter().any(|&(_, is_exact, _)| is_exact);
            (
                chunk[0].0,
                if is_exact {
                    tf
                } else {
                    tf.min(EXPANDED_TF_MAX)
                },
            )
        };
        Ok(all.chunk_by(|a, b| a.0 == b.0).map(sum).collect())
    }
}

#[inline]
fn length_of(base: Option<Terms<'_>>, delta: Option<&DeltaTerms>, id: u32) -> u32 {
    match base {
        Some(base) if id < base.events() => base.length_of(id),
        _ => delta.map_or(0, |delta| delta.length_of(id)),
    }
}

/// The postings of one term below a bound, and a position in them.
#[derive(Debug)]
pub(super) struct TermList<'a> {
    cursor: Option<PostingCursor<'a>>,
    /// What the cursor reads; `None` if all postings are listed.
    postings: Option<Postings<'a>>,
    /// Postings of the delta, or all of a scope or a group, ascending.
    listed: Vec<(u32, f32)>,
    next_listed: usize,
    bound: u32,
    lengths: Lengths<'a>,
    /// The limit of the term's score for infinitely many occurrences.
    pub(super) weight: f32,
    /// The greatest score of a posting.
    pub(super) upper_bound: f32,
    /// The current event; `END` after the last.
    pub(super) id: u32,
    tf: f32,
}

impl<'a> TermList<'a> {
    /// The events that contain a term of a group; `None` if there are none. `weight` is that of the question's term.
    pub(super) fn new(
        texts: &Occurrences<'_, 'a>,
        group: &[Member],
        weight: f32,
    ) -> Result<Option<Self>> {
        let (lengths, bound) = (texts.lengths, texts.bound);
        let [(term, _)] = group else {
            let listed = texts.merged(group)?;
            let df = listed.len() as f64;
            let list = Self::weighted(lengths, None, listed, weight, df, bound);
            return list.map(Self::started).transpose();
        };
        let frequency = |(id, tf): (u32, u32)| (id, tf as f32);
        if texts.scope.is_some() {
            let listed: Vec<_> = texts.all(term)?.into_iter().map(frequency).collect();
            let df = listed.len() as f64;
            let list = Self::weighted(lengths, None, listed, weight, df, bound);
            return list.map(Self::started).transpose();
        }
        let postings = lengths.base.map_or(Ok(None), |base| base.find(term))?;
        let mut recent: Vec<_> = texts.recent(term).map(frequency).collect();
        recent.reverse();
        let old = postings.map_or(Ok(0), |p| p.df_below(bound))?;
        let df = f64::from(old) + recent.len() as f64;
        let postings = postings.filter(|_| old > 0);
        let list = Self::weighted(lengths, postings, recent, weight, df, bound);
        list.map(Self::started).transpose()
    }

    fn weighted(
        lengths: Lengths<'a>,
        postings: Option<Postings<'a>>,
        listed: Vec<(u32, f32)>,
        weight: f32,
        df: f64,
        bound: u32,
    ) -> Option<Self> {
        if df == 0.0 {
            return None;
        }
        let texts = lengths.texts;
        // A damaged index may report more events than exist; this keeps the logarithm a number.
        let df = df.min(texts);
        let idf = (1.0 + (texts - df + 0.5) / (df + 0.5)).ln();
        let weight = (f64::from(weight) * idf * (K1 + 1.0)) as f32;
        Some(Self {
            cursor: None,
            postings,
            listed,
            next_listed: 0,
            bound,
            lengths,
            weight,
            upper_bound: 0.0,
            id: 0,
            tf: 0.0,
        })
    }

    fn started(mut self) -> Result<Self> {
        self.upper_bound = self.upper_bound_of_all();
        self.rewind()?;
        Ok(self)
    }

    /// Moves back to the first event.
    pub(super) fn rewind(&mut self) -> Result<()> {
        self.cursor = self.postings.map(PostingCursor::new).transpose()?;
        self.next_listed = 0;
        self.settle();
        Ok(())
    }

    /// The term's part of the current event's score.
    #[inline]
    pub(super) fn score(&self) -> f32 {
        self.weight * self.lengths.saturated(self.tf, self.lengths.of(self.id))
    }

    #[inline]
    pub(super) fn advance(&mut self) -> Result<()> {
        match &mut self.cursor {
            Some(cursor) => cursor.advance()?,
            None => self.next_listed += 1,
        }
        self.settle();
        Ok(())
    }

    /// Moves forward to the first event at or after `id` that contains the term.
    #[inline]
    pub(super) fn seek(&mut self, id: u32) -> Result<()> {
        if self.id >= id {
            return Ok(());
        }
        if let Some(cursor) = &mut self.cursor {
            cursor.seek(id)?;
            self.settle();
        }
        if self.cursor.is_none() {
            let rest = self.listed.get(self.next_listed..).unwrap_or(&[]);
            self.next_listed += rest.partition_point(|&(at, _)| at < id);
            self.settle();
        }
        Ok(())
    }

    /// Reads the current posting; continues with the delta at the end of the base.
    #[inline]
    fn settle(&mut self) {
        if let Some(cursor) = &self.cursor {
            if cursor.id() < self.bound {
                (self.id, self.tf) = (cursor.id(), cursor.tf() as f32);
                return;
            }
            self.cursor = None;
        }
        (self.id, self.tf) = match self.listed.get(self.next_listed) {
            Some(&posting) => posting,
            None => (END, 0.0),
        };
    }

    fn upper_bound_of_all(&self) -> f32 {
        let old = self.postings.into_iter().flat_map(|p| {
            (0..p.blocks()).map(move |at| {
                let block = p.block(at);
                (f32::from(block.max_tf), u32::from(block.min_length))
            })
        });
        let listed = self
            .listed
            .iter()
            .map(|&(id, tf)| (tf, self.lengths.of(id)));
        let upper_bound =
            |upper_bound: f32, (tf, length)| upper_bound.max(self.lengths.saturated(tf, length));
        self.weight * old.chain(listed).fold(0.0, upper_bound)
    }
}
