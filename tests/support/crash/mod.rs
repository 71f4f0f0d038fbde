//! What a power cut may leave, and whether a store survives it.
//!
//! `Medium` says which changes of a log are certain to be durable at each point and which are not;
//! `crash_states` enumerates what may be left; `prove` runs a `Scenario`, opens every such state with it, and
//! crashes those recoveries too; `sweep` makes operations fail and does the same.
//!
//! The model, more pessimistic than any one file system:
//! - a write that no successful sync of its file followed survives whole, not at all, or in any of its
//!   512-byte sectors; in the last two cases the file may have grown by it nonetheless, with zeros;
//! - a name's change that no sync of its folder followed may be lost, with all later changes of that name; a
//!   rename within a folder and an exchange survive whole or not at all as long as neither folder was synced;
//!   the two halves of a rename across folders are independent, so the file may have both names, or none (but for a
//!   disk `with_whole_renames`);
//! - a folder must survive for what is in it to;
//! - a failed sync leaves what it was to make durable uncertain, and no later sync changes that (but on a disk
//!   `with_whole_renames` that of the other folder of a rename);
//! - a cell (eight aligned bytes) is within a sector, so it is never torn;
//! - after `kill -9` everything is there, and as uncertain as before.
//!
//! Not modelled: sectors that hold what was never written; a medium that loses what it had made durable.

mod choice;
mod examine;
mod medium;
#[cfg(test)]
mod model;
mod prove;
mod scenario;
mod states;
mod sweep;
#[cfg(test)]
mod tests;
mod tiers;
#[cfg(test)]
mod toy;
mod violation;

pub use choice::{AtomId, Choice, Half, Survival};
pub use examine::Recovery;
pub use medium::Medium;
pub use prove::{Plan, Report, prove, prove_on, replay};
pub use scenario::{Scenario, Trace};
pub use states::{CrashState, CrashStates, crash_states};
pub use sweep::{Sweep, sweep};
pub use violation::{Breach, Violation};
