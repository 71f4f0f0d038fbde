//! What a store is asked to do while it is crashed, and what must be left of it.
//!
//! A `Script` is a brain's life: how it began, and steps. An `Oracle` plays it undisturbed and remembers what
//! the brain showed after each transaction, at every moment. A `Trial` plays it on a disk that is crashed, and
//! holds what is left against the oracle. A `Process` is what the store sees of the disk: the script's clock,
//! and, if that is asked for, a `Flaw`, by which the protocol is broken so that the proof can be seen to fail.
//!
//! Not here: which states crashes leave (`crash`), how many of them are tried (`tests/crash.rs`).

mod all;
mod arrival;
mod ask;
mod flaw;
mod flawed;
mod oracle;
mod picture;
mod process;
mod removal;
mod script;
mod trial;
mod whole;

pub use all::{all, erasing, faulty, in_steps, kinds, replaced};
pub use arrival::Arrival;
pub use flaw::Flaw;
pub use oracle::Oracle;
pub use process::{Phase, Process};
pub use removal::Removal;
pub use script::{Ask, Script, Secret, Step};
pub use trial::{NAME, Trial};
pub use whole::Written;
