//! Ingress: what every connection and every request passes, whatever its protocol.
//!
//! A connection: the listener accepts it, the connection limit gives it a slot, TLS is negotiated (`accept`). A
//! request: its caller is identified, its rate counted, its rights checked, its deadline set, its quota taken
//! (`admission`).
//!
//! Promises: the kernel, a certificate or a token identifies the caller; a refused request costs no more than its head;
//! no caller can take all connections, calls or bytes; a request in progress ends when its caller loses rights.
//! Not here: what stands around a call (`gateway`), the encoding of a protocol (`grpc`, `http`), what a call does
//! (`calls`).

mod listeners;

pub(crate) mod accept;
pub(crate) mod connection_limit;
pub(crate) mod peer;
pub(crate) mod session;
pub(crate) mod stream;

pub(crate) mod methods;

pub(crate) mod admission;
pub(crate) mod authorization;
pub(crate) mod credentials;
pub(crate) mod deadline;
pub(crate) mod load;
pub(crate) mod requirement;

pub(crate) mod latency;
pub(crate) mod quota;
pub(crate) mod rates;

pub(crate) use accept::accept;
pub(crate) use listeners::CallListeners;
pub use listeners::Listeners;
pub(crate) use peer::Peer;
