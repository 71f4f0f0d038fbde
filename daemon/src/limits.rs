//! Every limit of the daemon: its name, its value, its unit.

use std::time::Duration;

/// Bytes of a message, either way.
pub const MESSAGE_BYTES_MAX: usize = 4 << 20;
/// Bytes of one batch of `IngestStream`.
pub const BATCH_BYTES_MAX: usize = 16 << 20;
/// Batches of one stream that wait for their answers.
pub const STREAM_BATCHES_MAX: usize = 8;
/// Requests that wait for one brain's writer.
pub const QUEUE_REQUESTS_MAX: usize = 1024;
/// Bytes of requests that wait for one brain's writer.
pub const QUEUE_BYTES_MAX: usize = 64 << 20;
/// Requests that are committed by one sync.
pub const GROUP_REQUESTS_MAX: usize = 512;
/// Bytes of requests after which a group takes no further one.
pub const GROUP_BYTES_MAX: usize = 8 << 20;
/// Reads that run at the same time.
pub const READS_MAX: usize = 64;
/// Edges in one answer of `GetEvents`.
pub const ANSWER_EDGES_MAX: usize = 100_000;
/// Brains in one page of a list.
pub const LIST_PAGE_MAX: usize = 1000;
/// Hits of a search that does not say how many.
pub const SEARCH_HITS: usize = 10;
/// Events of an answer to a question that does not say how many.
pub const ANSWER_EVENTS: usize = 100;
/// Depth of a walk that does not say how deep.
pub const WHY_DEPTH: usize = 10;
/// Streams of one connection at the same time.
pub const CONNECTION_STREAMS_MAX: u32 = 64;
/// Bytes of the headers of a request.
pub const HEADER_BYTES_MAX: u32 = 16 << 10;
/// How long calls that are under way may take to end when the daemon stops.
pub const DRAIN: Duration = Duration::from_secs(5);
/// How long writers may take to close when the daemon stops.
pub const CLOSE: Duration = Duration::from_secs(4);
/// How long after a failed recovery the next one is tried.
pub const RECOVER_AGAIN_AFTER: Duration = Duration::from_secs(1);
/// How long after a failed checkpoint the next one is tried.
pub const CHECKPOINT_AGAIN_AFTER: Duration = Duration::from_secs(60);
/// How long a brain has no writes before it is idle.
pub const IDLE_AFTER: Duration = Duration::from_secs(30);
