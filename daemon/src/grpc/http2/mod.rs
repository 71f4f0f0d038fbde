//! HTTP/2 as far as a client's authority goes: what a Unix client says of where it connects is replaced.
//!
//! Some clients (Python's gRPC) send the path of the socket as `:authority`, and the server resets a request whose
//! authority is none. So the frames of a Unix connection are read on their way to the server: blocks of headers are
//! packed anew with `localhost` for the authority, everything else passes as it is.
//!
//! Promises: no bytes make it panic or hold more than its limits; it makes no difference how the bytes arrive. Not
//! here: anything the server judges itself, such as streams, flow control, and headers that make no sense.

mod authority;
mod hpack;
mod huffman;

pub use authority::{Authority, Malformed};

/// What a client of HTTP/2 begins with (RFC 9113, 3.4).
pub(crate) const PREFACE: &[u8; 24] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
