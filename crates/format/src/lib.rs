//! The core of amemd: bytes to graph and back, read only.
//!
//! A brain is one `.amem` file: an immutable *base*, and a *journal* of what came since. This crate
//! maps that file, replays the journal into a *delta*, and answers every query on a *view*: base and
//! delta up to one LSN.
//!
//! Promises: bytes are untrusted until validated (P6); a view is consistent (P4); following a commit
//! costs in proportion to the commit (P5); answers are a function of the file and the request (P7).
//! Not here: writing brains, locks and durability (`amem-store`), network and schedules (`amemd`).

#![deny(unsafe_code)]

pub mod base;
pub mod brain;
pub mod bytes;
pub mod delta;
pub mod embed;
pub mod error;
pub mod event;
pub mod fold;
pub mod foreign;
pub mod journal;
pub mod limits;
pub mod mapping;
mod nearest;
mod publish;
pub mod query;
pub mod reader;
pub mod repair;
mod simd;
pub mod spec1;
pub mod summary;
mod sync;
pub mod text;
pub mod types;
pub mod verify;
pub mod view;

pub use error::{Error, Result};
pub use event::{Edge, Event, Graph};
pub use types::{ActorId, EdgeType, EventType, Flags, Generation, Lsn, Micros, NodeId, SessionId};
