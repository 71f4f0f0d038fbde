//! The single writer of a brain: validation, journal, group commit, checkpoint, recovery.
//!
//! Synchronous and deterministic: everything outside, time and chance included, comes through one trait,
//! `disk::Disk`, so that a test can be the disk and enumerate every crash. (How long a sync took is measured beside it,
//! for figures; nothing depends on it.)
//!
//! Promises: one writer (P1); a published base never changes in place (P2); an answered write survives
//! `kill -9` and power loss, an unanswered one is there whole or not at all (P3); a commit costs in
//! proportion to itself (P5). Not here: queues, schedules and the network (`amemd`).

#![forbid(unsafe_code)]

pub mod adoption;
mod belief;
pub mod checkpoint;
pub mod create;
pub mod disk;
pub mod error;
pub mod folder;
mod folding;
mod frames;
pub mod incoming;
pub mod kept;
pub mod merge;
pub mod mutation;
mod place;
mod plan;
mod recovery;
mod requests;
mod similar;
mod space;
pub mod store;
mod unnamed;
pub mod whole;

pub use adoption::Standing;
pub use checkpoint::{Checkpoint, Retired};
pub use create::{Create, create, import};
pub use error::{Error, Result};
pub use folder::{Folder, Readers};
pub use folding::SideBySide;
pub use incoming::{Imported, Incoming, Misfits};
pub use merge::{Merged, Other};
pub use mutation::{Answer, Mutation, Request};
pub use place::{Held, Saved};
pub use store::Store;
