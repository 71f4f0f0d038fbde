//! gRPC: an encoding of calls behind the guards of `gateway`.
//!
//! The encoding itself, sizes of messages as they arrive, services and their streams. Promises: only calls in the table
//! of `ingress::requirement` are served. Not here: what happens around a call (`gateway`), who may call (`ingress`),
//! what calls do (`calls`).

mod encoding;

mod timeout;

mod messages;
mod shapes;

mod call_parts;
mod health;
mod services;
mod status;
mod streams;

pub(crate) use encoding::Grpc;
pub(crate) use health::Health;
pub(crate) use services::CallService;
pub use shapes::decoded_bytes;
