//! Every limit of the daemon: its name, its value, its unit.

use std::time::Duration;

/// Bytes of a message, either way.
pub const MESSAGE_BYTES_MAX: usize = amem_proto::limits::ANSWER_BYTES_MAX;
/// Bytes of one batch of `IngestStream`.
pub const BATCH_BYTES_MAX: usize = 16 << 20;
/// How many times the bytes of the largest message of its call one may take in memory once it is decoded: an empty part
/// of one has two bytes on the wire, and some hundred in memory.
pub const DECODED_TIMES_MAX: u64 = 16;
/// Of a message's bytes in memory one in so many counts as under way, if that is more than it has on the wire.
pub const DECODED_ONE_IN: u64 = 4;
/// Batches of one stream that wait for their answers.
pub const STREAM_BATCHES_MAX: usize = 8;
/// How long the next batch of a stream is waited for.
pub const STREAM_AFTER: Duration = Duration::from_secs(600);
/// Heavy questions that are worked on at the same time, for each processor, but at least and at most so many.
pub const READS_PER_CPU: usize = 2;
/// See `READS_PER_CPU`.
pub const READS_MIN: usize = 4;
/// See `READS_PER_CPU`.
pub const READS_MAX: usize = 64;
/// Brains in one page of a list.
pub const LIST_PAGE_MAX: usize = 1000;
/// Brains and files that are not served, of which a status tells; the others are listed by page.
pub const STATUS_PROBLEMS_MAX: usize = 20;
/// Streams of one connection at the same time.
pub const CONNECTION_STREAMS_MAX: u32 = 64;
/// Bytes of the headers of a request.
pub const HEADER_BYTES_MAX: u32 = 16 << 10;
/// How long calls that are under way may take to end when the daemon stops.
pub const DRAIN: Duration = Duration::from_secs(5);
/// How long writers may take to close when the daemon stops.
pub const CLOSE: Duration = Duration::from_secs(4);
/// How long brains may take to be saved when the daemon stops whose files were taken away or pushed aside.
pub const SAVE: Duration = Duration::from_secs(600);
/// How long the tasks of a stage may take to end when the daemon stops.
pub const TASKS_END: Duration = Duration::from_millis(200);
/// How long work beside the calls is waited for when the process ends; what goes on is cut off, as a crash would.
pub const LEAVE: Duration = Duration::from_millis(500);
/// How long the service manager is asked to wait, again and again, while brains are recovered at the start, or saved at
/// the end.
pub const RECOVERY_STEP: Duration = Duration::from_secs(30);
/// Streams of batches that are open at the same time: each may hold one batch that waits for its brain's queue.
pub const INGEST_STREAMS_MAX: usize = 32;
/// Whole files that are gone through at the same time, to verify, import or convert them.
pub const SCANS_MAX: usize = 2;
/// Brains that are sent as files at the same time.
pub const EXPORTS_MAX: usize = 8;
/// How long an erase waits for readers of earlier files, unless its caller says.
pub const READERS_WAIT: Duration = Duration::from_secs(2);
/// How long it waits for them at most, whatever its caller says.
pub const READERS_WAIT_MAX: Duration = Duration::from_secs(60);
/// How often brains that are not used are looked for.
pub const CLOSE_EVERY: Duration = Duration::from_secs(30);
/// Bytes of one part of a file that is sent or received.
pub const PART_BYTES_MAX: usize = 1 << 20;
/// Parts of a file that wait to be written or sent.
pub const PARTS_WAITING_MAX: usize = 4;
/// How long a part of a file that is received is waited for.
pub const PART_AFTER: Duration = Duration::from_secs(60);
/// Bytes of one message of a subscription, unless a single change is larger.
pub const CHANGES_BYTES: usize = 16 << 10;
/// Messages of a subscription that wait to be sent.
pub const CHANGES_WAITING_MAX: usize = 1;
/// How long a message of a stream waits to be read before the stream is ended, unless it is set.
pub const SEND_AFTER: Duration = Duration::from_secs(30);
/// How long any answer waits to be read before it is given up: longer, so that a stream says itself how to go on.
pub const UNREAD_AFTER: Duration = Duration::from_secs(60);
/// Bytes of an answer that are given to the connection at a time: what waits there can't be taken back.
pub const ANSWER_PART_BYTES: usize = 16 << 10;
/// Bytes of answers that a connection has and has not sent, from which on it is given no more.
pub const CONNECTION_UNSENT_BYTES: usize = 256 << 10;
/// Bytes of answers that wait to be read, of all callers, from which on those that have waited longest are given up
/// earlier.
pub const UNREAD_BYTES: usize = 64 << 20;
/// How long an answer may wait to be read then.
pub const UNREAD_AFTER_WHEN_MANY: Duration = Duration::from_secs(5);
/// Subscriptions that go through commits at the same time: others have their turn after each message.
pub const SUBSCRIPTION_READS_MAX: usize = 2;
/// How long a subscription sends nothing before it says where it stands.
pub const HEARTBEAT: Duration = Duration::from_secs(10);
/// Commits without anything for a subscriber after which it is told how far it is.
pub const SKIPPED_COMMITS_MAX: usize = 256;
/// Changes that a subscription looks at before others have their turn.
pub const CHANGES_PER_TURN: usize = 256;
/// Types that one subscription names: as many as there can be.
pub const SUBSCRIBED_TYPES_MAX: usize = 256;
/// Sessions that one subscription names.
pub const SUBSCRIBED_SESSIONS_MAX: usize = 10_000;
/// How long a brain has been asked for nothing before it is closed, unless it is set.
pub const BRAIN_IDLE_CLOSE: Duration = Duration::from_secs(900);
/// Connections at the same time, unless it is set.
pub const CONNECTIONS_MAX: u64 = 256;
/// Connections of one user or one address at the same time, unless it is set: some are left for others.
pub const CONNECTIONS_PER_USER_MAX: u64 = 192;
/// Of so many places for connections one is kept for the Unix socket: who comes by TCP must not lock out who is here.
pub const UNIX_SLOTS_ONE_IN: u64 = 4;
/// One address has at most one in so many of the places that may be taken by TCP.
pub const ADDRESS_SLOTS_ONE_IN: u64 = 2;
/// Of so many places one is kept for our own user: whoever fills the daemon must not lock out who can end that.
pub const OWN_SLOTS_ONE_IN: u64 = 8;
/// How long a connection may be without a call that was let in, from its beginning or from when who called is let in no
/// more: until then it may be a stranger's.
pub const FIRST_CALL_AFTER: Duration = Duration::from_secs(30);
/// Calls under way at the same time, unless it is set.
pub const REQUESTS_IN_FLIGHT_MAX: u64 = 1024;
/// Bytes of requests under way, unless it is set.
pub const REQUEST_BYTES_IN_FLIGHT_MAX: u64 = 256 << 20;
/// One caller has at most one in so many of the calls, the bytes and the streams that there may be, unless it may
/// administer every brain.
pub const CALLER_SHARE_ONE_IN: u64 = 2;
/// Of so many of them one is kept for callers that may administer every brain.
pub const RESERVED_FOR_ADMINS_ONE_IN: u64 = 4;
/// How long the next part of a request is waited for, streams apart.
pub const REQUEST_AFTER: Duration = Duration::from_secs(30);
/// How long a call may take that does not say it, unless it is set.
pub const DEADLINE: Duration = Duration::from_secs(60);
/// How long a call may take at most, unless it is set.
pub const DEADLINE_MAX: Duration = Duration::from_secs(3600);
/// Within which time a new connection must speak HTTP/2, unless it is set.
pub const PREFACE_DEADLINE: Duration = Duration::from_secs(5);
/// How long a TLS handshake may take, unless it is set.
pub const HANDSHAKE_DEADLINE: Duration = Duration::from_secs(5);
/// How often a silent peer is looked at, unless it is set.
pub const KEEPALIVE: Duration = Duration::from_secs(60);
/// How long a silent peer may take to answer that look, if it is looked at no more often than so.
pub const KEEPALIVE_ANSWER: Duration = Duration::from_secs(20);
/// Calls of one caller within a second, unless the settings say.
pub const CALLS_PER_SECOND: u64 = 50_000;
/// New connections of one user, or of one address by TCP, within a second, unless the settings say.
pub const CONNECTIONS_PER_SECOND: u64 = 1_000;
/// Callers and parties of which it is known how much of their share they have used.
pub const RATE_KEYS_MAX: usize = 4_096;
/// Connections for metrics at the same time: of more, the oldest is closed.
pub const METRICS_CONNECTIONS_MAX: usize = 8;
/// Bytes of the head of a request for metrics.
pub const METRICS_HEAD_BYTES_MAX: usize = 8 << 10;
/// Headers of a request for metrics.
pub const METRICS_HEADERS_MAX: usize = 64;
/// How long after the metrics were gathered they are gathered again, at the earliest.
pub const METRICS_REST: Duration = Duration::from_millis(100);
/// How long the head of a request for metrics may take to come.
pub const METRICS_HEAD_AFTER: Duration = Duration::from_secs(2);
/// How long a connection for metrics may last.
pub const METRICS_AFTER: Duration = Duration::from_secs(10);
/// Reasons by which refused calls are counted; calls with further ones are counted together.
pub const REASONS_MAX: usize = 256;
/// Bytes of a file of settings.
pub const CONFIG_BYTES_MAX: u64 = 1 << 20;
/// Bytes of the file of tokens.
pub const TOKENS_BYTES_MAX: u64 = 4 << 20;
/// Tokens: every call by TCP is held against all of them.
pub const TOKENS_MAX: usize = 256;
/// Brains that a token can be for, unless it is for all.
pub const TOKEN_BRAINS_MAX: usize = 64;
/// Bytes of a token's name.
pub const TOKEN_NAME_BYTES_MAX: usize = 64;
/// Bytes of a file with certificates or a key.
pub const PEM_BYTES_MAX: u64 = 1 << 20;
/// Bytes of the name that a caller gives a request.
pub const REQUEST_NAME_BYTES_MAX: usize = 64;
/// Bytes of one block of headers that a Unix client may send, packed and unpacked.
pub const HEADER_BLOCK_BYTES_MAX: usize = 64 << 10;
/// Frames that one block of headers may be cut into.
pub const HEADER_BLOCK_FRAMES_MAX: usize = 64;
/// Bytes that are packed anew for the server before it has read them, but for the rest of one block.
pub const AHEAD_BYTES: usize = 16 << 10;
