//! Damage in the older base. A checkpoint preserves it: whatever is derived from damaged bytes gets a checksum that
//! fails.

use crate::base::Base;
use crate::base::chunk::Chunk;
use crate::base::section::tag;

/// Sections that no other part of the base can replace. All others are derived from these and the tables.
const PRIMARY: [u8; 10] = [
    tag::IDENTITY,
    tag::SETTINGS,
    tag::SESSIONS,
    tag::ACTORS,
    tag::ATTRIBUTES,
    tag::EVENT_TIMES,
    tag::HISTORY,
    tag::CLOCK,
    tag::REQUESTS,
    tag::COMMITS,
];

/// Where the older base is damaged.
#[derive(Debug, Default)]
pub(super) struct Damage {
    /// Damaged sections of `PRIMARY`; their successors get failing checksums.
    pub(super) primary: Vec<u8>,
    /// True if a derived section is damaged: then all of them are derived from the view again.
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
                primary: PRIMARY.to_vec(),
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
                Some(place) if PRIMARY.contains(&place.tag) => found.primary.push(place.tag),
                Some(_) => found.indexes = true,
                // Damaged padding is harmless, unless a section's header was there.
                None => {}
            }
        }
        if is_odd {
            let missing = |tag: &u8| base.table().find(*tag).is_none();
            found.primary.extend(PRIMARY.into_iter().filter(missing));
        }
        let mut of_tables = checksums.iter().filter(|c| c.offset < sections);
        found.tables = found.indexes && of_tables.any(|chunk| wrong(&chunk));
        found
    }
}
