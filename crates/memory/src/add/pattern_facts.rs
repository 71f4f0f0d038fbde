//! The facts that patterns find in a turn, in whichever language it is.

use amem_query::time_phrase::Clock;

use crate::conversation::{Role, Turn};
use crate::fact::ExtractedFact;
use crate::patterns::{facts_in_foreign_turn, facts_in_turn};

/// The facts of one turn, which may be a part of one of `turns`.
pub(super) fn facts_by_patterns(turn: &Turn, turns: &[Turn], at: usize) -> Vec<ExtractedFact> {
    let clock = Clock::utc(turn.time);
    if !turn.language.is_english() {
        return facts_in_foreign_turn(&turn.text, turn.language, speaker_of(turn), &clock, at);
    }
    let names: Vec<&str> = turns
        .iter()
        .filter_map(|turn| turn.name.as_deref())
        .collect();
    facts_in_turn(&turn.text, speaker_of(turn), &names, &clock, at)
}

fn speaker_of(turn: &Turn) -> Option<&str> {
    let default = (turn.role == Role::Assistant).then_some("Assistant");
    turn.name.as_deref().or(default)
}
