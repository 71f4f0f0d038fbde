//! Opens the tables of the older base for copying.

use crate::base::Base;
use crate::base::source_table::SourceTable;
use crate::error::{Error, Result};

/// The table at `start..end` of a base.
pub(super) fn stream<'b>(
    base: &'b Base,
    what: &'static str,
    start: u64,
    end: u64,
) -> Result<SourceTable<'b>> {
    let len = end.saturating_sub(start);
    let bytes = base.map().slice(start, len).ok_or(Error::Truncated {
        what,
        needed: end,
        len: base.map().len(),
    })?;
    // Without checksums no chunk passes, so all copied bytes count as damaged.
    let chunks = match base.checksums() {
        Ok(all) => all
            .iter()
            .filter(|c| (start..end).contains(&c.offset))
            .collect(),
        Err(_) => Vec::new(),
    };
    Ok(SourceTable::new(what, start, bytes, chunks))
}
