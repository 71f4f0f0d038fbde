//! The role that each call needs.
//!
//! Promises: a call that is not in the table can't be made.
//! Not here: who has which role (`auth`), and how a caller is known (`ingress`).

mod calls;

pub(crate) use crate::auth::{Caller, Role};
pub(crate) use calls::{Needs, Over, Pace, needs};
