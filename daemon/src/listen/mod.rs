//! How callers come in: the listeners, who is let in, and connections.
//!
//! Promises: a connection that says nothing is closed in time; nobody takes all the places; whose a connection is
//! says the kernel or a certificate, never the caller. Not here: what a caller may do (`door`).

mod listeners;

mod accept;
mod connection;
mod crowd;
mod peer;

pub(crate) use accept::accept;
pub use listeners::Listeners;
pub(crate) use peer::Peer;
