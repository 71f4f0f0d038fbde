//! Key-value stores as peers of writing: the alternative to SQLite for building a memory.
//!
//! An event is one value under its number, an edge a key in each of two tables, so that it is found from both ends. A
//! commit is one transaction, synced. Neither has an index of types, times, words or vectors, which ours makes too.

use std::path::Path;

use amem_format::event::{Edge, Event};
use fjall::{Config, Keyspace, PartitionCreateOptions, PartitionHandle, PersistMode};
use redb::{Database, Durability, TableDefinition};

use super::measure::Outcome;

const EVENTS: TableDefinition<'_, u64, &[u8]> = TableDefinition::new("events");
const EDGES: TableDefinition<'_, &[u8], f32> = TableDefinition::new("edges");
const BACK: TableDefinition<'_, &[u8], ()> = TableDefinition::new("back");

/// Events and their edges that are written together.
#[derive(Debug, Clone)]
pub(super) struct Batch {
    pub(super) events: Vec<Event>,
    pub(super) edges: Vec<Edge>,
}

/// A database of redb.
pub(super) struct Redb(Database);

impl Redb {
    pub(super) fn create(path: &Path) -> Outcome<Self> {
        Ok(Self(Database::create(path)?))
    }

    /// Writes a batch, durably.
    pub(super) fn write(&self, batch: &Batch) -> Outcome<()> {
        let mut transaction = self.0.begin_write()?;
        transaction.set_durability(Durability::Immediate);
        {
            let mut events = transaction.open_table(EVENTS)?;
            for event in &batch.events {
                events.insert(event.id.0, value(event).as_slice())?;
            }
            let mut edges = transaction.open_table(EDGES)?;
            let mut back = transaction.open_table(BACK)?;
            for edge in &batch.edges {
                edges.insert(key(edge, false).as_slice(), edge.weight)?;
                back.insert(key(edge, true).as_slice(), ())?;
            }
        }
        Ok(transaction.commit()?)
    }
}

/// A keyspace of fjall.
pub(super) struct Fjall {
    keyspace: Keyspace,
    events: PartitionHandle,
    edges: PartitionHandle,
    back: PartitionHandle,
}

impl Fjall {
    pub(super) fn create(path: &Path) -> Outcome<Self> {
        let keyspace = Config::new(path).open()?;
        let open = |name| keyspace.open_partition(name, PartitionCreateOptions::default());
        let (events, edges, back) = (open("events")?, open("edges")?, open("back")?);
        Ok(Self {
            keyspace,
            events,
            edges,
            back,
        })
    }

    /// Writes a batch, durably.
    pub(super) fn write(&self, batch: &Batch) -> Outcome<()> {
        let mut all = self
            .keyspace
            .batch()
            .durability(Some(PersistMode::SyncData));
        for event in &batch.events {
            all.insert(&self.events, event.id.0.to_be_bytes(), value(event));
        }
        for edge in &batch.edges {
            all.insert(&self.edges, key(edge, false), edge.weight.to_le_bytes());
            all.insert(&self.back, key(edge, true), []);
        }
        Ok(all.commit()?)
    }
}

/// All of an event.
fn value(event: &Event) -> Vec<u8> {
    let vector = event.vector.as_deref().unwrap_or_default();
    let mut out = Vec::with_capacity(64 + event.text.len() + 4 * vector.len());
    out.push(event.event_type.0);
    out.extend(event.created_at.0.to_le_bytes());
    out.extend(event.session.0.to_le_bytes());
    out.extend(event.confidence.to_le_bytes());
    out.extend((event.text.len() as u32).to_le_bytes());
    out.extend(event.text.as_bytes());
    out.extend(vector.iter().flat_map(|x| x.to_le_bytes()));
    out
}

/// An edge by where it starts, or by where it ends.
fn key(edge: &Edge, is_back: bool) -> Vec<u8> {
    let (first, second) = if is_back {
        (edge.target, edge.source)
    } else {
        (edge.source, edge.target)
    };
    let mut out = Vec::with_capacity(17);
    out.extend(first.0.to_be_bytes());
    out.extend(second.0.to_be_bytes());
    out.push(edge.edge_type.0);
    out
}
