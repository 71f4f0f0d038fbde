//! What the calls of amem.v1 do, in messages of `amem_proto` and for any protocol.
//!
//! A protocol finds out who calls (`Caller`), decodes a request, hands it in and encodes the answer or the refusal:
//! `Gateway::ask_as` answers a question from a view, `Gateway::write_as` has a change executed, `Gateway::call_as` does
//! everything else that has one request and one answer; streams have a function each.
//!
//! Promises: a request is checked once, before any brain is looked at; a refusal says in words what would be right.
//! Not here: who may call, and how often (`access`, `door`); gRPC (`grpc`); what a question means
//! (`amem_proto::answer`); what a mutation does (`amem_store`).

pub(crate) mod gateway;

mod changes;
mod command;
mod validate;

mod admin;
mod brain;
mod erase;
mod memory;
mod quarantined_files;
mod tokens;

mod answers;
pub(crate) mod ingest_stream;
pub(crate) mod merge;
pub(crate) mod subscribe;
pub(crate) mod transfer;

mod change_feed;
mod status;

pub use command::IntoCommand;
pub(crate) use gateway::Gateway;
pub use validate::Validate;
