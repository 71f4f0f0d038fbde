//! HTTP/2 as far as hyper leaves it to us: how many control frames a client sends, and its `:authority`, which is
//! replaced where it comes by a Unix socket.
//!
//! Some clients (Python's gRPC) send the path of the socket as `:authority`, and the server resets a request with an
//! invalid authority. So header blocks of a Unix connection are re-encoded with `localhost` on their way to the server;
//! everything else passes unchanged.
//!
//! Promises: no bytes make it panic or hold more than its limits; the result does not depend on how the bytes are
//! split. Not here: what the server checks itself: streams, flow control, the meaning of headers.

mod connection;
mod frame_budget;

mod authority;
mod error;
mod hpack;
mod huffman;

pub use authority::Authority;
pub(super) use connection::Http2Stream;
pub use error::HeaderError;

/// The first bytes of a client of HTTP/2 (RFC 9113, 3.4).
pub(crate) const PREFACE: &[u8; 24] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
