//! Every kind of source with its traps, from files that the tests write.

mod claude_code;
mod mcp_memory;
mod notes;
mod support;
