//! The server of `amemctl mcp`: a thin process between a client's pipes and amemd.

mod daemon_calls;
mod daemon_link;
mod project_source;
mod stdio;

pub(crate) use project_source::{ProjectSource, SourceOptions, memory_place};
pub(crate) use stdio::serve;
