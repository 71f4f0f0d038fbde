//! Exports: all memories of a scope at one moment, with what is known about each, one after the other.

use amem_format::view::View;
use amem_memory::FactScope;
use amem_memory::store::MemoryItem;
use uuid::Uuid;

use crate::error::Result;
use crate::facts::Facts;
use crate::feedback::{FactFeedback, feedback_of};
use crate::history::{HistoryEntry, history};
use crate::limits::FACT_PAGE_MAX;
use crate::listing::{FactCursor, ListRequest};
use crate::scope_plan::FactMoment;

/// A memory with what is known about it.
#[derive(Debug, Clone, PartialEq)]
pub struct ExportedFact {
    /// The memory.
    pub item: MemoryItem,
    /// The feedback that holds.
    pub feedback: Option<FactFeedback>,
    /// Its history, if it was asked for; in order of time.
    pub history: Vec<HistoryEntry>,
}

impl Facts<'_> {
    /// The memories of a scope at a moment, for `export_next`. The page of the request is not used. Errors: no scope.
    pub fn export(&self, request: &ListRequest, moment: &FactMoment) -> Result<FactCursor> {
        FactCursor::new(moment, request)
    }
}

impl FactCursor {
    /// The next memory of an export, with its history if that is wanted; `None` at the end.
    pub fn export_next(&mut self, with_history: bool) -> Result<Option<ExportedFact>> {
        let Some((_, item)) = self.advance()? else {
            return Ok(None);
        };
        let view = self.moment().view();
        let told = if with_history {
            let scope = self.scope_of(&item).unwrap_or_else(|| item.scope.clone());
            whole_history(view, item.id, &scope)?
        } else {
            Vec::new()
        };
        Ok(Some(ExportedFact {
            feedback: feedback_of(view, item.id)?,
            history: told,
            item,
        }))
    }
}

/// All records of a memory.
fn whole_history(view: &View, id: Uuid, scope: &FactScope) -> Result<Vec<HistoryEntry>> {
    let (mut all, mut after) = (Vec::new(), None);
    while let Some(page) = history(view, id, scope, (FACT_PAGE_MAX, after))? {
        all.extend(page.entries);
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    Ok(all)
}
