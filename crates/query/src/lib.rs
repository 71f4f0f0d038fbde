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

pub mod limits;

pub mod embed;
pub mod summary;

pub mod conflicts;
pub mod get;
pub mod impact;
mod paged;
pub mod path;
pub mod pattern;
pub mod resolve;
pub mod search;
pub mod sessions;
pub mod similar;
pub mod text;
pub mod timeline;
pub mod traverse;
pub mod why;

pub mod context;
pub mod pipeline;
mod places;

pub mod bm25;

pub mod answer;
pub mod cursor;
pub mod filter;
pub mod rank;
pub mod scope;
pub mod selection;
pub mod time;
pub mod time_phrase;
pub mod walk;

mod cosines;
mod driver;
mod everyone;
mod fading;
mod happened;
mod heads;
mod keyword;
mod lenders;
mod listing;
mod own;
mod rest;
mod selected;
mod strongest;
mod subject;
mod values;

pub use answer::Answered;
pub use conflicts::{Conflict, Conflicts, Disagreements};
pub use context::{Context, Counter, Packed};
pub use get::{Get, Got};
pub use impact::Impact;
pub use path::{Path, Route};
pub use pattern::{Matches, Order, Pattern};
pub use pipeline::{Flow, Pipeline, RankBy, Reach, Row, Source, Stage, Weights};
pub use rank::Axis;
pub use resolve::{Link, Resolve, Resolved};
pub use scope::{Scope, Seen, Sight};
pub use search::{Hit, Ranking, Search};
pub use selection::{Bounds, Selection, Window};
pub use sessions::{Named, SessionPage, Sessions, ShowSession, Shown, State};
pub use similar::{Alike, Like, Similar};
pub use text::{Hits, Text};
pub use timeline::{Moments, Timeline};
pub use traverse::Traverse;
pub use walk::{Follow, Step, Tree, Via};
pub use why::Why;
