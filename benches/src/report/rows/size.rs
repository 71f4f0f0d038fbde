//! Bytes: of a file by section, and those written on the way to a million events.
//!
//! Written are the bytes that the system says this process sent to storage, whole pages counted; ingested are the bytes
//! of texts, vectors and edges and forty of fields an event. Checkpoints follow the daemon's rules.

use amem_format::base::section;
use amem_store::mutation::Ingest;
use amem_store::{Mutation, Request};

use super::super::corpus::{Corpus, Vectors};
use super::super::list;
use super::super::measure::{Outcome, same};
use super::super::table::{Findings, Measurement};
use super::super::world::World;
use super::bulk::BATCH;
use super::new_event::batch;
use super::open::largest_journal;

/// Events of a steady ingest.
const STEADY: u64 = 1_000_000;
/// Bytes of an edge: both ends, type, weight.
const EDGE: usize = 21;
/// Bytes of an event's fields.
const FIELDS: usize = 40;

/// The size of a file.
pub(super) fn file(world: &World, findings: &mut Findings) -> Outcome<()> {
    let held = world.clustered()?;
    let view = held.reader.view()?;
    let (base, nodes) = (view.brain().base(), world.nodes as f64);
    same("file size", &base.nodes(), &world.nodes)?;
    // A base ends where its journal begins.
    let bytes = base.journal().unwrap_or(view.brain().mapped());
    let header = base.header();
    let mut parts = vec![
        ("records", header.edge_table - header.node_table),
        ("edges", header.content - header.edge_table),
        ("texts", header.vectors - header.content),
        ("vectors", header.nodes * u64::from(header.dimension) * 4),
    ];
    parts.extend(
        base.table()
            .places
            .iter()
            .map(|place| (section::name(place.tag), place.len)),
    );
    let parts = parts
        .iter()
        .map(|(name, len)| (*name, *len as f64 / nodes))
        .filter(|part| part.1 >= 0.05);
    let parts: Vec<_> = parts
        .map(|(name, each)| format!("{name} {each:.1}"))
        .collect();
    world.file()?;
    findings.add(Measurement {
        row: list::SIZE,
        ours: Some(bytes as f64 / nodes),
        reference: Some(std::fs::metadata(world.reference_path())?.len() as f64 / nodes),
        note: parts.join(", "),
        ..Measurement::default()
    });
    Ok(())
}

/// Bytes written per byte ingested.
pub(super) fn written(world: &World, findings: &mut Findings) -> Outcome<()> {
    let mut store = world.empty("steady")?;
    let corpus = Corpus {
        nodes: STEADY,
        vectors: Vectors::Clustered,
    };
    let before = written_bytes()?;
    let (mut ingested, mut folds) = (0, 0);
    for first in (0..STEADY).step_by(BATCH as usize) {
        let ingest = batch(&corpus, first, BATCH, first);
        ingested += bytes_of(&ingest);
        store.execute(Request::new(Mutation::Ingest(ingest)))?;
        let base = store.brain().base().journal().unwrap_or_default();
        if store.journal_bytes() > largest_journal(base) {
            store.checkpoint()?;
            folds += 1;
        }
    }
    let written = written_bytes()? - before;
    same("steady ingest", &store.view().nodes(), &STEADY)?;
    store.close()?;
    findings.add(Measurement {
        row: list::WRITTEN,
        ours: Some(written as f64 / ingested as f64),
        note: format!("{ingested} bytes ingested, {written} written, {folds} checkpoints"),
        ..Measurement::default()
    });
    Ok(())
}

fn bytes_of(ingest: &Ingest) -> usize {
    let vector = |vector: &Option<Vec<f32>>| vector.as_ref().map_or(0, |v| 4 * v.len());
    let events = ingest
        .events
        .iter()
        .map(|event| FIELDS + event.text.len() + vector(&event.vector));
    events.sum::<usize>() + EDGE * ingest.links.len()
}

/// Bytes that this process sent to storage.
fn written_bytes() -> Outcome<u64> {
    let text = std::fs::read_to_string("/proc/self/io")?;
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("write_bytes: "));
    Ok(line
        .ok_or("/proc/self/io does not tell write_bytes")?
        .trim()
        .parse()?)
}
