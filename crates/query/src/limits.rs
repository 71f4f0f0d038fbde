//! The limits of queries.
//!
//! Exceeding one is `amem_format::Error::Limit`, with the name, the value and the bound.

/// Results per page.
pub const PAGE_MAX: usize = 10_000;
/// Spans of a session in a list of sessions: the newest ones.
pub const SPANS_LISTED_MAX: usize = 100;
/// Spans of a session that is shown by itself: the newest ones.
pub const SPANS_SHOWN_MAX: usize = 10_000;
/// Events that one walk may visit.
pub const VISITED_MAX: usize = 10_000_000;
/// Depth of a walk, in edges from its start.
pub const DEPTH_MAX: u32 = 1_000_000;
/// Values in one list of a filter.
pub const FILTER_VALUES_MAX: usize = 10_000;
/// Principals, and agents, that a condition on authors names.
pub const AUTHOR_NAMES_MAX: usize = 256;
/// What a boost adds to 1.
pub const BOOST_MAX: f32 = 10.0;
/// Bytes of a query text.
pub const QUERY_BYTES_MAX: usize = 64 << 10;
/// Alternative values that a filter looks up in an index; with more, the query reads every event.
pub const NEEDED_VALUES_MAX: usize = 1_024;
/// Parts of a filter, each level of nesting included.
pub const FILTER_NODES_MAX: usize = 256;
/// Objects and lists of a filter's JSON inside each other, as deep as the JSON parser goes; a `not` is one.
pub const FILTER_DEPTH_MAX: usize = 127;
/// Sources of one pipeline.
pub const PIPELINE_SOURCES_MAX: usize = 8;
/// Stages of one pipeline, without its sources.
pub const PIPELINE_STAGES_MAX: usize = 16;
/// Tokens of one context.
pub const CONTEXT_TOKENS_MAX: usize = 1_000_000;
/// Events that one context considers.
pub const CONTEXT_CANDIDATES_MAX: usize = 1_000;
/// Events that explain one event of a context.
pub const CONTEXT_REASONS_MAX: usize = 10;
/// Rows that all stages of one pipeline make, including rows that later stages drop.
pub const PIPELINE_ROWS_MAX: usize = 100_000;
/// Edges that the walks of one query visit, including hidden and unselected ones.
pub const EDGES_VISITED_MAX: usize = 50_000_000;
