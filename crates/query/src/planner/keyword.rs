//! The events whose text contains one word in any of its spellings, as an ascending list that is read in both
//! directions.
//!
//! Only blocks that are read are decoded, so the newest few of a million events cost little.

use amem_format::base::terms::{DecodedBlock, Postings};
use amem_format::error::Result;
use amem_format::view::View;

/// The events of a view whose text contains one of some terms, including those erased since.
#[derive(Debug, Clone)]
pub(crate) struct TermIds<'v> {
    spellings: Vec<OneTerm<'v>>,
}

impl<'v> TermIds<'v> {
    pub(crate) fn new<'t>(
        view: &'v View,
        spellings: impl IntoIterator<Item = &'t Box<str>>,
    ) -> Result<Self> {
        let spellings = spellings.into_iter().map(|term| OneTerm::new(view, term));
        Ok(Self {
            spellings: spellings.collect::<Result<_>>()?,
        })
    }

    /// The number of events, at most: one with two spellings counts twice.
    pub(crate) fn len(&self) -> u64 {
        self.spellings.iter().map(OneTerm::len).sum()
    }

    pub(crate) fn contains(&mut self, id: u32) -> Result<bool> {
        Ok(self.first_from(id)? == Some(id))
    }

    /// The first event at or after `id`.
    pub(crate) fn first_from(&mut self, id: u32) -> Result<Option<u32>> {
        let mut first = None;
        for term in &mut self.spellings {
            let found = term.first_from(id)?;
            first = first.into_iter().chain(found).min();
        }
        Ok(first)
    }

    /// The last event before `id`.
    pub(crate) fn last_before(&mut self, id: u32) -> Result<Option<u32>> {
        let mut last = None;
        for term in &mut self.spellings {
            last = last.max(term.last_before(id)?);
        }
        Ok(last)
    }
}

/// The events of one term.
#[derive(Debug, Clone)]
struct OneTerm<'v> {
    postings: Option<Postings<'v>>,
    /// The end of the events that the base's index covers.
    base_end: u32,
    /// The events of the delta, ascending.
    recent: Vec<u32>,
    len: u64,
    block: Option<u32>,
    decoded: DecodedBlock,
}

impl<'v> OneTerm<'v> {
    fn new(view: &'v View, term: &str) -> Result<Self> {
        let (base, delta) = view.terms()?;
        let end = view.nodes() as u32;
        let postings = base.map_or(Ok(None), |base| base.find(term))?;
        let mut recent: Vec<u32> = delta.postings(term, end).map(|(id, _)| id).collect();
        recent.reverse();
        let old = postings.map_or(Ok(0), |postings| postings.df_below(end))?;
        Ok(Self {
            postings,
            base_end: base.map_or(0, |base| base.events()),
            len: u64::from(old) + recent.len() as u64,
            recent,
            block: None,
            decoded: DecodedBlock::default(),
        })
    }

    fn len(&self) -> u64 {
        self.len
    }

    /// The first event at or after `id`.
    fn first_from(&mut self, id: u32) -> Result<Option<u32>> {
        if id < self.base_end && self.load_block_of(id)? {
            let ids = self.decoded.ids();
            if let Some(&found) = ids.get(ids.partition_point(|&at| at < id)) {
                return Ok(Some(found));
            }
        }
        let at = self.recent.partition_point(|&at| at < id);
        Ok(self.recent.get(at).copied())
    }

    /// The last event before `id`.
    fn last_before(&mut self, id: u32) -> Result<Option<u32>> {
        let at = self.recent.partition_point(|&at| at < id);
        if let Some(at) = at.checked_sub(1) {
            return Ok(self.recent.get(at).copied());
        }
        let Some(postings) = self.postings else {
            return Ok(None);
        };
        if !self.load_block_of(id)? {
            self.load(postings.blocks().saturating_sub(1))?;
        }
        loop {
            let ids = self.decoded.ids();
            match (
                ids.partition_point(|&at| at < id).checked_sub(1),
                self.block,
            ) {
                (Some(at), _) => return Ok(Some(ids[at])),
                (None, None | Some(0)) => return Ok(None),
                (None, Some(block)) => self.load(block - 1)?,
            }
        }
    }

    /// Decodes the first block that may hold `id` or a later event; false if there is none.
    fn load_block_of(&mut self, id: u32) -> Result<bool> {
        let Some(postings) = self.postings else {
            return Ok(false);
        };
        let ids = self.decoded.ids();
        let is_loaded = ids.first().is_some_and(|&first| first <= id)
            && ids.last().is_some_and(|&last| id <= last);
        if is_loaded {
            return Ok(true);
        }
        let block = postings.seek_block(0, id);
        if block >= postings.blocks() {
            return Ok(false);
        }
        self.load(block)?;
        Ok(true)
    }

    fn load(&mut self, block: u32) -> Result<()> {
        if let Some(postings) = self.postings
            && block < postings.blocks()
            && self.block != Some(block)
        {
            postings.decode(block, &mut self.decoded)?;
            self.block = Some(block);
        }
        Ok(())
    }
}
