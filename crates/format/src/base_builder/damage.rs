//! What of a base is not as it was written. A fold carries it on: what is made of it gets no checksum that holds.

use crate::base::Base;
use crate::base::chunk::Chunk;
use crate::base::section::{ROWS, SectionRole};

/// Sections whose content nothing else in a base repeats.
fn records() -> impl Iterator<Item = u8> {
    let rows = ROWS.iter();
    rows.filter(|row| row.role == SectionRole::Record)
        .map(|row| row.tag)
}

/// Where a base is damaged.
#[derive(Debug, Default)]
pub(super) struct Damage {
    /// Sections of `records`: what is made of them is as damaged.
    pub(super) records: Vec<u8>,
    /// A section of another kind: all of them are made anew of what the view shows.
    pub(super) indexes: bool,
    /// Tables as well, of which all is made anew then, too, so that nothing else would tell of it.
    pub(super) tables: bool,
}

impl Damage {
    /// Looks at all sections, and at the tables only if these are made anew.
    pub(super) fn of(base: &Base) -> Self {
        let Ok(checksums) = base.checksums() else {
            // Nothing can be said for any of it.
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
                // Padding says nothing, unless it was a section.
                None => {}
            }
        }
        if is_odd {
            let missing = |tag: &u8| base.table().find(*tag).is_none();
            found.records.extend(records().filter(missing));
        }
        let mut of_tables = checksums.iter().filter(|c| c.offset < sections);
        found.tables = found.indexes && of_tables.any(|chunk| wrong(&chunk));
        found
    }
}
