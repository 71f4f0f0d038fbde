//! How callers come in: the listeners, who is let in, and connections.
//!
//! Promises: a connection that says nothing is closed in time, and so is one of which no call is let in, or whose
//! caller is let in no more; nobody takes all the places: there are some for the Unix socket, and for our own user;
//! whose a connection is says the kernel or a certificate, never the caller. Not here: what a caller may do (`door`).

mod lent;
mod listeners;

mod accept;
mod connection;
mod crowd;
mod fate;
mod peer;

pub(crate) use accept::accept;
pub(crate) use fate::{Fate, Visitor};
pub use lent::Lent;
pub use listeners::Listeners;
pub(crate) use peer::{Guest, Party, Peer};
