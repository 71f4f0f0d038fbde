//! Steps 3 to 5 of an add: facts of turns, checked, with their times.

use std::collections::{HashMap, HashSet};

use amem_query::time_phrase::Clock;

use super::answer::RejectedFact;
use super::forgetting::unforgotten;
use super::pattern_facts::facts_by_patterns;
use super::request::{AddRequest, ModelFallback};
use crate::check::{CheckFailure, Grounds, check, is_instruction, overrides};
use crate::conversation::{Turn, TurnUse};
use crate::fact::ExtractedFact;
use crate::kind::{FactKind, FactSource};
use crate::language::TurnLanguage;
use crate::limits::FACTS_MAX;
use crate::model::{CallCount, CallFailure, FormTable, Model, extract_by_model};
use crate::patterns::{DEFAULT_SPEAKER, language_of};
use crate::pending::PendingReason;
use crate::replies::ModelFact;
use crate::text::forms::{normal_form, overlap, stems};
use crate::validity::validity_in;

/// The confidence of a fact that a model found; the paper's 0.85 to 0.95.
const MODEL_CONFIDENCE: f32 = 0.9;
/// The share of stems from which on a pattern's fact is the one that the model found as well.
const SAME_SHARE: f32 = 0.6;

/// A fact that passed the checks.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct CheckedFact {
    pub(super) fact: ExtractedFact,
    pub(super) is_quarantined: bool,
}

/// A fact that did not pass, and why.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct RejectedExtract {
    pub(super) fact: ExtractedFact,
    pub(super) why: String,
}

/// The facts of turns.
#[derive(Debug, Default)]
pub(super) struct Extraction {
    pub(super) facts: Vec<CheckedFact>,
    pub(super) rejected: Vec<RejectedExtract>,
    /// Requests to forget that were not understood.
    pub(super) not_forgotten: Vec<RejectedFact>,
    /// Why the model did not answer, if its work is left.
    pub(super) pending: Option<(PendingReason, String)>,
    pub(super) count: CallCount,
}

/// The facts of the turns; `fresh` says which turns are extracted.
pub(super) fn extract(
    request: &AddRequest,
    turns: &[Turn],
    fresh: &[bool],
    model: Option<(&dyn Model, &FormTable)>,
) -> Extraction {
    let unforgotten = unforgotten(request, turns);
    let mut out = Extraction {
        not_forgotten: unforgotten.requests,
        ..Extraction::default()
    };
    let is_silent = &unforgotten.is_silent;
    let used = |at: usize| turns[at].used_for == TurnUse::Extract && fresh[at] && !is_silent[at];
    if !(0..turns.len()).any(used) {
        return out;
    }
    let mut found = Vec::new();
    let mut has_patterns = true;
    if let Some((model, forms)) = model {
        match extract_by_model(
            model,
            forms,
            turns,
            request.prompt.as_deref(),
            &mut out.count,
        ) {
            Ok(facts) => found.extend(facts.into_iter().map(|fact| of_model(fact, turns, &used))),
            Err(CallFailure::Malformed(_)) => {}
            Err(CallFailure::Pending(reason, why)) => {
                has_patterns =
                    request.fallback == ModelFallback::Patterns || reason == PendingReason::Budget;
                if !has_patterns || reason == PendingReason::Budget {
                    out.pending = Some((reason, why));
                }
            }
        }
    }
    if has_patterns {
        let model_stems: Vec<_> = found
            .iter()
            .map(|fact: &ExtractedFact| stems(&fact.text))
            .collect();
        // A fact that will not pass must not take a pattern's with it.
        let passes: Vec<bool> = found
            .iter()
            .map(|fact| check(fact, &grounds_of(fact, turns)).is_ok())
            .collect();
        // The model's fact that says what a pattern's does.
        let twin = |fact: &ExtractedFact| {
            let own = stems(&fact.text);
            let mut theirs = model_stems.iter().zip(&passes);
            theirs.position(|(theirs, passes)| *passes && overlap(&own, theirs) >= SAME_SHARE)
        };
        for at in (0..turns.len()).filter(|at| used(*at)) {
            // Where the facts of the turn stand among all.
            let mut places = Vec::new();
            for fact in facts_by_patterns(&turns[at], turns, at) {
                let twin = twin(&fact);
                places.push(Some(twin.unwrap_or(found.len())));
                let fact = fact.behind(&places);
                match twin {
                    Some(twin) => found[twin].learn(fact),
                    None => found.push(fact),
                }
            }
        }
    }
    checked(found, turns, &mut out);
    out
}

/// A model's fact: cited turns are those that exist and are extracted, all of them if it cites none.
fn of_model(fact: ModelFact, turns: &[Turn], used: &dyn Fn(usize) -> bool) -> ExtractedFact {
    let mut cited: Vec<usize> = fact
        .turns
        .into_iter()
        .filter(|at| *at < turns.len() && used(*at))
        .collect();
    if cited.is_empty() {
        cited = (0..turns.len()).filter(|at| used(*at)).collect();
    }
    let time = cited
        .first()
        .map_or(amem_format::types::Micros(0), |at| turns[*at].time);
    ExtractedFact {
        validity: validity_in(&fact.text, fact.kind, &Clock::utc(time)),
        graph: fact.graph,
        text: fact.text,
        kind: fact.kind,
        source: FactSource::Model,
        family: "",
        confidence: MODEL_CONFIDENCE,
        turns: cited,
        because: fact.because,
        is_correcting: false,
    }
}

/// What the turns of a fact say.
fn grounds_of(fact: &ExtractedFact, turns: &[Turn]) -> Grounds {
    let names = turns.iter().filter_map(|turn| turn.name.as_deref());
    let cited = fact.turns.iter().map(|at| &turns[*at]);
    let texts = cited.map(|turn| (turn.text.as_str(), turn.language));
    Grounds::of(texts, names.chain([DEFAULT_SPEAKER]))
}

/// Step 4: what passes, and why the rest does not. A fact that is found twice counts once.
fn checked(found: Vec<ExtractedFact>, turns: &[Turn], out: &mut Extraction) {
    let (mut seen, mut all_grounds) = (HashSet::new(), HashMap::new());
    // Where the facts stand among those that pass.
    let mut places: Vec<Option<usize>> = Vec::new();
    // An order spoils all of its turn: what a model or a pattern makes of it need not show it.
    let mut spoilt: HashMap<usize, bool> = HashMap::new();
    for fact in found {
        let fact = fact.behind(&places);
        places.push(None);
        let reject = |fact: ExtractedFact, why: &str| RejectedExtract {
            fact,
            why: why.to_owned(),
        };
        if out.facts.len() >= FACTS_MAX {
            out.rejected.push(reject(fact, "an add has too many facts"));
            continue;
        }
        if !seen.insert((normal_form(&fact.text), fact.kind == FactKind::Retraction)) {
            continue;
        }
        let cited = || fact.turns.iter().map(|at| &turns[*at]);
        // A pattern writes in the language of its turn.
        let is_foreign = fact.source == FactSource::Model
            && cited().all(|turn| matches!(turn.language, TurnLanguage::Other(_)))
            && language_of(&fact.text) == TurnLanguage::English;
        if is_foreign {
            let why = "it is in another language than its turn";
            out.rejected.push(reject(fact, why));
            continue;
        }
        // Many facts are from one long turn, which is read once.
        let grounds = all_grounds
            .entry(fact.turns.clone())
            .or_insert_with(|| grounds_of(&fact, turns));
        let place = out.facts.len();
        let mut fact = fact;
        for entity in &mut fact.graph.entities {
            // A description is a model's own words: it stays if the turns say so, and gives no orders.
            let is_said = grounds.failure(&entity.description).is_none();
            if !is_said || is_instruction(&entity.description) {
                entity.description.clear();
            }
        }
        match check(&fact, grounds) {
            Ok(()) => {
                let mut is_spoilt = |at: &usize| {
                    let of_turn = || overrides(&turns[*at].text);
                    *spoilt.entry(*at).or_insert_with(of_turn)
                };
                let is_quarantined = fact.turns.iter().any(&mut is_spoilt);
                out.facts.push(CheckedFact {
                    fact,
                    is_quarantined,
                });
            }
            Err(CheckFailure::Quarantine) => out.facts.push(CheckedFact {
                fact,
                is_quarantined: true,
            }),
            Err(CheckFailure::Reject(why)) => out.rejected.push(reject(fact, &why)),
        }
        if out.facts.len() > place
            && let Some(last) = places.last_mut()
        {
            *last = Some(place);
        }
    }
}
