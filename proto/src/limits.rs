//! Every limit of answers: its name, its value, its unit.

/// Bytes of an answer; also those of a message of the daemon.
pub const ANSWER_BYTES_MAX: usize = 4 << 20;
/// Edges in one answer of `GetEvents`.
pub const ANSWER_EDGES_MAX: usize = 100_000;
/// Events that `GetEvents` answers, without edges, on the thread of the call.
pub const LIGHT_EVENTS_MAX: usize = 100;
/// Hits of a question without a limit.
pub const HITS: usize = 10;
/// Events of an answer to a question without a limit.
pub const ANSWER_EVENTS: usize = 100;
/// Rows of a page without a size.
pub const PAGE_ROWS: usize = 50;
/// Depth of why and impact without a depth.
pub const REASONS_DEPTH: u32 = 10;
/// Depth of a traversal without a depth.
pub const TRAVERSE_DEPTH: u32 = 5;
/// Edges of a path without a depth.
pub const PATH_DEPTH: u32 = 20;
/// Heads that an answer lists of one contested belief.
pub const HEADS_MAX: usize = 100;
/// Bytes of the message of a refusal, and of each of its values; the middle of longer ones is cut out.
pub const REFUSAL_BYTES_MAX: usize = 1024;
