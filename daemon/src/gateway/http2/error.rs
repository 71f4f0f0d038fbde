//! Why a client's header frames close its connection.

use crate::limits::{HEADER_BLOCK_BYTES_MAX, HEADER_BLOCK_FRAMES_MAX};

/// Why a connection is closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum HeaderError {
    /// The frames are out of order.
    #[error("another frame interrupts a header block")]
    Order,
    /// The frame is truncated or too long.
    #[error("a header frame has an impossible length")]
    Frame,
    /// The block cannot be decoded.
    #[error("a header block cannot be decoded")]
    Block,
    /// The block has more bytes or frames than the limit.
    #[error(
        "a header block has more than {HEADER_BLOCK_BYTES_MAX} bytes or {HEADER_BLOCK_FRAMES_MAX} frames"
    )]
    TooLarge,
}
