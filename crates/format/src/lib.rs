//! The format: bytes to graph, read only.
//!
//! ```
//! use amem_format::base::settings::Settings;
//! use amem_format::base_builder;
//! use amem_format::reader::Reader;
//! use amem_format::{Lsn, Micros};
//!
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("work.amem");
//! # let id = uuid::Uuid::from_u128(1);
//! # let identity = base_builder::new_identity(id, id, uuid::Uuid::nil(), Micros(1));
//! // An empty brain: a base, and behind it a journal without commits.
//! let mut bytes = Vec::new();
//! let end = base_builder::empty(&identity, 0, &Settings::default(), &mut bytes)?;
//! base_builder::journal(&identity, 0, end, &mut bytes)?;
//! std::fs::write(&path, &bytes)?;
//!
//! let reader = Reader::open(&path)?;
//! let view = reader.view()?;
//! assert_eq!(view.instance(), identity.instance);
//! assert_eq!((view.lsn(), view.nodes()), (Lsn(0), 0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A brain is one `.amem` file: an immutable *base*, and a *journal* of later commits. This crate maps that file,
//! replays the journal into a *delta*, and returns a *view*: base and delta up to one LSN. It also builds the bytes of
//! a new base from a view.
//!
//! Promises: bytes are untrusted until validated (P6); a view is consistent (P4); following a commit
//! costs in proportion to the commit (P5).
//! Not here: queries (`amem-query`), other layouts (`amem-interop`), verifying and repairing (`amem-doctor`), writing
//! brains, locks and durability (`amem-store`), network and schedules (`amemd`).

#![deny(unsafe_code)]

pub mod display;
pub mod error;
pub mod event;
pub mod limits;
pub mod stamp;
pub mod types;

pub mod bytes;

pub mod append;
pub mod mapping;
mod publish;
mod sync;

pub mod analyzer;
pub mod attributes;
pub mod other_space;

pub mod base;
pub mod delta;
pub mod dictionary;
pub mod journal;

pub mod brain;
pub mod reader;
pub mod view;

pub mod nearest;
pub mod spelling;
pub mod top;
pub mod vectors;

pub mod base_builder;

pub use error::{Error, Result};
pub use event::{Edge, Event, Graph};
pub use types::{ActorId, EdgeType, EventType, Flags, Generation, Lsn, Micros, NodeId, SessionId};
