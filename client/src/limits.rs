//! Every limit of the client.

use std::time::Duration;

/// Timeout of a connection attempt.
pub const CONNECT_AFTER: Duration = Duration::from_secs(5);
/// Interval of HTTP/2 keepalive pings while calls are under way.
pub const KEEPALIVE_EVERY: Duration = Duration::from_secs(20);
/// How long a refused or lost call is retried by default.
pub const RETRY_FOR: Duration = Duration::from_secs(30);
/// The first pause before a retry, at most; each further pause is up to twice as long.
pub const RETRY_FIRST: Duration = Duration::from_millis(20);
/// The longest pause before a retry.
pub const RETRY_PAUSE_MAX: Duration = Duration::from_secs(2);
/// How long uses of events are collected before they are sent.
pub const TOUCH_AFTER: Duration = Duration::from_secs(2);
/// Used events that are sent at once.
pub const TOUCHES_SENT: usize = 1_000;
/// Used events that may wait; uses of further events are not counted.
pub const TOUCHES_WAITING_MAX: usize = 65_536;
/// Up to this many events, a brain's queries run on the caller's thread; heavy queries on larger brains run on the
/// blocking pool.
pub const SMALL_BRAIN_EVENTS: u64 = 2_000;
/// Bytes of texts that a direct read analyzes for a question in words; with more of them in the journal, the daemon,
/// which analyzes them once for all clients, answers. A megabyte takes 25 ms, a call less than one.
pub const ANALYZED_BYTES_MAX: u64 = 128 << 10;
/// How often a client that erases looks for the newer file.
pub const LOOK_EVERY: Duration = Duration::from_millis(20);
/// Batches of an ingest stream that may await their answers.
pub const BATCHES_WAITING_MAX: usize = 8;
/// Bytes of frames that a direct read replays on the caller's thread; more are replayed on the blocking pool.
pub const REPLAY_BYTES_AT_ONCE: u64 = 64 << 10;
/// Heavy direct reads of a client at a time; further ones queue.
pub const DIRECT_READS_MAX: usize = 8;
/// How long a file that is not the brain's is not opened again, at first; doubles each time.
pub const FILE_AGAIN_AFTER: Duration = Duration::from_secs(1);
/// The longest such pause.
pub const FILE_AGAIN_MAX: Duration = Duration::from_secs(60);
