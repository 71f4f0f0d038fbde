//! What can be asked of a view.
//!
//! ```
//! use amem_query::{Pattern, TextSearch};
//!
//! # use amem_format::base::settings::Settings;
//! # use amem_format::base_builder::{build::Build, new_identity};
//! # use amem_format::journal::op::{NewNode, Op};
//! # let id = uuid::Uuid::from_u128(1);
//! # let now = amem_format::Micros(1);
//! # let mut build = Build::new(&new_identity(id, id, uuid::Uuid::nil(), now), 0, &Settings::default())?;
//! # for (id, text) in ["Ada runs the build", "Grace keeps the books"].into_iter().enumerate() {
//! #     build.push(&Op::Event(NewNode {
//! #         id: amem_format::NodeId(id as u64),
//! #         event_type: amem_format::EventType::FACT,
//! #         session: amem_format::SessionId(0),
//! #         created_at: now,
//! #         event_time: None,
//! #         confidence: 1.0,
//! #         lambda: 0.0,
//! #         text,
//! #         attributes: "",
//! #         vector: &[],
//! #         carried: None,
//! #     }))?;
//! # }
//! # let view = build.finish()?;
//! let search = TextSearch { question: "who runs the build?".into(), ..TextSearch::default() };
//! let found = search.run(&view)?;
//! assert_eq!(view.node(found.hits[0].id)?.text()?, "Ada runs the build");
//!
//! let all = Pattern { limit: 10, ..Pattern::default() }.run(&view)?;
//! assert_eq!(all.ids.len(), 2);
//! # Ok::<(), amem_format::Error>(())
//! ```
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
