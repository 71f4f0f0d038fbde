//! gRPC: the framing of calls around what `ingress` decides.
//!
//! HTTP/2 of Unix clients (`http2`), the connection (`incoming`, `connection`), the layers around a call from the
//! outside in (name, latency, admission, panics), sizes of messages as they arrive, and answers until they are read.
//! Promises: only calls in the table of `ingress::requirement` are served; an unread answer holds little memory, for a
//! short time.
//! Not here: who may call (`ingress`), what calls do (`calls`).

pub mod http2;

mod connection;
mod frame_budget;
mod incoming;

mod response_future;

mod call_names;
mod entry;
mod latency_layer;
mod panics;
mod timeout;

mod guarded_body;
mod messages;
mod request_body;
mod shapes;

mod answers;
mod unsent_bytes;

mod call_parts;
mod health;
mod services;
mod status;
mod streams;

pub(crate) use call_names::{CallNameLayer, REQUEST_NAME, request_name};
pub(crate) use connection::GrpcConnection;
pub(crate) use entry::AdmissionLayer;
pub(crate) use health::Health;
pub(crate) use incoming::GrpcHandler;
pub(crate) use latency_layer::LatencyLayer;
pub(crate) use panics::PanicLayer;
pub(crate) use services::CallService;
pub use shapes::decoded_bytes;
