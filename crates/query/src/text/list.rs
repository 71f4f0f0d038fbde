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

/// Texts of something else that a relevance counts beside those that are searched: of three texts each word would be a
/// common one.
pub(super) const BACKGROUND_TEXTS: f64 = 100.0;

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

    /// The rarity of a term that so many texts have, in nats, beside `others` that have it not.
    pub(super) fn rarity(&self, df: f64, others: f64) -> f64 {
        // A damaged index may report more events than exist; this keeps the logarithm a number.
        let df = df.min(self.texts);
        (1.0 + (self.texts + others - df + 0.5) / (df + 0.5)).ln()
    }

    /// The number of texts.
    pub(super) fn texts(&self) -> f64 {
        self.texts
    }

    /// The saturation, 0 to 1, of a term that occurs `tf` times in a text of `length` terms.
    #[inline]
    fn saturated(&self, tf: f32, length: u32) -> f32 {
        let discount = self.constant + self.per_term * length as f32;
        tf / (tf + discount.max(K1 as f32))
    }

    #[inline]
    pub(super) fn of(&self, id: u32) -> u32 {
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

    /// The lengths of the texts.
    pub(super) fn lengths(&self) -> Lengths<'a> {
        self.lengths
    }

    /// The base's dictionary.
    pub(super) fn base(&self) -> Option<Terms<'a>> {
        self.lengths.base
    }

    /// The delta's dictionary.
    pub(super) fn delta(&self) -> Option<&'a DeltaTerms> {
        self.lengths.delta
    }

    /// The id after the last of the texts.
    pub(super) fn bound(&self) -> u32 {
        self.bound
    }

    /// True if every term of the base is in one of the texts.
    pub(super) fn has_all_of_base(&self) -> bool {
        let events = self.lengths.base.map_or(0, |base| base.events());
        self.scope.is_none() && self.bound >= events
    }

    /// The number of events that contain a term.
    pub(super) fn count(&self, term: &str) -> Result<u32> {
        if self.scope.is_some() {
            return Ok(self.all(term)?.len() as u32);
        }
        let old = self.in_base(term)?.map_or(0, |(_, count)| count);
        Ok(old + self.recent(term).count() as u32)
    }

    /// True if an event contains a term.
    pub(super) fn has(&self, term: &str) -> Result<bool> {
        if self.scope.is_none() {
            return Ok(self.recent(term).next().is_some() || self.in_base(term)?.is_some());
        }
        if self.recent(term).any(|(id, _)| self.is_in_scope(id)) {
            return Ok(true);
        }
        let mut is_found = false;
        self.each_of_base(term, |_, _| {
            is_found = true;
            false
        })?;
        Ok(is_found)
    }

    fn is_in_scope(&self, id: u32) -> bool {
        let scope = self.scope;
        scope.is_none_or(|scope| scope.ids.binary_search(&id).is_ok())
    }

    /// The postings of a term in the base, and how many there are below the bound; `None` if there are none.
    fn in_base(&self, term: &str) -> Result<Option<(Postings<'a>, u32)>> {
        let postings = self.lengths.base.map_or(Ok(None), |base| base.find(term))?;
        let Some(postings) = postings else {
            return Ok(None);
        };
        let count = postings.df_below(self.bound)?;
        Ok((count > 0).then_some((postings, count)))
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
        self.each_of_base(term, |id, tf| {
            found.push((id, tf));
            true
        })?;
        let start = found.len();
        let recent = self.recent(term);
        found.extend(recent.filter(|&(id, _)| self.is_in_scope(id)));
        found[start..].reverse();
        Ok(found)
    }

    /// Visits the events of the base that contain a term, ascending, each with its frequency, as long as `visit` wants
    /// more.
    fn each_of_base(&self, term: &str, mut visit: impl FnMut(u32, u32) -> bool) -> Result<()> {
        let postings = self.lengths.base.map_or(Ok(None), |base| base.find(term))?;
        let Some(postings) = postings else {
            return Ok(());
        };
        let mut cursor = PostingCursor::new(postings)?;
        let mut rest = self.scope.map(|scope| scope.ids.as_slice());
        while cursor.id() < self.bound {
            if let Some(ids) = &mut rest {
                *ids = &ids[first_from(ids, cursor.id())..];
                match ids.first() {
                    None => break,
                    Some(&id) if id != cursor.id() => {
                        cursor.seek(id)?;
                        continue;
                    }
                    Some(_) => {}
                }
            }
            if !visit(cursor.id(), cursor.tf()) {
                break;
            }
            cursor.advance()?;
        }
        Ok(())
    }

    /// The postings of some terms, ascending, of one event in the order of the terms.
    fn listed(&self, terms: &[Member]) -> Result<Vec<Posting>> {
        let mut listed = Vec::new();
        for (term, weight) in terms {
            let postings = self.all(term)?.into_iter();
            listed.extend(postings.map(|(id, tf)| Posting::of(id, tf, *weight)));
        }
        if terms.len() > 1 {
            // Stable: the sum of an event's frequencies is the same wherever its postings are stored.
            listed.sort_by_key(|posting| posting.id);
        }
        Ok(listed)
    }
}

/// The place of the first id that is not below `least`, of ascending ids: near the beginning, it is found in steps that
/// double.
fn first_from(ids: &[u32], least: u32) -> usize {
    let mut step = 1;
    while ids.get(step).is_some_and(|&id| id < least) {
        step *= 2;
    }
    let (from, until) = (step / 2, ids.len().min(step + 1));
    from + ids[from..until].partition_point(|&id| id < least)
}

/// That a member of a group occurs in an event.
#[derive(Debug, Clone, Copy)]
struct Posting {
    id: u32,
    /// By the weight of the member.
    tf: f32,
    /// True for a term as it was asked.
    is_exact: bool,
}

impl Posting {
    fn of(id: u32, tf: u32, weight: f32) -> Self {
        Self {
            id,
            tf: weight * tf as f32,
            is_exact: weight == 1.0,
        }
    }
}

/// The frequency of a group in an event: frequencies add up by weight.
#[inline]
fn frequency(exact: Option<f32>, listed: &[Posting]) -> f32 {
    let tf = listed
        .iter()
        .fold(exact.unwrap_or_default(), |sum, posting| sum + posting.tf);
    match exact.is_some() || listed.iter().any(|posting| posting.is_exact) {
        true => tf,
        false => tf.min(EXPANDED_TF_MAX),
    }
}

#[inline]
fn length_of(base: Option<Terms<'_>>, delta: Option<&DeltaTerms>, id: u32) -> u32 {
    match base {
        Some(base) if id < base.events() => base.length_of(id),
        _ => delta.map_or(0, |delta| delta.length_of(id)),
    }
}

/// The postings of a group below a bound, and a position in them.
#[derive(Debug)]
pub(super) struct TermList<'a> {
    cursor: Option<PostingCursor<'a>>,
    /// What the cursor reads: those of the first member in the base, unless all postings are listed.
    postings: Option<Postings<'a>>,
    /// The other postings, ascending.
    listed: Vec<Posting>,
    next_listed: usize,
    bound: u32,
    lengths: Lengths<'a>,
    /// The limit of the term's score for infinitely many occurrences.
    pub(super) weight: f32,
    /// The term's rarity in nats, beside `BACKGROUND_TEXTS`.
    pub(super) rarity: f32,
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
        let base = match (group.first(), texts.scope) {
            // As it was asked, so that its frequency is the first of a sum; the others are few beside it.
            (Some((term, 1.0)), None) => texts.in_base(term)?,
            _ => None,
        };
        let Some((postings, old)) = base else {
            let mut list = Self::of(lengths, None, texts.listed(group)?, bound);
            let (events, greatest) = list.beside_base()?;
            if events == 0 {
                return Ok(None);
            }
            list.weigh(weight, events as f64);
            list.upper_bound = list.weight * greatest;
            list.rewind()?;
            return Ok(Some(list));
        };
        let (first, others) = (&group[0].0, &group[1..]);
        let mut listed = texts.listed(others)?;
        let mut recent: Vec<_> = texts.recent(first).collect();
        recent.reverse();
        if listed.is_empty() {
            listed.extend(recent.iter().map(|&(id, tf)| Posting::of(id, tf, 1.0)));
        } else if !recent.is_empty() {
            // The first member comes first in the sum of an event.
            let own = recent.iter().map(|&(id, tf)| Posting::of(id, tf, 1.0));
            listed = own.chain(listed).collect();
            listed.sort_by_key(|posting| posting.id);
        }
        let mut list = Self::of(lengths, Some(postings), listed, bound);
        let (more, greatest) = list.beside_base()?;
        list.weigh(weight, f64::from(old) + more as f64);
        list.upper_bound = list.weight * list.greatest_in_base().max(greatest);
        list.rewind()?;
        Ok(Some(list))
    }

    /// How many events are listed that the base's postings do not have, and the greatest saturation of a listed event.
    fn beside_base(&self) -> Result<(usize, f32)> {
        let mut cursor = self.postings.map(PostingCursor::new).transpose()?;
        let (mut more, mut greatest) = (0, 0.0f32);
        for event in self.listed.chunk_by(|a, b| a.id == b.id) {
            let id = event[0].id;
            let mut own = None;
            if let Some(cursor) = &mut cursor {
                cursor.seek(id)?;
                own = (cursor.id() == id).then(|| cursor.tf() as f32);
            }
            more += usize::from(own.is_none());
            let tf = frequency(own, event);
            greatest = greatest.max(self.lengths.saturated(tf, self.lengths.of(id)));
        }
        Ok((more, greatest))
    }

    fn of(
        lengths: Lengths<'a>,
        postings: Option<Postings<'a>>,
        listed: Vec<Posting>,
        bound: u32,
    ) -> Self {
        Self {
            cursor: None,
            postings,
            listed,
            next_listed: 0,
            bound,
            lengths,
            weight: 0.0,
            rarity: 0.0,
            upper_bound: 0.0,
            id: 0,
            tf: 0.0,
        }
    }

    fn weigh(&mut self, weight: f32, df: f64) {
        let idf = self.lengths.rarity(df, 0.0);
        self.rarity = self.lengths.rarity(df, BACKGROUND_TEXTS) as f32;
        self.weight = (f64::from(weight) * idf * (K1 + 1.0)) as f32;
    }

    /// True if the current event has the term as it was asked.
    pub(super) fn is_exact(&self) -> bool {
        let own = self.cursor.as_ref();
        let mut listed = self.listed[self.next_listed..]
            .iter()
            .take_while(|posting| posting.id == self.id);
        own.is_some_and(|cursor| cursor.id() == self.id) || listed.any(|posting| posting.is_exact)
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
        let id = self.id;
        if let Some(cursor) = &mut self.cursor
            && cursor.id() == id
        {
            cursor.advance()?;
        }
        while self
            .listed
            .get(self.next_listed)
            .is_some_and(|posting| posting.id == id)
        {
            self.next_listed += 1;
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
        }
        let rest = self.listed.get(self.next_listed..).unwrap_or(&[]);
        if rest.first().is_some_and(|posting| posting.id < id) {
            self.next_listed += rest.partition_point(|posting| posting.id < id);
        }
        self.settle();
        Ok(())
    }

    /// Reads the current event.
    #[inline]
    fn settle(&mut self) {
        let mut own = END;
        if let Some(cursor) = &self.cursor {
            own = cursor.id();
            if own >= self.bound {
                (own, self.cursor) = (END, None);
            }
        }
        let rest = self.listed.get(self.next_listed..).unwrap_or(&[]);
        let listed = rest.first().map_or(END, |posting| posting.id);
        self.id = own.min(listed);
        if self.id == END {
            return;
        }
        let exact = match &self.cursor {
            Some(cursor) if own == self.id => Some(cursor.tf() as f32),
            _ => None,
        };
        self.tf = match (exact, listed == self.id) {
            (Some(tf), false) => tf,
            (exact, _) => {
                let of_event = rest
                    .iter()
                    .take_while(|posting| posting.id == listed)
                    .count();
                frequency(exact, &rest[..of_event])
            }
        };
    }

    /// The greatest saturation that a posting of the base can have.
    fn greatest_in_base(&self) -> f32 {
        let postings = self.postings.into_iter();
        let blocks = postings.flat_map(|p| (0..p.blocks()).map(move |at| p.block(at)));
        blocks.fold(0.0, |greatest: f32, block| {
            let (tf, length) = (f32::from(block.max_tf), u32::from(block.min_length));
            greatest.max(self.lengths.saturated(tf, length))
        })
    }
}
