//! The limits of queries.
//!
//! Exceeding one is `amem_format::Error::Limit`, with the name, the value and the bound.

/// Results of one query page.
pub const PAGE_MAX: usize = 10_000;
/// Events that one traversal may visit.
pub const VISITED_MAX: usize = 10_000_000;
/// Edges that one traversal follows from a start.
pub const DEPTH_MAX: u32 = 1_000_000;
/// Values in one list of a filter.
pub const FILTER_VALUES_MAX: usize = 10_000;
/// Bytes of a query text.
pub const QUERY_BYTES_MAX: usize = 64 << 10;
/// Values of which a wanted event must have one, as far as an index is asked; more are looked for in every event.
pub const NEEDED_VALUES_MAX: usize = 1_024;
/// Nesting and leaves of a filter.
pub const FILTER_NODES_MAX: usize = 256;
/// Sources of one pipeline.
pub const PIPELINE_SOURCES_MAX: usize = 8;
/// Stages of one pipeline behind its sources.
pub const PIPELINE_STAGES_MAX: usize = 16;
/// Tokens of one context.
pub const CONTEXT_TOKENS_MAX: usize = 1_000_000;
/// Events that one context considers.
pub const CONTEXT_CANDIDATES_MAX: usize = 1_000;
/// Events that explain one event of a context.
pub const CONTEXT_REASONS_MAX: usize = 10;
/// Rows that all stages of one pipeline make, those that later ones drop counted.
pub const PIPELINE_ROWS_MAX: usize = 100_000;
/// Ties that the walks of one query look at, hidden and unwanted ones counted.
pub const EDGES_VISITED_MAX: usize = 50_000_000;
