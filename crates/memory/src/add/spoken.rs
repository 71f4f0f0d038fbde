//! What of the turns of an add is read: their speakers' own words.

use super::request::AddRequest;
use crate::conversation::{Role, SkippedPart, Turn, TurnList, TurnUse};
use crate::error::Result;
use crate::patterns::language_of;
use crate::reading::{ForeignKind, foreign_spans, own_words, served_spans};
use crate::store::FactStore;

/// The turns without what is not their speakers' own word, which the answer names. They are stored as they were said.
pub(super) fn spoken(
    request: &AddRequest,
    list: &mut TurnList,
    store: &dyn FactStore,
) -> Result<Vec<Turn>> {
    let mut turns = list.turns.clone();
    for turn in &mut turns {
        if turn.used_for != TurnUse::Extract {
            continue;
        }
        let is_agents = turn.role == Role::Assistant;
        let was_served = |hashes: &[String]| store.served_words(&request.scope, hashes);
        let mut spans = foreign_spans(&turn.text, is_agents);
        spans.extend(served_spans(&turn.text, is_agents, was_served)?);
        let spans = crate::reading::apart(spans);
        if spans.is_empty() {
            continue;
        }
        let mut kinds: Vec<ForeignKind> = spans.iter().map(|span| span.kind).collect();
        kinds.sort_unstable();
        kinds.dedup();
        list.skipped.extend(kinds.into_iter().map(|kind| {
            SkippedPart {
                message: turn.message,
                what: kind.name().to_owned(),
                why: match kind {
                    ForeignKind::Served => "it was served from this memory",
                    _ => "it is not the speaker's own word: nothing is formed of it",
                }
                .to_owned(),
            }
        }));
        let own = own_words(&turn.text, &spans).into_owned();
        turn.language = language_of(&own);
        if own.is_empty() {
            turn.used_for = TurnUse::Context;
        }
        turn.text = own;
    }
    Ok(turns)
}
