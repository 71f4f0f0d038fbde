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
mod readers;
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
pub use whole::WholeFile;

use amem_store::disk::Disk;
use amem_store::folder::{CONFLICTS, OWN, RECOVERED, TMP};

use crate::disk::SimDisk;

/// A disk with our folders, of an earlier start: where those are made in the run whose operations fail, they may be
/// gone, with all that is kept in them, as their own sync failed.
fn with_our_folders(disk: SimDisk) -> SimDisk {
    for folder in [TMP, RECOVERED, CONFLICTS] {
        disk.create_folder(folder).expect("a sound disk");
    }
    for folder in ["", OWN] {
        disk.sync_folder(folder).expect("a sound disk");
    }
    disk
}
