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

mod base_builder;
pub mod disk;
pub mod error;
mod log;
pub mod merge;
pub mod mutation;
mod names;
mod plan;

pub use base_builder::SideBySide;
pub use disk::atomic_file as whole;
pub use error::{Error, Result};
pub use log::checkpoint::{Checkpoint, Retired};
pub use log::path_check::{Held, Saved};
pub use log::store::Store;
pub use log::{checkpoint, store};
pub use merge::{Merged, Other};
pub use mutation::{Answer, Mutation, Request};
pub use names::adoption::Standing;
pub use names::create::{Create, create, import};
pub use names::folder::{Folder, Readers};
pub use names::incoming::{Imported, Incoming, Misfits};
pub use names::{adoption, create, folder, incoming, quarantine as kept};
