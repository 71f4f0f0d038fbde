//! The folder's brains: opening, listing, creating, adopting, rescuing and removing them.
//!
//! Promises: a brain is opened once at a time, however many callers ask and whichever of them leaves; a brain that
//! can't be opened is listed with the reason and keeps no other from being served. A file that is being adopted becomes
//! a whole brain or none; a brain that was open here, even if it is closed by now, does not end with its file's name.
//! Not here: who may ask.

mod engine;
mod opening;

mod known_brains;
mod listing;
mod problems;
mod summary;

mod file_modes;
mod in_place;
mod quarantine;
mod readers;

mod adoption;
mod invalid_names;
mod originals;
mod rescue;

pub(crate) use adoption::{AdoptionOutcome, NameState};
pub use engine::Engine;
pub use known_brains::BrainIdentity;
pub use problems::{NamedProblem, Problem};
