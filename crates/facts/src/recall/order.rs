//! The order of entries: what only asks last.

use amem_query::search::BESIDE_RELEVANCE;
use amem_query::text::only_asks;

use super::candidate::ASSISTANT;
use super::request::{RecalledEntry, RecalledSource};
use crate::limits::SHORT_PASSAGE_BYTES;

/// Moves what only asks below what says something: a question without its answer, or a request, is no answer itself. It
/// stands only beside one.
pub(super) fn asked_last(entries: &mut [RecalledEntry]) {
    for entry in entries.iter_mut().filter(|entry| asks(entry)) {
        entry.relevance = entry.relevance.min(BESIDE_RELEVANCE);
    }
    entries.sort_by_cached_key(asks);
}

/// True if an entry only asks.
pub(super) fn asks(entry: &RecalledEntry) -> bool {
    entry.source == RecalledSource::Said
        && entry.item.is_none()
        && entry.speaker != ASSISTANT
        && !entry.is_passage
        && entry.text.len() <= SHORT_PASSAGE_BYTES
        && only_asks(&entry.text)
}
