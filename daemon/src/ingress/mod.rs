//! How callers come in: the listeners, who is let in, and connections.
//!
//! Promises: a connection that says nothing is closed in time, and so is one of which no call is let in, or whose
//! caller is let in no more; nobody takes all the places: there are some for the Unix socket, and for our own user;
//! whose a connection is says the kernel or a certificate, never the caller. Not here: what calls do (`services`).

mod listeners;

mod accept;
pub(crate) mod connection_limit;
mod peer;
pub(crate) mod session;

pub(crate) mod authorization;
pub(crate) mod credentials;
pub(crate) mod deadline;
pub(crate) mod latency;
pub(crate) mod load;
pub(crate) mod quota;
pub(crate) mod rates;

pub(crate) use accept::accept;
pub use listeners::Listeners;
pub(crate) use peer::{Guest, Party, Peer};
