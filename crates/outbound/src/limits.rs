//! Bounds of connections.

use std::time::Duration;

/// Bytes of the head of an answer.
pub const ANSWER_HEAD_BYTES_MAX: usize = 32 << 10;
/// Addresses of one name that are tried.
pub const ADDRESSES_MAX: usize = 4;
/// How long a connection waits for the next request; servers close theirs later.
pub const IDLE_AFTER: Duration = Duration::from_secs(30);
/// Connections of one server that wait.
pub const IDLE_CONNECTIONS_MAX: usize = 4;
/// Bytes of a certificate file.
pub const CA_FILE_BYTES_MAX: u64 = 4 << 20;
