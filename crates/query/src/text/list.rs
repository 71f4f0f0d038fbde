//! The postings of one term of a question, base and delta as one ascending list, and what each is worth.

use amem_format::base::terms::{Cursor, END, Postings, Terms};
use amem_format::delta::DeltaTerms;
use amem_format::error::Result;

/// How fast a repeated word saturates, and how much a long text is discounted: the values that
/// Robertson and Zaragoza (The Probabilistic Relevance Framework, 2009) recommend without tuning. A text shorter than
/// the mean is discounted as one of the mean: that little else was said speaks for no answer, and a short exclamation
/// would win over the sentence that it belongs to.
const K1: f64 = 1.2;
const B: f64 = 0.75;

/// The lengths of the texts below a bound, and what follows from their mean.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lengths<'a> {
    base: Option<Terms<'a>>,
    delta: Option<&'a DeltaTerms>,
    /// The part of the saturation that every text has, and the part for each of its terms.
    constant: f32,
    per_term: f32,
}

impl<'a> Lengths<'a> {
    pub(super) fn new(base: Option<Terms<'a>>, delta: Option<&'a DeltaTerms>, bound: u32) -> Self {
        let total = base
            .map_or(0, |b| b.total_length_below(bound))
            .saturating_add(delta.map_or(0, |d| d.total_length_below(bound)));
        // Where no text has a term there is nothing to score; 1 keeps the numbers finite.
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

    /// Between 0 and 1: a term said `tf` times in a text of `length` terms.
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

/// The postings of one term below a bound, and a place in them.
#[derive(Debug)]
pub(super) struct TermList<'a> {
    cursor: Option<Cursor<'a>>,
    /// Postings of the delta, ascending.
    recent: Vec<(u32, u32)>,
    next_recent: usize,
    bound: u32,
    lengths: Lengths<'a>,
    /// What a term said without end in an empty text would add.
    pub(super) weight: f32,
    /// No posting adds more than this.
    pub(super) upper_bound: f32,
    /// The event it stands at; `END` after the last.
    pub(super) id: u32,
    tf: u32,
}

impl<'a> TermList<'a> {
    /// The events below `bound` that say `term`; `None` if there are none. `times` is how often the
    /// question says it.
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
        // A damaged index may claim more events than there are; the logarithm stays a number.
        let df = df.min(events);
        let idf = (1.0 + (events - df + 0.5) / (df + 0.5)).ln();
        let weight = (f64::from(times) * idf * (K1 + 1.0)) as f32;
        let mut list = Self {
            cursor: postings.filter(|_| old > 0).map(Cursor::new).transpose()?,
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

    /// What the term adds to the score of the event it stands at.
    #[inline]
    pub(super) fn score(&self) -> f32 {
        self.weight * self.lengths.saturated(self.tf, self.lengths.of(self.id))
    }

    /// Steps to the next event.
    #[inline]
    pub(super) fn advance(&mut self) -> Result<()> {
        match &mut self.cursor {
            Some(cursor) => cursor.advance()?,
            None => self.next_recent += 1,
        }
        self.settle();
        Ok(())
    }

    /// Goes forward to `id` or the first event after it that says the term.
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

    /// Takes up the posting at the place; goes over to the delta's at the end of the base's.
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
