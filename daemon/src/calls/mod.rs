//! What the calls of amem.v1 do, in messages of `amem_proto` and for any protocol.
//!
//! A protocol identifies the caller (`Caller`) and gives `dispatch` the path of a call and the bytes of its request; it
//! encodes the answer or the refusal. Behind that:
//! `Gateway::ask_as` answers a question from a view, `Gateway::write_as` executes a change, `Gateway::fact_as` a
//! request about facts, `Gateway::call_as` does everything else with one request and one answer; each stream has a
//! function of its own.
//!
//! Promises: a request is checked once, before a brain is opened; a refusal says what is valid.
//! Not here: who may call, and how often (`ingress`); codes and frames of a protocol (`grpc`); what a question means
//! (`amem_proto::answer`); what a mutation does (`amem_store`).

pub(crate) mod gateway;

pub(crate) mod dispatch;

mod changes;
mod command;
mod validate;

mod admin;
mod brain;
mod erase;
mod memory;
mod quarantined_files;

mod vectors;

pub(crate) mod late_vectors;
mod reembed;

mod fact_brain;
pub(crate) mod fact_memory;
mod fact_messages;
pub(crate) mod fact_retries;
mod standing_reads;

mod facts;

mod entities;
mod fact_batches;
pub(crate) mod fact_export;
mod fact_feedback;
mod fact_review;

pub(crate) mod caller_memory;
mod given;
mod hooks;

mod item_memory;
mod item_messages;
mod items;

mod tokens;

mod answers;
pub(crate) mod ingest_stream;
pub(crate) mod merge;
pub(crate) mod subscribe;
pub(crate) mod transfer;

mod change_feed;
mod status;

pub(crate) use answers::{AnswerLease, AnswerStream};
pub use command::IntoCommand;
pub(crate) use gateway::Gateway;
pub use validate::Validate;
