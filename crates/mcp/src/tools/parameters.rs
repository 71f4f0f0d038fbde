//! Parameters that several tools have.

use serde_json::{Value, json};

use crate::arguments::{Arguments, Words};
use crate::limits::{TOKENS_DEFAULT, TOKENS_MAX, TOKENS_MIN};
use crate::memory_place::Reach;

/// Which memories, as arguments say it.
pub(crate) const REACHES: [(&str, Reach); 3] = [
    ("project", Reach::Project),
    ("user", Reach::User),
    ("all", Reach::All),
];

/// The budget of an answer.
pub(crate) fn tokens(arguments: &mut Arguments<'_>) -> Words<u64> {
    let asked = arguments.number("max_tokens", TOKENS_MIN, TOKENS_MAX)?;
    Ok(asked.unwrap_or(TOKENS_DEFAULT))
}

/// The condition on kinds for a type that recall names; what conversations gave has finer ones.
pub(crate) fn condition(kind: &str) -> Value {
    match kind {
        "fact" => json!({"kind": {"in": ["fact", "preference", "event"]}}),
        "decision" => json!({"kind": {"in": ["decision", "plan"]}}),
        kind => json!({"kind": kind}),
    }
}
