//! Every row of the page of figures, and its goal.
//!
//! A row without a measurement stays in the table as absent. A goal that names a limit is a factor of this machine's
//! measured limit, so it moves with the machine.

/// The meaning of a row's number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    /// Seconds; fewer are better.
    Time,
    /// Something in a second; more is better.
    Rate,
    /// A plain number; less is better.
    Number,
}

/// The goal of a row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Goal {
    /// This factor better than the reference.
    Reference(f64),
    /// At most this factor of the row's limit, or at least that share of it if the number is a rate.
    Limit(f64),
    /// At most this; more where a sync takes longer than where the goal was set (`Measurement::slack`).
    AtMost(f64),
    /// At least this; less for the same reason.
    AtLeast(f64),
    /// The answer is the right one.
    Right,
}

/// A row.
#[derive(Debug, Clone, Copy)]
pub(super) struct Row {
    pub(super) name: &'static str,
    pub(super) unit: Unit,
    pub(super) goals: &'static [Goal],
}

const fn time(name: &'static str, goals: &'static [Goal]) -> Row {
    let unit = Unit::Time;
    Row { name, unit, goals }
}

const fn rate(name: &'static str, goals: &'static [Goal]) -> Row {
    let unit = Unit::Rate;
    Row { name, unit, goals }
}

const fn number(name: &'static str, goals: &'static [Goal]) -> Row {
    let unit = Unit::Number;
    Row { name, unit, goals }
}

use Goal::{AtLeast, AtMost, Limit, Reference, Right};

pub(super) const READ: &str = "read one event through the live Reader";
pub(super) const READ_RECORD: &str = "read one event: record alone";
pub(super) const READ_WRITER: &str = "read one event while a writer commits 1,000 times a second";
pub(super) const READ_STALE: &str = "views begun after an answer that miss it, in 10⁷";
pub(super) const TRAVERSE_OUT: &str = "traverse depth 5, outgoing, all types, unlimited";
pub(super) const TRAVERSE_BOTH: &str = "traverse depth 5, both directions, unlimited";
pub(super) const TYPE_TIME: &str = "pattern: type + time window, newest 50: ids";
pub(super) const TYPE_TIME_FIELDS: &str = "pattern: type + time window, newest 50: fields read";
pub(super) const FORGOTTEN: &str = "pattern: type + time window after forgetting: ids";
pub(super) const FORGOTTEN_FIELDS: &str =
    "pattern: type + time window after forgetting: fields read";
pub(super) const TYPE_CONFIDENCE: &str = "pattern: type + confidence, newest 50";
pub(super) const TIME_ONLY: &str = "pattern: time only, newest 50";
pub(super) const BY_STRENGTH: &str = "pattern: by strength, top 50";
pub(super) const SIMILAR_UNIFORM: &str = "similar, top 10, exact: uniform";
pub(super) const SIMILAR_CLUSTERED: &str = "similar, top 10, exact: clustered";
pub(super) const APPROXIMATE: &str = "similar, top 10, approximate: clustered";
pub(super) const APPROXIMATE_BUILD: &str = "similar, top 10, approximate: build";
pub(super) const SCAN: &str = "scan of all vectors from a freshly opened file";
pub(super) const TEXT: &str = "text (BM25), 3 terms, top 10";
pub(super) const SEARCH: &str = "search: text + vector fused, top 10";
pub(super) const RESOLVE_SHORT: &str = "resolve a chain of 100";
pub(super) const RESOLVE_LONG: &str = "resolve a chain of 10,000";
pub(super) const INGEST_ONE: &str = "durable ingest of one event with 3 edges, one caller";
pub(super) const INGEST_STORE: &str = "durable ingest, 64 callers: store";
pub(super) const INGEST_GRPC: &str = "durable ingest, 64 callers: over gRPC";
pub(super) const BULK_STORE: &str = "bulk ingest, batches of 1,000: store";
pub(super) const BULK_GRPC: &str = "bulk ingest, batches of 1,000: over gRPC";
pub(super) const COMMIT_EMPTY: &str = "commit cost: empty delta";
pub(super) const COMMIT_DELTA: &str = "commit cost: delta of 1,000,000 events";
pub(super) const COMMIT_HUB: &str = "commit cost: hub of 1,000,000 edges";
pub(super) const CORRECT: &str = "correct, durable";
pub(super) const COMPRESS: &str = "compress a session of 1,000 events, durable";
pub(super) const DECAY: &str = "decay of all events (compute, rank)";
pub(super) const CHECKPOINT: &str = "checkpoint after 1 % change, all indexes, synced";
pub(super) const CHECKPOINT_STALL: &str =
    "writers during a checkpoint: p99.9 over a raw fdatasync loop";
pub(super) const OPEN_EMPTY: &str = "open to first answer: empty journal";
pub(super) const OPEN_LARGEST: &str = "open to first answer: largest journal allowed";
pub(super) const WRITTEN: &str = "bytes written per byte ingested, to 1,000,000 events";
pub(super) const SIZE: &str = "file size, bytes an event";
pub(super) const MEMORY: &str = "daemon's memory beyond the mapping, MiB";
pub(super) const GET_ONE: &str = "gRPC GetNode over the Unix socket: one caller";
pub(super) const GET_MANY: &str = "gRPC GetNode over the Unix socket: 64 in flight";
pub(super) const GET_BESIDE: &str = "gRPC GetNode, one caller: p99 while similar runs in a loop";
pub(super) const FACT_ADD: &str = "fact memory: add one text as it is";
pub(super) const FACT_BATCH: &str = "fact memory: add 1,000 texts as they are";
pub(super) const FACT_TURN: &str = "fact memory: add a sentence by patterns and rules";
pub(super) const FACT_SEARCH: &str = "fact memory: search a scope of 1,000";
pub(super) const FACT_FILTER: &str = "fact memory: search a scope of all by a filter that ten pass";
pub(super) const FACT_ENTITY: &str = "fact memory: an entity of 100,000";
pub(super) const FACT_WIDENED: &str = "fact memory: search widened by the graph";
pub(super) const FACT_TALK: &str = "fact memory: form a conversation of 200 turns";
pub(super) const FACT_GET: &str = "fact memory: get";
pub(super) const FACT_HISTORY: &str = "fact memory: history of five versions";
pub(super) const FACT_MEMORY: &str = "fact memory: daemon's memory beyond the mapping, MiB";
pub(super) const HTTP_ADD: &str = "HTTP: add one text as it is";
pub(super) const HTTP_SEARCH: &str = "HTTP: search a scope of 1,000";
pub(super) const HTTP_GET_MANY: &str = "HTTP: get, 64 callers with a connection each";

/// All of them, in the order of the page, and one that the page only asks to be seen.
pub(super) const ROWS: [Row; 57] = [
    time(READ, &[Reference(10.0), Limit(1.5)]),
    time(READ_RECORD, &[Limit(1.5)]),
    time(READ_WRITER, &[Limit(1.3)]),
    number(READ_STALE, &[AtMost(0.0)]),
    time(TRAVERSE_OUT, &[Reference(25.0)]),
    time(TRAVERSE_BOTH, &[Reference(25.0)]),
    time(TYPE_TIME, &[Reference(150.0)]),
    time(TYPE_TIME_FIELDS, &[Reference(40.0)]),
    time(FORGOTTEN, &[Reference(150.0)]),
    time(FORGOTTEN_FIELDS, &[Reference(40.0)]),
    time(TYPE_CONFIDENCE, &[Reference(50.0)]),
    time(TIME_ONLY, &[Reference(100.0)]),
    time(BY_STRENGTH, &[Reference(10.0)]),
    time(SIMILAR_UNIFORM, &[Reference(35.0)]),
    time(SIMILAR_CLUSTERED, &[Reference(35.0)]),
    // Of the exact answer's time: a sixth, and a twentieth at 1,000,000 (`rows::similar`).
    time(APPROXIMATE, &[Limit(1.0)]),
    time(APPROXIMATE_BUILD, &[AtMost(3.0)]),
    time(SCAN, &[Reference(10.0)]),
    time(TEXT, &[Reference(15.0)]),
    time(SEARCH, &[Reference(25.0)]),
    time(RESOLVE_SHORT, &[Reference(5.0)]),
    time(RESOLVE_LONG, &[Right]),
    time(INGEST_ONE, &[Limit(1.5)]),
    rate(INGEST_STORE, &[Limit(0.6)]),
    rate(INGEST_GRPC, &[Limit(0.3)]),
    rate(BULK_STORE, &[AtLeast(300_000.0)]),
    rate(BULK_GRPC, &[AtLeast(100_000.0)]),
    // What the two rows below are held against.
    time(COMMIT_EMPTY, &[]),
    time(COMMIT_DELTA, &[Limit(1.5)]),
    time(COMMIT_HUB, &[Limit(1.5)]),
    time(CORRECT, &[Limit(1.5)]),
    time(COMPRESS, &[AtMost(5e-3)]),
    time(DECAY, &[Reference(5.0)]),
    // The limit is twice a write and sync of the same bytes, and half a microsecond an event (`rows::checkpoint`).
    time(CHECKPOINT, &[Limit(1.0)]),
    time(CHECKPOINT_STALL, &[AtMost(5e-3)]),
    time(OPEN_EMPTY, &[AtMost(200e-6)]),
    time(OPEN_LARGEST, &[AtMost(30e-3)]),
    number(WRITTEN, &[AtMost(10.0)]),
    number(SIZE, &[AtMost(985.0)]),
    number(MEMORY, &[AtMost(25.0)]),
    time(GET_ONE, &[Limit(1.5)]),
    rate(GET_MANY, &[Limit(0.5)]),
    time(GET_BESIDE, &[]),
    time(FACT_ADD, &[Limit(1.3)]),
    time(FACT_BATCH, &[AtMost(100e-3)]),
    time(FACT_TURN, &[AtMost(5e-3)]),
    time(FACT_SEARCH, &[AtMost(1e-3)]),
    time(FACT_FILTER, &[AtMost(2e-3)]),
    time(FACT_ENTITY, &[AtMost(200e-6)]),
    time(FACT_WIDENED, &[Limit(1.3)]),
    time(FACT_TALK, &[AtMost(1.0)]),
    time(FACT_GET, &[Limit(1.5)]),
    time(FACT_HISTORY, &[Limit(1.5)]),
    number(FACT_MEMORY, &[]),
    time(HTTP_ADD, &[Limit(1.5)]),
    time(HTTP_SEARCH, &[Limit(1.5)]),
    rate(HTTP_GET_MANY, &[Limit(0.2)]),
];
