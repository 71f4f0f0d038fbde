//! Every limit of the daemon: its name, its value, its unit.

use std::time::Duration;

/// Bytes of a message, either way.
pub const MESSAGE_BYTES_MAX: usize = amem_proto::limits::ANSWER_BYTES_MAX;
/// Bytes of one batch of `IngestStream`.
pub const BATCH_BYTES_MAX: usize = 16 << 20;
/// Bytes of a message around its batch.
pub(crate) const ENVELOPE_BYTES: usize = 1024;
/// A decoded message may take this many times the bytes of the largest message of its call: an empty part has two bytes
/// on the wire and some hundred in memory.
pub const DECODED_TIMES_MAX: u64 = 16;
/// A message counts with this fraction (one in N) of its decoded size, or with its size on the wire if that is larger.
pub const DECODED_ONE_IN: u64 = 4;
/// Batches of one stream that wait for their answers.
pub const STREAM_BATCHES_MAX: usize = 8;
/// How long the daemon waits for the next batch of a stream.
pub const STREAM_AFTER: Duration = Duration::from_secs(600);
/// Heavy questions that run at the same time, for each processor; bounded by `READS_MIN` and `READS_MAX`.
pub const READS_PER_CPU: usize = 2;
/// See `READS_PER_CPU`.
pub const READS_MIN: usize = 4;
/// See `READS_PER_CPU`.
pub const READS_MAX: usize = 64;
/// Brains in one page of a list.
pub const LIST_PAGE_MAX: usize = 1000;
/// Problems that a status lists; ListProblems lists all.
pub const STATUS_PROBLEMS_MAX: usize = 20;
/// Streams of one connection at the same time.
pub const CONNECTION_STREAMS_MAX: u32 = 64;
/// Bytes of the headers of a request.
pub const HEADER_BYTES_MAX: u32 = 16 << 10;
/// How long calls in progress may take to end when the daemon stops.
pub const DRAIN: Duration = Duration::from_secs(5);
/// How long writers may take to close when the daemon stops.
pub const CLOSE: Duration = Duration::from_secs(4);
/// How long saving brains whose files were removed or replaced may take when the daemon stops.
pub const SAVE: Duration = Duration::from_secs(600);
/// How long the tasks of a stage may take to end when the daemon stops.
pub const TASKS_END: Duration = Duration::from_millis(200);
/// How long the process waits for background threads when it ends; it cuts off the rest, as a crash would.
pub const LEAVE: Duration = Duration::from_millis(500);
/// How long the process may take to end, saving (`SAVE`) apart; then it is cut off, as by `kill -9`.
pub const END_WITHIN: Duration = Duration::from_millis(9_950);
/// How long the last lines of the log may take when the process ends.
pub const LAST_LINES: Duration = Duration::from_millis(30);
/// How long one poll of a task may last, or no thread of the runtime be free, before the daemon reports a standstill.
pub const STALL_AFTER: Duration = Duration::from_secs(5);
/// How often the daemon looks for what stands still.
pub const STALL_LOOK_EVERY: Duration = Duration::from_secs(1);
/// How often it looks while it ends.
pub const END_LOOK_EVERY: Duration = Duration::from_millis(20);
/// How often the daemon asks the service manager for more time while it recovers or saves brains.
pub const RECOVERY_STEP: Duration = Duration::from_secs(30);
/// Open streams of batches: each may hold one batch that waits for its brain's queue.
pub const INGEST_STREAMS_MAX: usize = 32;
/// Calls about facts at the same time: each holds a thread until its commit is durable.
pub const FACT_CALLS_MAX: usize = 64;
/// Bytes of the texts of a session that a model summarises; of a longer one it gets the most central sentences.
pub const EPISODE_LINES_BYTES_MAX: usize = 12 << 10;
/// Scheduled summaries that are made at the same time: each may wait for a model.
pub const SUMMARIES_MAX: usize = 2;
/// How long sessions are summarised without the model after it failed.
pub const EPISODE_MODEL_AGAIN_AFTER: Duration = Duration::from_secs(60);
/// How long a call embeds events of a brain before it answers how far it is.
pub const REEMBED_CALL: Duration = Duration::from_secs(2);
/// How often the daemon keeps what models used of their budgets of the day.
pub const KEEP_BUDGETS_EVERY: Duration = Duration::from_secs(10);
/// How often the daemon embeds events that were stored without vectors.
pub const LATE_VECTORS_EVERY: Duration = Duration::from_millis(500);
/// Pause after a brain's events could not be embedded.
pub const LATE_VECTORS_AGAIN_AFTER: Duration = Duration::from_secs(15);
/// How often the daemon looks for pending work of fact memory that is due.
pub const FACT_RETRIES_EVERY: Duration = Duration::from_millis(500);
/// Brains whose pending work is tried again at the same time.
pub const FACT_RETRIES_MAX: usize = 2;
/// Pause after a run of pending work that failed, such as on a brain that cannot be opened; doubled each time.
pub const FACT_RETRY_AGAIN_AFTER: Duration = Duration::from_secs(60);
/// The longest such pause.
pub const FACT_RETRY_AGAIN_AFTER_MAX: Duration = Duration::from_secs(3600);
/// Pause after a look at pending work that failed.
pub const FACT_LOOK_AGAIN_AFTER: Duration = Duration::from_secs(60);
/// How often the daemon forgets the pending work of brains that were removed.
pub const FACT_FORGET_EVERY: Duration = Duration::from_secs(60);
/// Whole files that are verified, imported or converted at the same time.
pub const SCANS_MAX: usize = 2;
/// Brains that are exported at the same time.
pub const EXPORTS_MAX: usize = 8;
/// How long an erase waits for readers of earlier files by default.
pub const READERS_WAIT: Duration = Duration::from_secs(2);
/// The longest wait for them that a caller may ask for.
pub const READERS_WAIT_MAX: Duration = Duration::from_secs(60);
/// Bytes of a new base for each byte of the journal that goes into it, as an erase estimates them: texts and vectors
/// once, and their indexes.
pub const JOURNAL_IN_BASE: u64 = 2;
/// How often the daemon looks for idle brains.
pub const CLOSE_EVERY: Duration = Duration::from_secs(30);
/// Bytes of one part of a file that is sent or received.
pub const PART_BYTES_MAX: usize = 1 << 20;
/// Bytes of one part of an export of memories, unless a single record is larger.
pub const FACTS_PART_BYTES: usize = 256 << 10;
/// Memories that an export reads at a time.
pub const FACTS_PART_MAX: usize = 256;
/// Parts of a file or of an export that wait to be sent.
pub const PARTS_WAITING_MAX: usize = 4;
/// How long the daemon waits for the next part of a file.
pub const PART_AFTER: Duration = Duration::from_secs(60);
/// Bytes of one message of a subscription, unless a single change is larger.
pub const CHANGES_BYTES: usize = 16 << 10;
/// Messages of a subscription that wait to be sent.
pub const CHANGES_WAITING_MAX: usize = 1;
/// Default of `limits.send_secs`.
pub const SEND_AFTER: Duration = Duration::from_secs(30);
/// How long any answer waits to be read before the daemon gives it up; longer than `SEND_AFTER`, so that a stream ends
/// with its own advice.
pub const UNREAD_AFTER: Duration = Duration::from_secs(60);
/// Bytes of an answer that the connection gets at a time: it cannot return them.
pub const ANSWER_PART_BYTES: usize = 16 << 10;
/// Unsent bytes of a connection from which on it gets no more.
pub const CONNECTION_UNSENT_BYTES: usize = 256 << 10;
/// Unread bytes of all answers from which on the oldest answers are given up after `UNREAD_AFTER_WHEN_MANY`.
pub const UNREAD_BYTES: usize = 64 << 20;
/// See `UNREAD_BYTES`.
pub const UNREAD_AFTER_WHEN_MANY: Duration = Duration::from_secs(5);
/// Default of `limits.answer_bytes_in_flight`.
pub const ANSWER_BYTES_IN_FLIGHT_MAX: u64 = 256 << 20;
/// Bytes of an answer that count for nothing: as many as a connection gets at a time.
pub const UNCOUNTED_ANSWER_BYTES: usize = ANSWER_PART_BYTES;
/// Subscriptions that read commits at the same time; they take turns message by message.
pub const SUBSCRIPTION_READS_MAX: usize = 2;
/// How long a subscription stays silent before it sends its position.
pub const HEARTBEAT: Duration = Duration::from_secs(10);
/// Skipped commits after which a subscription sends its position.
pub const SKIPPED_COMMITS_MAX: usize = 256;
/// Changes that a subscription reads before it yields.
pub const CHANGES_PER_TURN: usize = 256;
/// Types that one subscription names: as many as there can be.
pub const SUBSCRIBED_TYPES_MAX: usize = 256;
/// Sessions that one subscription names.
pub const SUBSCRIBED_SESSIONS_MAX: usize = 10_000;
/// Default of `limits.idle_close_secs`.
pub const BRAIN_IDLE_CLOSE: Duration = Duration::from_secs(900);
/// Default of `limits.connections`.
pub const CONNECTIONS_MAX: u64 = 256;
/// Default of `limits.connections_per_user`: it leaves some for others.
pub const CONNECTIONS_PER_USER_MAX: u64 = 192;
/// One connection in this many is reserved for the Unix socket.
pub const UNIX_SLOTS_ONE_IN: u64 = 4;
/// One address may take one in this many of the connections by TCP.
pub const ADDRESS_SLOTS_ONE_IN: u64 = 2;
/// One connection in this many is reserved for the daemon's own user, who can stop a caller that fills the daemon.
pub const OWN_SLOTS_ONE_IN: u64 = 8;
/// How long a connection may stay unauthorized: from its beginning to its first admitted call, or after its caller lost
/// its rights.
pub const FIRST_CALL_AFTER: Duration = Duration::from_secs(30);
/// Default of `limits.requests_in_flight`.
pub const REQUESTS_IN_FLIGHT_MAX: u64 = 1024;
/// Default of `limits.request_bytes_in_flight`.
pub const REQUEST_BYTES_IN_FLIGHT_MAX: u64 = 256 << 20;
/// One caller may hold one in this many of the calls, bytes and streams, unless it administers every brain.
pub const CALLER_SHARE_ONE_IN: u64 = 2;
/// One in this many of them is reserved for callers that administer every brain.
pub const RESERVED_FOR_ADMINS_ONE_IN: u64 = 4;
/// How long the daemon waits for the next part of a request that is no stream.
pub const REQUEST_AFTER: Duration = Duration::from_secs(30);
/// Default of `limits.deadline_secs`, in seconds there.
pub const DEADLINE: Duration = Duration::from_secs(60);
/// Default of `limits.deadline_max_secs`, in seconds there.
pub const DEADLINE_MAX: Duration = Duration::from_secs(3600);
/// Default of `limits.preface_millis`, in milliseconds there.
pub const PREFACE_DEADLINE: Duration = Duration::from_secs(5);
/// Default of `limits.handshake_millis`, in milliseconds there.
pub const HANDSHAKE_DEADLINE: Duration = Duration::from_secs(5);
/// Default of `limits.keepalive_secs`, in seconds there.
pub const KEEPALIVE: Duration = Duration::from_secs(60);
/// How long a silent peer may take to answer a ping, unless pings are more frequent.
pub const KEEPALIVE_ANSWER: Duration = Duration::from_secs(20);
/// Default of `limits.calls_per_second`.
pub const CALLS_PER_SECOND: u64 = 50_000;
/// Default of `limits.connections_per_second`.
pub const CONNECTIONS_PER_SECOND: u64 = 1_000;
/// Keys whose rates are remembered; beyond it, idle ones are dropped.
pub const RATE_KEYS_MAX: usize = 4_096;
/// Connections for metrics whose request has arrived; one more closes the oldest of them.
pub const METRICS_CONNECTIONS_MAX: usize = 8;
/// Connections for metrics whose request has not arrived; one more closes the oldest of them.
pub const METRICS_HEADS_MAX: usize = 256;
/// Bytes of the head of a request for metrics.
pub const METRICS_HEAD_BYTES_MAX: usize = 8 << 10;
/// Headers of a request for metrics.
pub const METRICS_HEADERS_MAX: usize = 64;
/// The shortest pause between two collections of metrics.
pub const METRICS_REST: Duration = Duration::from_millis(100);
/// How long the head of a request for metrics may take to arrive.
pub const METRICS_HEAD_AFTER: Duration = Duration::from_secs(2);
/// How long a connection for metrics may last.
pub const METRICS_AFTER: Duration = Duration::from_secs(10);
/// Bytes of the head of a request by HTTP/1.
pub const HTTP_HEAD_BYTES_MAX: usize = 32 << 10;
/// Headers of a request by HTTP.
pub const HTTP_HEADERS_MAX: usize = 100;
/// How long the head of the next request may take to arrive, the silence before it included.
pub const HTTP_HEAD_AFTER: Duration = Duration::from_secs(60);
/// Default of `limits.body_millis`, in milliseconds there.
pub const HTTP_BODY_AFTER: Duration = Duration::from_secs(10);
/// Bytes of a body by HTTP, as of a message by gRPC.
pub const HTTP_BODY_BYTES_MAX: usize = MESSAGE_BYTES_MAX;
/// Objects and lists inside each other in a body.
pub const HTTP_JSON_DEPTH_MAX: usize = 64;
/// Values of a body, those inside of others included.
pub const HTTP_JSON_VALUES_MAX: usize = 100_000;
/// A body of JSON with as many bytes is read on a thread of its own.
pub const HTTP_JSON_BYTES_AT_ONCE: usize = 64 << 10;
/// Bytes that a value of a body counts with while the request is in progress.
pub const HTTP_JSON_VALUE_BYTES: usize = 64;
/// Options of a query.
pub const HTTP_QUERY_OPTIONS_MAX: usize = 64;
/// Ignored options that an answer names.
pub const HTTP_IGNORED_NAMES_MAX: usize = 32;
/// Bytes of an answer by HTTP.
pub const HTTP_ANSWER_BYTES_MAX: usize = 4 * MESSAGE_BYTES_MAX;
/// Memories that a page looks at to count them.
pub const HTTP_COUNTED_MAX: usize = 20_000;
/// Memories of one list without pages, and of one export.
pub const HTTP_LISTED_MAX: usize = 10_000;
/// Adds that the daemon lists as events.
pub const HTTP_EVENTS_MAX: usize = 256;
/// Bytes of the filters of an export.
pub const HTTP_EXPORT_FILTERS_BYTES_MAX: usize = 64 << 10;
/// Exports that were created and can be fetched by their id.
pub const HTTP_EXPORTS_MAX: usize = 256;
/// How long the daemon reads on after an answer that ends a connection: a reset would take the answer away.
pub const HTTP_LINGER: Duration = Duration::from_secs(1);
/// Bytes that it reads on.
pub const HTTP_LINGER_BYTES_MAX: usize = 16 << 20;
/// The silence after which a stream of events gets a comment, so that nothing between takes it for dead.
pub const HTTP_COMMENT_EVERY: Duration = Duration::from_secs(5);
/// Bytes of an answer from which on it is packed, if its caller takes that: a shorter one fits few packets.
pub const HTTP_PACKED_BYTES_MIN: usize = 4 << 10;
/// Default of `limits.add_wait_millis`, in milliseconds there.
pub const HTTP_ADD_AFTER: Duration = Duration::from_secs(20);
/// Services in a list of grpc.health.v1.
pub const HEALTH_SERVICES_MAX: usize = 10_000;
/// A process that is the only one of its caller leaves this part (one in N) of the caller's share to others.
pub const SOURCE_RESERVE_ONE_IN: u64 = 8;
/// How long a process of a caller counts as one that shares, from when it last asked for something.
pub const SOURCE_ACTIVE_FOR: Duration = Duration::from_secs(5);
/// Processes and connections of one caller that share; further ones have what a new one would.
pub const SOURCES_MAX: usize = 1_024;
/// Lines of the log that wait to be written; of more, the newest are dropped and counted.
pub const LOG_LINES_WAITING_MAX: usize = 4_096;
/// Log lines of libraries for each second: peers cause them without a token.
pub const FOREIGN_LINES_PER_SECOND: u64 = 100;
/// Reasons that are counted apart; calls refused for further reasons are counted as OTHER.
pub const REASONS_MAX: usize = 256;
/// Bytes of a configuration file.
pub const CONFIG_BYTES_MAX: u64 = 1 << 20;
/// Bytes of the file of tokens.
pub const TOKENS_BYTES_MAX: u64 = 4 << 20;
/// Tokens: every call by TCP is compared with all of them.
pub const TOKENS_MAX: usize = 256;
/// Brains that a token can be for, unless it is for all.
pub const TOKEN_BRAINS_MAX: usize = 64;
/// Bytes of a token's name.
pub const TOKEN_NAME_BYTES_MAX: usize = 64;
/// Bytes of a file with certificates or a key.
pub const PEM_BYTES_MAX: u64 = 1 << 20;
/// Bytes of the name that a caller gives a request.
pub const REQUEST_NAME_BYTES_MAX: usize = 64;
/// Bytes of a header block of a Unix client, encoded and decoded.
pub const HEADER_BLOCK_BYTES_MAX: usize = 64 << 10;
/// Control frames that a connection may send at once.
pub const CONTROL_FRAMES_MAX: u64 = 4_096;
/// Control frames that it may send for each second.
pub const CONTROL_FRAMES_PER_SECOND: u64 = 256;
/// Control frames that it may send for each call.
pub const CONTROL_FRAMES_PER_CALL: u64 = 8;
/// Bytes that it receives for each further one: more than the answer to a PING has, less than most messages.
pub const CONTROL_FRAME_BYTES: u64 = 64;
/// Frames of a header block.
pub const HEADER_BLOCK_FRAMES_MAX: usize = 64;
/// Re-encoded bytes that may wait for the server, apart from the rest of one block.
pub const AHEAD_BYTES: usize = 16 << 10;
/// Webhooks of all brains.
pub const WEBHOOKS_MAX: usize = 64;
/// Bytes of the name of a webhook.
pub const WEBHOOK_NAME_BYTES_MAX: usize = 256;
/// Bytes of the URL of a webhook.
pub const WEBHOOK_URL_BYTES_MAX: usize = 2_048;
/// Bytes of the file of webhooks.
pub const WEBHOOKS_FILE_BYTES_MAX: u64 = 64 << 20;
/// How often the daemon looks for changes that webhooks are sent.
pub const WEBHOOKS_LOOK_EVERY: Duration = Duration::from_millis(200);
/// How often the positions of webhooks are written at most: after a crash, what was sent since is sent again.
pub const WEBHOOKS_WRITE_EVERY: Duration = Duration::from_secs(1);
/// Webhooks that are sent something at the same time.
pub const WEBHOOK_POSTS_MAX: usize = 8;
/// Changes that a webhook is sent before others get its turn.
pub const WEBHOOK_POSTS_PER_TURN: usize = 32;
/// Events that are read at a time for a webhook.
pub const WEBHOOK_EVENTS_READ: u64 = 1_024;
/// Pause after a post that failed; doubled each time.
pub const WEBHOOK_AGAIN_AFTER: Duration = Duration::from_secs(1);
/// The longest such pause.
pub const WEBHOOK_AGAIN_AFTER_MAX: Duration = Duration::from_secs(3_600);
/// Posts of one change that fail until its webhook is paused: some nine hours.
pub const WEBHOOK_ATTEMPTS_MAX: u32 = 20;
/// Erased memories that one webhook is still to be sent; of more, the oldest are dropped.
pub const WEBHOOK_ERASED_MAX: usize = 10_000;
/// Bytes of the reason of a failure that a webhook shows.
pub const WEBHOOK_ERROR_BYTES_MAX: usize = 512;

/// Further memories of a call that reads memories by name.
pub const FACT_NAMES_MAX: usize = 200;
/// Turns of a list of what was given in which sentences without a memory are looked for.
pub const UNFORMED_TURNS_MAX: usize = 500;
/// Sentences without a memory that a list shows of the turns of one moment.
pub const UNFORMED_SENTENCES_MAX: usize = 20;
/// Characters of each of them.
pub const UNFORMED_CHARS_MAX: usize = 300;
/// Turns of a session whose texts `ListGiven` shows.
pub(crate) const SESSION_TURNS_SHOWN: u32 = 10_000;
