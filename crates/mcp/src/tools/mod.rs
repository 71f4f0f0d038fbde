//! The six tools.

mod correct;
mod forget;
mod recall;
mod remember;
mod timeline;
mod why;

use serde_json::{Value, json};

use crate::arguments::{Arguments, Words};
use crate::calls::MemoryCalls;
use crate::limits::{TOKENS_DEFAULT, TOKENS_MAX, TOKENS_MIN};
use crate::memories::Memories;
use crate::place::Reach;

pub(crate) use timeline::by_day;

/// Which memories, as arguments say it.
pub(crate) const REACHES: [(&str, Reach); 3] = [
    ("project", Reach::Project),
    ("user", Reach::User),
    ("all", Reach::All),
];

/// Runs a tool; `None` if it is none of the six.
pub(crate) async fn run<C: MemoryCalls>(
    memories: &Memories<'_, C>,
    tool: &str,
    arguments: Arguments<'_>,
) -> Option<Words<String>> {
    Some(match tool {
        "recall" => recall::run(memories, arguments).await,
        "remember" => remember::run(memories, arguments).await,
        "correct" => correct::run(memories, arguments).await,
        "why" => why::run(memories, arguments).await,
        "timeline" => timeline::run(memories, arguments).await,
        "forget" => forget::run(memories, arguments).await,
        _ => return None,
    })
}

/// The budget of an answer.
pub(crate) fn tokens(arguments: &mut Arguments<'_>) -> Words<u64> {
    let asked = arguments.number("max_tokens", TOKENS_MIN, TOKENS_MAX)?;
    Ok(asked.unwrap_or(TOKENS_DEFAULT))
}

/// The condition on kinds for a type that recall names; what conversations gave has finer ones.
fn condition(kind: &str) -> Value {
    match kind {
        "fact" => json!({"kind": {"in": ["fact", "preference", "event"]}}),
        "decision" => json!({"kind": {"in": ["decision", "plan"]}}),
        kind => json!({"kind": kind}),
    }
}
