//! The term index of the delta: filled by the first text query that needs it, then read without a lock.
//!
//! Applying a commit does not analyze its texts: most readers run no text query.

use std::borrow::Cow;

use amem_locks::LockResultExt;

use super::DeltaTerms;
use crate::analyzer::{Analyzer, TermCounts};
use crate::base::terms::LengthQuarter;
use crate::error::Result;
use crate::sync::{Mutex, OnceLock};

/// A term index that is filled on demand.
#[derive(Debug, Default)]
pub struct LazyTerms {
    index: OnceLock<DeltaTerms>,
    filling: Mutex<()>,
}

impl LazyTerms {
    /// The id after the last event of the index; `None` if no text query has been asked yet.
    pub(crate) fn end(&self) -> Option<u32> {
        self.index.get().map(DeltaTerms::end)
    }

    /// The index of the events from `first` on, covering at least those below `end`. `base` counts the lengths of the
    /// texts before, whose index has this version; `text` returns the text that an event was created with, also if it
    /// was erased since: the same commits always give the same index.
    pub(crate) fn until<'t>(
        &self,
        first: u32,
        end: u32,
        version: u32,
        base: impl FnOnce() -> LengthQuarter,
        text: impl Fn(u32) -> Result<Cow<'t, str>>,
    ) -> Result<&DeltaTerms> {
        let index = self.index.get_or_init(|| DeltaTerms::new(first, base()));
        if index.end() < end {
            let _filling = self.filling.lock().unpoisoned();
            let analyzer = Analyzer::of_version(version).unwrap_or_default();
            let mut counts = TermCounts::new();
            for id in index.end()..end {
                index.add(id, &text(id)?, &analyzer, &mut counts);
            }
        }
        Ok(index)
    }
}
