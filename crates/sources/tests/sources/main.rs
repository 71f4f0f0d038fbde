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
mod ledger;
mod mcp_memory;
mod notes;
mod stores;
mod support;
mod traps;
mod written;
mod zip_writer;
