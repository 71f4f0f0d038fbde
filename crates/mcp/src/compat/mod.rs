//! Tools by the names and shapes of other memory servers, for prompts and clients that know those.

mod graph;
mod mem0;
mod openai;

use crate::arguments::{Arguments, Words};
use crate::calls::MemoryCalls;
use crate::catalogue::CompatSet;
use crate::memories::Memories;

/// Runs a tool of a set; `None` if the set has no such tool.
pub(crate) async fn run<C: MemoryCalls>(
    memories: &Memories<'_, C>,
    set: CompatSet,
    tool: &str,
    arguments: Arguments<'_>,
) -> Option<Words<String>> {
    match set {
        CompatSet::Mem0 => mem0::run(memories, tool, arguments).await,
        CompatSet::Memory => graph::run(memories, tool, arguments).await,
        CompatSet::Openai => openai::run(memories, tool, arguments).await,
    }
}
