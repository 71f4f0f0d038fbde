//! The server of `amemctl mcp`: a thin process between a client's pipes and amemd.

mod daemon_calls;
mod daemon_link;
mod project_source;
mod stdio;

pub(crate) use daemon_calls::DaemonCalls;
pub(crate) use project_source::{
    ProjectSource, SourceOptions, allowed_file, allowed_projects, folder_place, memory_place,
};
pub(crate) use stdio::serve;
