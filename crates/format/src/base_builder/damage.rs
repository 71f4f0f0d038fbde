//! What of a base is not as it was written. A fold carries it on: what is made of it gets no checksum that holds.

use crate::base::Base;
use crate::base::chunk::Chunk;
use crate::base::section::tag;

/// Sections of what nothing else in a base says. All others are made of these and of the tables.
const SAID_ONCE: [u8; 10] = [
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

/// Where a base is damaged.
#[derive(Debug, Default)]
pub(super) struct Damage {
    /// Sections of `SAID_ONCE`: what is made of them is as damaged.
    pub(super) said_once: Vec<u8>,
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
                said_once: SAID_ONCE.to_vec(),
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
                Some(place) if SAID_ONCE.contains(&place.tag) => found.said_once.push(place.tag),
                Some(_) => found.indexes = true,
                // Padding says nothing, unless it was a section.
                None => {}
            }
        }
        if is_odd {
            let missing = |tag: &u8| base.table().find(*tag).is_none();
            found
                .said_once
                .extend(SAID_ONCE.into_iter().filter(missing));
        }
        let mut of_tables = checksums.iter().filter(|c| c.offset < sections);
        found.tables = found.indexes && of_tables.any(|chunk| wrong(&chunk));
        found
    }
}
