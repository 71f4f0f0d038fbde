//! Every query, on a view.
//!
//! A query is a request (`Pattern { limit: 10, ..Default::default() }`) that is run on a view and gives an
//! answer; every answer names the instance and the LSN that it is from. The moment a query is about is the
//! view's: `View::as_of` makes one of an earlier moment. Answers name events by id: their fields are read
//! from the same view.
//!
//! Promises: an answer is a function of the file and the request (P7); every list is limited; ties have a
//! stated order; what is forgotten is shown only on request.

#![forbid(unsafe_code)]

pub mod answer;
pub mod context;
pub mod embed;
pub mod events;
pub mod filter;
pub mod graph;
pub mod limits;
pub mod nearest;
pub mod pipeline;
pub mod planner;
pub mod search;
pub mod summary;
pub mod text;
pub mod time;

pub use answer::Answered;
pub use context::{Context, Counter, Packed};
pub use events::{
    Get, Got, Matches, Moments, Named, Order, Pattern, SessionPage, Sessions, ShowSession, Shown,
    State, Timeline,
};
pub use graph::{
    Conflict, Conflicts, Disagreements, Follow, Impact, Link, Path, Resolve, Resolved, Route, Step,
    Traverse, Tree, Via, Why,
};
pub use nearest::{Alike, Like, Similar};
pub use pipeline::{Flow, Pipeline, RankBy, Reach, Row, Source, Stage, Weights};
pub use planner::{Axis, Bounds, Scope, Seen, Selection, Sight, Window};
pub use search::{Hit, Hits, Ranking, Search, Text};
