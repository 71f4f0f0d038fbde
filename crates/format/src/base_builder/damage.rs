//! Damage in the older base. A checkpoint preserves it: whatever is derived from damaged bytes gets a checksum that
//! fails.

use crate::base::Base;
use crate::base::chunk::Chunk;
use crate::base::section::{ROWS, SectionRole};

/// Sections whose content nothing else in a base repeats.
fn records() -> impl Iterator<Item = u8> {
    let rows = ROWS.iter();
    rows.filter(|row| row.role == SectionRole::Record)
        .map(|row| row.tag)
}

/// Where the older base is damaged.
#[derive(Debug, Default)]
pub(super) struct Damage {
    /// Sections of `records`: what is made of them is as damaged.
    pub(super) records: Vec<u8>,
    /// True if a derived section is damaged: the build derives all of them again from the view.
    pub(super) indexes: bool,
    /// True if the tables are damaged too. They are encoded again with the indexes, so only this flag preserves the
    /// damage.
    pub(super) tables: bool,
}

impl Damage {
    /// Checks all sections; checks the tables only if an index is damaged.
    pub(super) fn of(base: &Base) -> Self {
        let Ok(checksums) = base.checksums() else {
            // Without checksums every part may be damaged.
            return Self {
                records: records().collect(),
                indexes: true,
                tables: true,
            };
        };
        let wrong = |chunk: &Chunk| {
            let bytes = base.map().slice(chunk.offset, chunk.len);
            chunk.check(bytes, "base").is_err()
        };
        let (sections, mut found) = (base.header().sections(), Self::default());
        let mut is_odd = false;
        for chunk in checksums
            .iter()
            .filter(|c| c.offset >= sections && wrong(c))
        {
            is_odd = true;
            match base.table().at(chunk.offset) {
                Some(place) if records().any(|tag| tag == place.tag) => {
                    found.records.push(place.tag)
                }
                Some(_) => found.indexes = true,
                // Damaged padding is harmless, unless a section's header was there.
                None => {}
            }
        }
        if is_odd {
            // Files of earlier versions do not have every section.
            let is_required = |tag: &u8| ROWS.iter().any(|row| row.tag == *tag && !row.is_optional);
            let missing = |tag: &u8| base.table().find(*tag).is_none() && is_required(tag);
            found.records.extend(records().filter(missing));
        }
        let mut of_tables = checksums.iter().filter(|c| c.offset < sections);
        found.tables = found.indexes && of_tables.any(|chunk| wrong(&chunk));
        found
    }
}
