//! One turn asked in one form: what a probe of a model counts.

use amem_format::types::Micros;

use super::form::ReplyForm;
use super::port::{Model, ModelFailure};
use super::prompts::extract_request;
use crate::check::{Grounds, check};
use crate::conversation::{Role, Turn, TurnUse};
use crate::fact::ExtractedFact;
use crate::hash::text_hash;
use crate::kind::FactSource;
use crate::language::TurnLanguage;
use crate::replies::facts_in_reply;
use crate::validity::Validity;

/// What came of one turn.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FormTrial {
    /// True if the answer can be read, also if there is no fact in it.
    pub is_readable: bool,
    /// Facts.
    pub facts: usize,
    /// Facts that pass the checks: the turn has their words.
    pub grounded: usize,
}

/// Asks for the facts of an English turn, in one form and without retries.
///
/// # Errors
/// If the model does not answer.
pub fn try_form(model: &dyn Model, form: ReplyForm, text: &str) -> Result<FormTrial, ModelFailure> {
    let turn = Turn {
        message: 0,
        role: Role::User,
        name: None,
        text: text.to_owned(),
        time: Micros(0),
        hash: text_hash(text),
        used_for: TurnUse::Extract,
        language: TurnLanguage::English,
    };
    let reply = model.call(&extract_request(&[(0, &turn)], form, None))?;
    let Some(facts) = facts_in_reply(&reply.text) else {
        return Ok(FormTrial::default());
    };
    let grounds = Grounds::of([(text, TurnLanguage::English)].into_iter(), [].into_iter());
    let count = facts.len();
    let checked = facts.into_iter().map(|fact| ExtractedFact {
        text: fact.text,
        kind: fact.kind,
        source: FactSource::Model,
        family: "",
        confidence: 0.0,
        turns: vec![0],
        because: Vec::new(),
        is_correcting: false,
        graph: Default::default(),
        validity: Validity::default(),
    });
    Ok(FormTrial {
        is_readable: true,
        facts: count,
        grounded: checked.filter(|fact| check(fact, &grounds).is_ok()).count(),
    })
}
