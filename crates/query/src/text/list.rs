//! The postings of one query term, base and delta as one ascending list, with their scores.

use amem_format::base::terms::{END, PostingCursor, Postings, Terms};
use amem_format::delta::DeltaTerms;
use amem_format::error::Result;

/// How fast repeated terms saturate, and how much long texts are discounted: the values that Robertson and Zaragoza
/// (The Probabilistic Relevance Framework, 2009) recommend without tuning. A text shorter than the mean counts as one
/// of mean length; otherwise a short exclamation would beat the sentence that it belongs to.
const K1: f64 = 1.2;
const B: f64 = 0.75;

/// The lengths of the texts below a bound, and the factors that follow from their mean.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lengths<'a> {
    base: Option<Terms<'a>>,
    delta: Option<&'a DeltaTerms>,
    /// The constant part of the discount, and the part per term of the text.
    constant: f32,
    per_term: f32,
}

impl<'a> Lengths<'a> {
    pub(super) fn new(base: Option<Terms<'a>>, delta: Option<&'a DeltaTerms>, bound: u32) -> Self {
        let total = base
            .map_or(0, |b| b.total_length_below(bound))
            .saturating_add(delta.map_or(0, |d| d.total_length_below(bound)));
        // Without any term there is nothing to score; 1 keeps the numbers finite.
        let mean = match total {
            0 => 1.0,
            total => total as f64 / f64::from(bound),
        };
        Self {
            base,
            delta,
            constant: (K1 * (1.0 - B)) as f32,
            per_term: (K1 * B / mean) as f32,
        }
    }

    /// The saturation, 0 to 1, of a term that occurs `tf` times in a text of `length` terms.
    #[inline]
    fn saturated(&self, tf: u32, length: u32) -> f32 {
        let tf = tf as f32;
        let discount = self.constant + self.per_term * length as f32;
        tf / (tf + discount.max(K1 as f32))
    }

    #[inline]
    fn of(&self, id: u32) -> u32 {
        match self.base {
            Some(base) if id < base.events() => base.length_of(id),
            _ => self.delta.map_or(0, |delta| delta.length_of(id)),
        }
    }
}

/// The postings of one term below a bound, and a position in them.
#[derive(Debug)]
pub(super) struct TermList<'a> {
    cursor: Option<PostingCursor<'a>>,
    /// Postings of the delta, ascending.
    recent: Vec<(u32, u32)>,
    next_recent: usize,
    bound: u32,
    lengths: Lengths<'a>,
    /// The limit of the term's score for infinitely many occurrences.
    pub(super) weight: f32,
    /// The greatest score of a posting.
    pub(super) upper_bound: f32,
    /// The current event; `END` after the last.
    pub(super) id: u32,
    tf: u32,
}

impl<'a> TermList<'a> {
    /// The events below `bound` that contain `term`; `None` if there are none. `times` is its count in the question.
    pub(super) fn new(
        lengths: Lengths<'a>,
        term: &str,
        times: u32,
        bound: u32,
    ) -> Result<Option<Self>> {
        let postings = match lengths.base {
            Some(base) => base.find(term)?,
            None => None,
        };
        let mut recent: Vec<_> = lengths
            .delta
            .map(|delta| delta.postings(term, bound).collect())
            .unwrap_or_default();
        recent.reverse();
        let old = postings.map_or(Ok(0), |p| p.df_below(bound))?;
        let df = f64::from(old) + recent.len() as f64;
        if df == 0.0 {
            return Ok(None);
        }
        let events = f64::from(bound);
        // A damaged index may report more events than exist; this keeps the logarithm a number.
        let df = df.min(events);
        let idf = (1.0 + (events - df + 0.5) / (df + 0.5)).ln();
        let weight = (f64::from(times) * idf * (K1 + 1.0)) as f32;
        let mut list = Self {
            cursor: postings
                .filter(|_| old > 0)
                .map(PostingCursor::new)
                .transpose()?,
            recent,
            next_recent: 0,
            bound,
            lengths,
            weight,
            upper_bound: 0.0,
            id: 0,
            tf: 0,
        };
        list.upper_bound = list.upper_bound_of_all(postings);
        list.settle();
        Ok(Some(list))
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
            None => self.next_recent += 1,
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
            let rest = self.recent.get(self.next_recent..).unwrap_or(&[]);
            self.next_recent += rest.partition_point(|&(at, _)| at < id);
            self.settle();
        }
        Ok(())
    }

    /// Reads the current posting; continues with the delta at the end of the base.
    #[inline]
    fn settle(&mut self) {
        if let Some(cursor) = &self.cursor {
            if cursor.id() < self.bound {
                (self.id, self.tf) = (cursor.id(), cursor.tf());
                return;
            }
            self.cursor = None;
        }
        (self.id, self.tf) = match self.recent.get(self.next_recent) {
            Some(&posting) => posting,
            None => (END, 0),
        };
    }

    fn upper_bound_of_all(&self, postings: Option<Postings<'_>>) -> f32 {
        let old = postings.into_iter().flat_map(|p| {
            (0..p.blocks()).map(move |at| {
                let block = p.block(at);
                (u32::from(block.max_tf), u32::from(block.min_length))
            })
        });
        let recent = self
            .recent
            .iter()
            .map(|&(id, tf)| (tf, self.lengths.of(id)));
        let upper_bound =
            |upper_bound: f32, (tf, length)| upper_bound.max(self.lengths.saturated(tf, length));
        self.weight * old.chain(recent).fold(0.0, upper_bound)
    }
}
