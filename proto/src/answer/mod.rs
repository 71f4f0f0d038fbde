//! Answers: computes the response message from a request of amem.v1 and a view.
//!
//! The daemon uses it for calls and the client library for direct reads, so both return the same messages for the same
//! view.
//!
//! Promises: requests are untrusted, and an invalid one is a `Refusal` with a reason; an answer is a function of
//! request and view (P7), and never larger than `limits::ANSWER_BYTES_MAX`. Not here: the meaning of queries
//! (`amem_query`), permissions and admission (`amemd`).

mod code;
mod question;
mod refusal;

mod conflicts;
mod context;
mod events;
mod graph;
mod listing;
mod pipeline;
mod ranking;
mod sessions;

mod event;
mod selection;
mod word;

pub use code::Code;
pub use question::{AnswerWithTouches, Evaluate, Question};
pub use refusal::{DOMAIN, Refusal, Result};
pub use word::{
    as_of, edge_type, edge_types, event_type, event_types, micros, moment, space, timestamp,
    type_number,
};
