//! The single writer of a brain: validation, journal, group commit, checkpoint, recovery.
//!
//! ```
//! use std::sync::Arc;
//!
//! use amem_format::EventType;
//! use amem_store::disk::os::OsDisk;
//! use amem_store::mutation::{Ingest, Mutation, NewEvent, Request};
//! use amem_store::{Folder, NewBrain, Store};
//!
//! # let path = tempfile::tempdir()?;
//! let folder = Folder::open(Arc::new(OsDisk::new(path.path())?), "an example")?;
//! amem_store::create(&folder, "work", &NewBrain::default())?;
//! let mut store = Store::open(&folder, "work")?;
//!
//! let event = NewEvent::new(EventType::FACT, "Ada runs the build");
//! let ingest = Ingest { events: vec![event], ..Ingest::default() };
//! for answer in store.commit(&[Request::new(Mutation::Ingest(ingest))]) {
//!     let stored = answer?;
//!     assert_eq!(store.view().node(stored.ids[0])?.text()?, "Ada runs the build");
//! }
//! store.close()?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Synchronous and deterministic: files, time and randomness come through one trait, `disk::Disk`, so that tests
//! can simulate the disk and enumerate every crash. (Sync times are measured directly, for metrics only.)
//!
//! Modules, from the ground up: `limits`, `error`, `range`, `disk`, `base_builder`, `mutation`, `merge` (compares two
//! brains),
//! `plan` (from a mutation to operations), `names` (whose file has which name), `log` (commits, checkpoints, recovery).
//!
//! Promises: one writer (P1); a published base never changes in place (P2); an answered write survives
//! `kill -9` and power loss, an unanswered one is there whole or not at all (P3); a commit costs in
//! proportion to itself (P5). Not here: queues, schedules and the network (`amemd`).

#![forbid(unsafe_code)]

mod base_builder;
pub mod disk;
mod error;
pub mod limits;
mod log;
mod merge;
pub mod mutation;
mod names;
mod plan;
mod range;

pub use base_builder::ScopedThreads;
pub use error::{Error, Result, SavedFile};
pub use log::checkpoint::Checkpoint;
pub use log::erase::{has_text_of, whole_in};
pub use log::install::RetiredGeneration;
pub use log::reembedding::{EventEmbedder, Reembedding};
pub use log::store::{OpenHandle, Store};
pub use merge::origin::ORIGIN;
pub use mutation::{Answer, MergeReport, MergeSource, Mutation, Request};
pub use names::adoption::adopt;
pub use names::create::{NewBrain, create, import};
pub use names::folder::{self, Folder, Readers};
pub use names::incoming::{ImportReport, IncomingFile, LossyConversions};
pub use names::ownership::{Ownership, ownership};
pub use names::untracked::OriginalFile;

/// Files in quarantine.
pub mod quarantine {
    pub use crate::names::folder::{QuarantineNotice, QuarantineReason};
    pub use crate::names::quarantine::{QuarantinedFile, discard, find, list, listed};
    pub use crate::names::restore::{read, restore, take};
}
