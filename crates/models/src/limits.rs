//! Bounds and defaults. Settings of the same name change those that say so.

use std::time::Duration;

/// Bytes of one answer, or of one stream (setting `answer_bytes_max`).
pub const ANSWER_BYTES_MAX: usize = 4 << 20;
/// Bytes of the body of a refusal that are read.
pub(crate) const REFUSAL_BYTES_MAX: usize = 64 << 10;
/// Letters of a server's message in an error.
pub const MESSAGE_CHARS_MAX: usize = 300;
/// Bytes of a key.
pub(crate) const KEY_BYTES_MAX: usize = 8 << 10;
/// How long a command may take to print a key.
pub(crate) const KEY_COMMAND_AFTER: Duration = Duration::from_secs(10);
/// Pieces of a stream that wait for their reader.
pub(crate) const STREAM_PIECES_MAX: usize = 64;
/// Values of a vector.
pub(crate) const DIMENSIONS_MAX: usize = 16_384;
/// Texts of one call that may fail by themselves before the rest of the call fails with them.
pub(crate) const BAD_TEXTS_MAX: usize = 8;
/// Pauses after a refused rate for which the provider names none.
pub(crate) const RATE_PAUSES: [Duration; 3] = [
    Duration::from_secs(1),
    Duration::from_secs(2),
    Duration::from_secs(4),
];
/// The longest Retry-After that is believed.
pub(crate) const RETRY_AFTER_MAX: Duration = Duration::from_secs(24 * 3600);
/// Bytes of the file of models.
pub const MODELS_FILE_BYTES_MAX: u64 = 1 << 20;
