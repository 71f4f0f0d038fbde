//! Requests to forget that are not understood: the answer names them, and nothing of their turns is formed.

use super::answer::RejectedFact;
use super::pattern_facts::facts_by_patterns;
use super::request::AddRequest;
use crate::conversation::{Role, Turn, TurnUse};
use crate::kind::FactKind;
use crate::limits::FACT_CHARS_MAX;
use crate::patterns::{ForgetRequest, forget_requests};

/// What an add was asked to forget and did not.
#[derive(Debug, Default)]
pub(super) struct Unforgotten {
    /// For each turn whether nothing of it is formed.
    pub(super) is_silent: Vec<bool>,
    /// The requests, as the answer names them.
    pub(super) requests: Vec<RejectedFact>,
}

/// The requests of turns that no pattern understands.
pub(super) fn unforgotten(request: &AddRequest, turns: &[Turn]) -> Unforgotten {
    let mut out = Unforgotten::default();
    for (at, turn) in turns.iter().enumerate() {
        let is_asked = match request.infer {
            true => turn.used_for == TurnUse::Extract,
            // A document may have any sentence in it; a statement of one is a request.
            false => turn.role == Role::User && turn.text.chars().count() <= FACT_CHARS_MAX,
        };
        let mut found = match is_asked {
            true => forget_requests(&turn.text),
            false => Vec::new(),
        };
        if request.infer && !found.is_empty() {
            found.retain(|one| !is_understood(one, turns, at));
        } else if !found.is_empty() && !begins_with(turn, &found[0]) {
            found.clear();
        }
        out.is_silent.push(!found.is_empty());
        out.requests
            .extend(found.into_iter().map(|one| RejectedFact {
                id: None,
                why: not_done(&one, request),
                text: one.sentence,
            }));
    }
    out
}

/// True if patterns find the memory that is meant.
fn is_understood(one: &ForgetRequest, turns: &[Turn], at: usize) -> bool {
    let sentence = Turn {
        text: one.sentence.clone(),
        ..turns[at].clone()
    };
    let found = facts_by_patterns(&sentence, turns, at);
    found.iter().any(|fact| fact.kind == FactKind::Retraction)
}

fn begins_with(turn: &Turn, one: &ForgetRequest) -> bool {
    let first = |text: &str| text.split_whitespace().next().map(str::to_lowercase);
    first(&turn.text) == first(&one.sentence)
        || forget_requests(&turn.text).len() == 1 && turn.text.lines().count() == 1
}

/// What the answer says of a request: that it is not done, and what does it.
fn not_done(one: &ForgetRequest, request: &AddRequest) -> String {
    let quoted = |word: &str| match word.contains(|c: char| !c.is_alphanumeric()) {
        true => format!("'{}'", word.replace('\'', "'\\''")),
        false => word.to_owned(),
    };
    match (&one.about, &request.scope.user) {
        (Some(name), Some(user)) => format!(
            "not done: nothing was forgotten; \"amemctl fact forget {} --entity {}\" shows and erases what names {name}",
            quoted(user),
            quoted(name)
        ),
        (Some(_), None) | (None, _) => {
            "not done: which memory is meant is not clear; say \"forget that …\" with its words, or end it with \
             \"amemctl fact delete ID\" (\"amemctl fact search\" finds it)"
                .to_owned()
        }
    }
}
