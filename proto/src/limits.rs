//! Every limit of answers: its name, its value, its unit.

/// Bytes of an answer; also those of a message of the daemon.
pub const ANSWER_BYTES_MAX: usize = 4 << 20;
/// Edges in one answer of `GetEvents`.
pub const ANSWER_EDGES_MAX: usize = 100_000;
/// Events that `GetEvents` gives, without edges, where the call stands.
pub const LIGHT_EVENTS_MAX: usize = 100;
/// Hits of a question that does not say how many.
pub const HITS: usize = 10;
/// Events of an answer to a question that does not say how many.
pub const ANSWER_EVENTS: usize = 100;
/// Rows of a page that does not say how many.
pub const PAGE_ROWS: usize = 50;
/// Depth of why and impact that do not say how deep.
pub const REASONS_DEPTH: u32 = 10;
/// Depth of a traversal that does not say how deep.
pub const TRAVERSE_DEPTH: u32 = 5;
/// Edges of a path that does not say how many.
pub const PATH_DEPTH: u32 = 20;
/// Heads that are told of one contested belief.
pub const HEADS_MAX: usize = 100;
/// Bytes of the words of a refusal, and of each of its values: longer ones lose their middle.
pub const REFUSAL_BYTES_MAX: usize = 1024;
