//! What can be asked of a view.
//!
//! A query is a request, such as `Pattern { limit: 10, ..Default::default() }`. `run` answers it from a view. To ask
//! about an earlier moment, run it on `View::as_of`. Answers name events by id; read their fields from the same view.
//!
//! The root shows the requests and what they share. Answers and their parts are in the modules.
//!
//! Promises: an answer is a function of the file and the request (P7) and names the instance and LSN that it is from;
//! every list is limited; ties have a stated order; forgotten events appear only on request.

#![forbid(unsafe_code)]

pub mod answer;
pub mod limits;
pub mod time;
pub mod time_phrase;

pub mod filter;
pub mod planner;

pub mod events;
pub mod graph;
pub mod nearest;
pub mod search;
pub mod text;

mod sentences;

pub mod context;
pub mod pipeline;

pub mod embed;
pub mod summary;

pub use context::ContextRequest;
pub use events::{Get, ListSessions, Order, Pattern, ShowSession, Timeline};
pub use graph::{Follow, Impact, ListConflicts, Resolve, ShortestPath, Traverse, Why};
pub use nearest::{Similar, SimilarityTarget};
pub use pipeline::Pipeline;
pub use planner::{AuthorNames, Axis, Scope, Selection, ValueRange, Window};
pub use search::{Search, TextSearch};
