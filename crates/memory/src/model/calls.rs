//! Calls A and B with their retries: what is refused is stepped down, a rate is waited for, a cut answer goes again
//! once in halves.

use std::time::Duration;

use super::form::{FormTable, ReplyForm};
use super::port::{Model, ModelFailure, ModelReply, ModelRequest};
use super::prompts::{decide_request, extract_request};
use crate::conversation::{Turn, TurnUse};
use crate::pending::PendingReason;
use crate::replies::{ModelDecision, ModelFact, decisions_in, facts_in_reply};

/// Calls and tokens of an add.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct CallCount {
    /// Calls, retries included.
    pub(crate) calls: u32,
    /// Those that repeated one before.
    pub(crate) retries: u32,
    pub(crate) tokens_in: u64,
    pub(crate) tokens_out: u64,
    pub(crate) millis: u64,
}

/// How a call ended without an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum CallFailure {
    /// Try again later.
    Pending(PendingReason, String),
    /// No form gave an answer that can be read.
    Malformed(String),
}

/// Pauses where the provider names none.
const RATE_PAUSES: [Duration; 3] = [
    Duration::from_secs(1),
    Duration::from_secs(2),
    Duration::from_secs(4),
];

/// A model during one add.
struct Session<'m> {
    model: &'m dyn Model,
    forms: &'m FormTable,
    count: &'m mut CallCount,
}

impl Session<'_> {
    /// Asks until an answer can be read, form by form; `read` says whether it can.
    fn ask<T>(
        &mut self,
        request: impl Fn(ReplyForm) -> ModelRequest,
        read: impl Fn(&str) -> Option<T>,
    ) -> Result<(T, bool), CallFailure> {
        let key = self.model.key();
        let mut form = self.forms.form(&key);
        let mut is_first = true;
        loop {
            let answered = self.patient(&request(form), is_first);
            is_first = false;
            let why = match answered {
                Ok(reply) => match read(&reply.text) {
                    Some(found) => return Ok((found, reply.is_cut)),
                    None => "the answer has no facts in it".to_owned(),
                },
                Err(ModelFailure::FormRefused(why)) => {
                    if let Some(next) = form.next() {
                        self.forms.set(&key, next);
                    }
                    why
                }
                Err(ModelFailure::RateLimit(_)) => {
                    return Err(CallFailure::Pending(
                        PendingReason::RateLimit,
                        "too many requests".into(),
                    ));
                }
                Err(ModelFailure::Unreachable(why)) => {
                    return Err(CallFailure::Pending(PendingReason::Unreachable, why));
                }
                Err(ModelFailure::Refused(why)) => {
                    return Err(CallFailure::Pending(PendingReason::Refused, why));
                }
                Err(ModelFailure::Budget(why)) => {
                    return Err(CallFailure::Pending(PendingReason::Budget, why));
                }
            };
            form = form.next().ok_or(CallFailure::Malformed(why))?;
        }
    }

    /// One call; a refused rate is waited for three times.
    fn patient(
        &mut self,
        request: &ModelRequest,
        is_first: bool,
    ) -> Result<ModelReply, ModelFailure> {
        let mut is_retry = !is_first;
        for pause in RATE_PAUSES {
            match self.once(request, is_retry) {
                Err(ModelFailure::RateLimit(after)) if self.model.wait(after.unwrap_or(pause)) => {
                    is_retry = true
                }
                answered => return answered,
            }
        }
        self.once(request, true)
    }

    fn once(&mut self, request: &ModelRequest, is_retry: bool) -> Result<ModelReply, ModelFailure> {
        self.count.calls += 1;
        self.count.retries += u32::from(is_retry);
        let reply = self.model.call(request)?;
        self.count.tokens_in += reply.tokens_in;
        self.count.tokens_out += reply.tokens_out;
        self.count.millis += reply.millis;
        Ok(reply)
    }
}

/// Call A: the facts of turns, unchecked. `prompt` is the caller's own system message.
pub(crate) fn extract_by_model(
    model: &dyn Model,
    forms: &FormTable,
    turns: &[Turn],
    prompt: Option<&str>,
    count: &mut CallCount,
) -> Result<Vec<ModelFact>, CallFailure> {
    let all: Vec<(usize, &Turn)> = turns.iter().enumerate().collect();
    let mut session = Session {
        model,
        forms,
        count,
    };
    let (mut facts, is_cut) =
        session.ask(|form| extract_request(&all, form, prompt), facts_in_reply)?;
    if !is_cut {
        return Ok(facts);
    }
    // What no whole item cites may be lost with the end of the answer: these turns go again once, in halves.
    let uncited = all.iter().filter(|(at, turn)| {
        turn.used_for == TurnUse::Extract && !facts.iter().any(|fact| fact.turns.contains(at))
    });
    let uncited: Vec<_> = uncited.copied().collect();
    let middle = uncited.len().div_ceil(2);
    for half in [&uncited[..middle], &uncited[middle..]] {
        if half.is_empty() {
            continue;
        }
        let again = session.patient(
            &extract_request(half, session.forms.form(&session.model.key()), prompt),
            false,
        );
        // A failure here loses nothing that was read before.
        if let Ok(reply) = again {
            facts.extend(facts_in_reply(&reply.text).unwrap_or_default());
        }
    }
    Ok(facts)
}

/// A fact of call B and its candidates' texts.
pub(crate) struct DecisionQuestion<'t> {
    pub(crate) fact: usize,
    pub(crate) text: &'t str,
    pub(crate) candidates: Vec<&'t str>,
}

/// Call B: decisions on facts that rules leave open, unchecked.
pub(crate) fn decide_by_model(
    model: &dyn Model,
    forms: &FormTable,
    questions: &[DecisionQuestion<'_>],
    count: &mut CallCount,
) -> Result<Vec<ModelDecision>, CallFailure> {
    let facts: Vec<_> = questions
        .iter()
        .map(|one| (one.fact, one.text, one.candidates.clone()))
        .collect();
    let mut session = Session {
        model,
        forms,
        count,
    };
    let (decisions, _) = session.ask(|form| decide_request(&facts, form), decisions_in)?;
    Ok(decisions)
}
