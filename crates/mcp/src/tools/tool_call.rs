//! From the name of a tool to its file.

use super::{correct, forget, recall, remember, timeline, why};
use crate::arguments::{Arguments, Words};
use crate::calls::MemoryCalls;
use crate::memories::Memories;

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
