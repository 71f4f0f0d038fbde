//! Dictionaries of terms, searched by the start and by the end of a term.
//!
//! Both indexes have one: the base's is sorted (`base::terms`), the delta's is a pair of ordered sets. Searches narrow a
//! *range*: what they have found of a term's start or end stays known for its longer ones.
//!
//! Promises: a search reads a few terms, however many there are.
//! Not here: which terms a question means (`amem_query::text`).

use std::cmp::Ordering;

use crate::error::Result;

/// From where terms are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// Their first bytes first.
    Start,
    /// Their last bytes first.
    Finish,
}

impl End {
    /// Compares two terms.
    pub fn cmp(self, a: &[u8], b: &[u8]) -> Ordering {
        match self {
            Self::Start => a.cmp(b),
            Self::Finish => a.iter().rev().cmp(b.iter().rev()),
        }
    }

    /// True if a term has `part` at this end.
    pub fn has(self, term: &[u8], part: &[u8]) -> bool {
        match self {
            Self::Start => term.starts_with(part),
            Self::Finish => term.ends_with(part),
        }
    }
}

/// Terms in two orders.
pub trait Dictionary {
    /// The places of terms that are next to each other in an order.
    type Range: Copy;

    /// All terms.
    fn all(&self) -> Self::Range;

    /// The number of terms in a range; `None` if counting would mean reading them.
    fn count(&self, range: Self::Range) -> Option<u32>;

    /// Of a range, the places of the terms with `part` at an end; `None` if there are none.
    fn narrowed(&self, range: Self::Range, end: End, part: &[u8]) -> Result<Option<Self::Range>>;

    /// Of a range, the first term in the order of an end that does not come before `key`.
    fn first_from<'s>(
        &'s self,
        range: Self::Range,
        end: End,
        key: &'s [u8],
    ) -> Result<Option<&'s [u8]>>;

    /// Calls `f` with the terms with `part` at an end until it returns false.
    fn for_each(
        &self,
        range: Self::Range,
        end: End,
        part: &[u8],
        f: &mut dyn FnMut(&[u8]) -> bool,
    ) -> Result<()>;
}
