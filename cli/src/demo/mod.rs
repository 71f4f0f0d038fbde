//! The demo: what amemd is for, shown and checked in a few seconds, with nothing left behind.
//!
//! It starts a daemon of its own on a private folder and socket, so it never touches a brain of yours.

mod beliefs;
mod cleanup;
mod daemon;
mod follow;
mod load;
mod remember;
mod run;
mod sample;
mod stage;
mod survival;

pub(crate) use follow::{COMMAND as FOLLOW, follow};
pub(crate) use run::run;
pub(crate) use stage::DemoError;
