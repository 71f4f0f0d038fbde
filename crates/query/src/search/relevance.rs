//! Relevance: how well an event answers a question, on one scale for all questions.
//!
//! A score compares the events of one question: its greatest is about the same however badly all of them fit. Relevance
//! counts the question's terms instead. A question about something else has terms that no event of the brain contains,
//! and those that are left meet by chance. Shares by number tell noise from answers better than shares by the terms'
//! weights, which a single rare name decides (docs/decisions/0030-relevance.md).

use super::request::Relevance;
use crate::text::FoundTerms;

/// From this relevance of its best hit on, a question is likely one that the events answer: the least of a context by
/// default.
pub const LIKELY_RELEVANCE: f32 = 0.65;

/// The parts of the terms that an event has, of those that the brain has, and of a speaker whom the question names.
const COVERED: f32 = 0.6;
const KNOWN: f32 = 0.4;
const NAMED: f32 = 0.2;

/// The relevance of an event that contains, with its neighbours, `covered` of the question's terms.
pub(super) fn of(
    found: &FoundTerms<'_>,
    covered: usize,
    is_named: bool,
    meaning: f32,
) -> Relevance {
    let share = |terms: usize| terms as f32 / found.asked().max(1) as f32;
    let (covered, known) = (share(covered), share(found.known()));
    let words = match covered {
        0.0 => 0.0,
        _ => COVERED * covered + KNOWN * known + if is_named { NAMED } else { 0.0 },
    };
    Relevance {
        value: words.min(1.0).max(meaning),
        covered,
        known,
        is_named,
        meaning,
        is_weak: false,
    }
}
