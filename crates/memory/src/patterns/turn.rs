//! The facts of one turn, with their times.

use amem_query::time_phrase::Clock;

use super::extract::{PATTERN_CONFIDENCE, PatternFact, facts_in};
use super::languages;
use super::person::DEFAULT_SPEAKER;
use crate::fact::ExtractedFact;
use crate::graph::FactGraph;
use crate::kind::{FactKind, FactSource};
use crate::language::TurnLanguage;
use crate::validity::validity_in;

/// The facts that patterns find in a turn; `turn` is its number in the add.
///
/// `speaker` is the name for "I", `User` if there is none; `names` are those of other speakers. `clock` is the time of
/// the turn: relative dates refer to it. The text must be English.
pub fn facts_in_turn(
    text: &str,
    speaker: Option<&str>,
    names: &[&str],
    clock: &Clock,
    turn: usize,
) -> Vec<ExtractedFact> {
    let names: Vec<String> = names.iter().map(|name| name.to_lowercase()).collect();
    let found = facts_in(text, speaker.unwrap_or(DEFAULT_SPEAKER), &names);
    found
        .into_iter()
        .map(|fact| extracted(fact, clock, turn))
        .collect()
}

/// The facts that patterns find in a turn of another language than English; none if the language has no table.
pub(crate) fn facts_in_foreign_turn(
    text: &str,
    language: TurnLanguage,
    speaker: Option<&str>,
    clock: &Clock,
    turn: usize,
) -> Vec<ExtractedFact> {
    let TurnLanguage::Other(code) = language else {
        return Vec::new();
    };
    let found = languages::table_of(code)
        .map(|table| languages::facts_in(table, text, speaker.unwrap_or(DEFAULT_SPEAKER)));
    found
        .into_iter()
        .flatten()
        .map(|fact| extracted(fact, clock, turn))
        .collect()
}

fn extracted(fact: PatternFact, clock: &Clock, turn: usize) -> ExtractedFact {
    let validity = match fact.family.kind {
        FactKind::Retraction => crate::validity::Validity::default(),
        kind => validity_in(&fact.source, kind, clock),
    };
    ExtractedFact {
        text: fact.text,
        kind: fact.family.kind,
        source: FactSource::Pattern,
        family: fact.family.name,
        confidence: PATTERN_CONFIDENCE,
        turns: vec![turn],
        because: fact.because,
        is_correcting: fact.is_correcting,
        graph: FactGraph::default(),
        validity,
    }
}
