//! Answers: from a request of amem.v1 and a view to the message that answers it.
//!
//! The daemon answers calls by this, and the client's library what it reads from the file itself, so that both give
//! the same messages for the same view.
//!
//! Promises: a request is untrusted, what is wrong with it is a `Refusal` by name; an answer is a function of the
//! request and the view (P7), and never larger than `limits::ANSWER_BYTES_MAX`.
//! Not here: what a query means (`amem_query`); who may ask, and when (`amemd`).

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
pub use question::{Answered, Evaluate, Question};
pub use refusal::{DOMAIN, Refusal, Result};
pub use word::{
    as_of, edge_type, edge_types, event_type, event_types, micros, moment, space, timestamp,
    type_number,
};
