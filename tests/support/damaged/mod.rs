//! Damage done to a file on purpose, and what is reported of it.
//!
//! `brain` makes a brain of 128 KiB with everything in it, the same bytes each time; `IntactBrain` is that brain with
//! its parts and all that it shows after each commit; `IntactBrain::judge` compares a damaged copy with it.
//!
//! Not here: which bits, cuts and pages are tried (`tests/damage`).

mod brain;
mod intact;
mod picture;

pub use brain::{BYTES, brain};
pub use intact::{IntactBrain, Verdict, open};
pub use picture::{picture, shown};
