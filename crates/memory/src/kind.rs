//! What a fact is, and what found it.

use serde::{Deserialize, Serialize};

/// What a fact is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FactKind {
    /// Something that is so.
    Fact,
    /// What is liked, or how things should be done.
    Preference,
    /// Something that happened.
    Event,
    /// Something ahead.
    Plan,
    /// Something chosen.
    Decision,
    /// Something concluded.
    Inference,
    /// Replaces an earlier belief.
    Correction,
    /// How to do something, or that it can be done.
    Skill,
    /// What happened, told in short: in a session, for example.
    Episode,
    /// "Forget that …": it has no content of its own, and ends the memory that it names.
    Retraction,
}

/// What found a fact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FactSource {
    /// A pattern.
    Pattern,
    /// A model.
    Model,
    /// The caller, with `infer` off.
    Caller,
}
