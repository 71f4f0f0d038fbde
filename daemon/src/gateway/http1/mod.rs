//! HTTP/1 as far as hyper leaves it to us: when a connection ends, and what its bytes say that hyper does not.

mod framing;
mod stream;

pub(crate) use framing::{LengthLines, too_large};
pub(super) use stream::Http1Stream;
