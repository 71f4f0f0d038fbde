//! Every kind of source with its traps, from files that the tests write.

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
