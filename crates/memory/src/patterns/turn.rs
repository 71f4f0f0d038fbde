//! The facts of one turn, with their times.

use amem_query::time_phrase::Clock;

use super::extract::{PATTERN_CONFIDENCE, facts_in};
use super::person::DEFAULT_SPEAKER;
use crate::fact::ExtractedFact;
use crate::kind::{FactKind, FactSource};
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
    let fact = |fact: super::extract::PatternFact| {
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
            validity,
        }
    };
    found.into_iter().map(fact).collect()
}
