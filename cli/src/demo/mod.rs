//! The demo: what amemd is for, shown and checked in a few seconds, with nothing left behind.
//!
//! It starts a daemon of its own on a private folder and socket, so it never touches a brain of yours.

mod beliefs;
mod cleanup;
mod daemon;
mod erasure;
mod fading;
mod follow;
mod follower;
mod history;
mod live;
mod load;
mod questions;
mod remember;
mod run;
mod sample;
mod stage;
mod survival;
mod traces;

pub(crate) use follow::{COMMAND as FOLLOW, follow};
pub(crate) use run::run;
pub(crate) use stage::DemoError;
