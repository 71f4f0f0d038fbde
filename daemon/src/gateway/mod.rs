//! The gateway: one stack of guards around every call, whatever its protocol.
//!
//! A connection: `server` reads how its client begins, and serves HTTP/1 (`http1`) or HTTP/2 (`http2`) on it. A request
//! passes the guards from the outside in: its name (`name_guard`), its latency (`latency_guard`), its panics
//! (`panic_guard`), its admission and its bodies (`admission_guard`). What differs between protocols is the `Encoding`:
//! gRPC and REST say how a refusal looks, and how an answer ends early.
//!
//! Promises: each guard is written once and holds for each protocol; an unread answer holds little memory, for a short
//! time. Not here: who may call (`ingress`), what calls do (`calls`), what is in bodies (`grpc`, `http`).

pub mod http2;

mod connection_guard;
mod http1;
mod server;

mod encoding;
mod guard;

mod watched_body;

mod guarded_body;
mod request_body;
mod unsent_bytes;

mod answers;

mod admission_guard;
mod latency_guard;
mod name_guard;
mod panic_guard;

mod stack;

pub(crate) use admission_guard::AdmissionGuard;
pub(crate) use encoding::{
    BodyCounter, BodyStall, CallProgress, Encoding, EndFunction, PartKind, body_error, refusal_in,
};
#[cfg(test)]
pub(crate) use guard::tests::guarded;
pub(crate) use guard::{AnswerFuture, CallFunction, Guard, GuardedCalls, InnerCall};
pub(crate) use http1::too_large;
#[cfg(test)]
pub(crate) use latency_guard::LatencyGuard;
pub(crate) use server::{CallConnections, ConnectionInfo, ConnectionServer, Versions};
pub(crate) use stack::GuardStack;
