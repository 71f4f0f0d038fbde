//! SQLite as a peer: events and edges as tables with the indexes that the queries need, WAL, every commit synced.

use std::path::Path;
use std::time::Duration;

use amem_format::event::{Edge, Event, Graph};
use rusqlite::{Connection, params};

use super::corpus::Corpus;
use super::measure::Outcome;

const SCHEMA: &str = "
    pragma journal_mode = wal;
    pragma synchronous = full;
    pragma mmap_size = 4294967296;
    pragma cache_size = -262144;
    create table events (id integer primary key, type integer, created integer, session integer, confidence real,
        strength real, text text, vector blob);
    create table edges (source integer, target integer, type integer, weight real,
        primary key (source, target, type)) without rowid;
    create index edges_back on edges (target, source);
    create index events_type on events (type, created);
    create index events_created on events (created);
    create index events_strength on events (strength);";

/// Everything reachable in five steps.
pub(super) const OUTGOING: &str = "
    with recursive reached (id, depth) as (
        values (?1, 0) union
        select edges.target, depth + 1 from reached join edges on edges.source = reached.id where depth < 5)
    select distinct id from reached";
pub(super) const BOTH: &str = "
    with recursive reached (id, depth) as (
        values (?1, 0) union
        select edges.target, depth + 1 from reached join edges on edges.source = reached.id where depth < 5 union
        select edges.source, depth + 1 from reached join edges on edges.target = reached.id where depth < 5)
    select distinct id from reached";
pub(super) const TYPE_TIME: &str = "
    select id from events where type = ?1 and created >= ?2 and created < ?3 order by created desc limit 50";
pub(super) const TYPE_TIME_FIELDS: &str = "
    select id, type, created, session, confidence, strength, text, vector
    from events where type = ?1 and created >= ?2 and created < ?3 order by created desc limit 50";
pub(super) const TYPE_CONFIDENCE: &str = "
    select id from events where type = ?1 and confidence >= ?2 order by created desc limit 50";
pub(super) const TIME_ONLY: &str = "
    select id from events where created >= ?1 and created < ?2 order by created desc limit 50";
pub(super) const BY_STRENGTH: &str =
    "select id from events order by strength desc, id desc limit 50";

/// A database of events.
pub(super) struct Sqlite {
    pub(super) connection: Connection,
}

impl Sqlite {
    /// An empty one.
    pub(super) fn create(path: &Path) -> Outcome<Self> {
        let connection = Connection::open(path)?;
        connection.execute_batch(SCHEMA)?;
        Ok(Self { connection })
    }

    /// Another connection to an existing database.
    pub(super) fn open(path: &Path) -> Outcome<Self> {
        let connection = Connection::open(path)?;
        connection.busy_timeout(Duration::from_secs(60))?;
        connection.execute_batch("pragma synchronous = full;")?;
        Ok(Self { connection })
    }

    /// All of the data.
    pub(super) fn fill(&self, corpus: &Corpus) -> Outcome<()> {
        for first in (0..corpus.nodes).step_by(10_000) {
            let events: Result<Vec<_>, _> = (first..corpus.nodes.min(first + 10_000))
                .map(|id| corpus.event_at(id))
                .collect();
            let edges: Vec<_> = (first..corpus.nodes.min(first + 10_000))
                .flat_map(|id| corpus.edges(id))
                .collect();
            self.insert(&events?, &edges)?;
        }
        self.connection
            .execute_batch("pragma wal_checkpoint(truncate); analyze;")?;
        Ok(())
    }

    /// Events and edges, in one transaction.
    pub(super) fn insert(&self, events: &[Event], edges: &[Edge]) -> Outcome<()> {
        self.connection.execute_batch("begin immediate")?;
        let mut event_row = self
            .connection
            .prepare("insert into events values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)")?;
        for event in events {
            let vector = event.vector.iter().flatten().flat_map(|x| x.to_le_bytes());
            event_row.execute(params![
                event.id.0 as i64,
                event.event_type.0,
                event.created_at.0,
                event.session.0,
                event.confidence,
                event.decay_score,
                event.text,
                vector.collect::<Vec<u8>>(),
            ])?;
        }
        let mut edge_row = self
            .connection
            .prepare("insert or ignore into edges values (?1, ?2, ?3, ?4)")?;
        for edge in edges {
            edge_row.execute(params![
                edge.source.0 as i64,
                edge.target.0 as i64,
                edge.edge_type.0,
                edge.weight
            ])?;
        }
        self.connection.execute_batch("commit")?;
        Ok(())
    }

    /// The ids that a statement returns.
    pub(super) fn ids(
        statement: &mut rusqlite::Statement<'_>,
        params: impl rusqlite::Params,
    ) -> Outcome<Vec<u64>> {
        let rows = statement.query_map(params, |row| row.get::<_, i64>(0))?;
        let ids: Result<Vec<_>, _> = rows.map(|id| id.map(|id| id as u64)).collect();
        Ok(ids?)
    }
}
