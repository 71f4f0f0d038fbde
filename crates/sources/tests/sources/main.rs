//! Every kind of source with its traps, from files that the tests write.
#![forbid(unsafe_code)]
#![expect(
    clippy::unwrap_used,
    reason = "a helper that fails is a test that fails"
)]

mod chats;
mod claude_code;
mod clients;
mod exports;
mod hostile;
mod mcp_memory;
mod notes;
mod stores;
mod support;
mod zip_writer;
