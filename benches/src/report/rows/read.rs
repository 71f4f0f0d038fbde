//! Reading one event: random ids, each of which depends on the bytes of the event before.
//!
//! All peers read the same ids and add up the same numbers: fields, the bytes of the text, the first line of the
//! vector; the sums are compared. The limit is a chase through the same lines of the same mapping: the record, the text
//! that the record names, the vector; of the record alone, the record's. Every read takes a view of its own from the
//! live reader.

use std::borrow::Cow;
use std::cell::Cell;
use std::hint::black_box;
use std::time::Instant;

use agentic_memory::{CognitiveEvent, MmapReader};
use amem_format::NodeId;
use amem_format::base::node;
use amem_format::view::View;

use super::super::corpus::DIMENSION;
use super::super::list;
use super::super::measure::{Contest, Outcome, same};
use super::super::table::{Findings, Measurement};
use super::super::world::{BenchBrain, World};
use super::writer;

/// Bytes of a line.
pub(super) const LINE: usize = 64;
/// Reads in a turn.
const READS: u64 = 100_000;
/// Reads in a turn beside a writer.
const READS_BESIDE: u64 = 1_000_000;
/// Views that are compared with the writer's answers.
const VIEWS: u64 = 10_000_000;

/// All rows.
pub(super) fn run(world: &World, findings: &mut Findings) -> Outcome<()> {
    let (held, file) = (world.clustered()?, world.file()?);
    let nodes = world.nodes;
    let view = held.reader.view()?;
    let lines = Lines::of(&view)?;
    let (reader, start) = (&held.reader, Cell::new(1));
    let one = || walk(nodes, 5, 20_000, |id| ours(&reader.view()?, NodeId(id)));
    let other = || walk(nodes, 5, 20_000, |id| Ok(theirs(&file.read_node(id)?)));
    same("read one event", &one()?, &other()?)?;

    let medians = Contest::new()
        .turn("whole", || {
            turn(nodes, READS, &start, |id| ours(&reader.view()?, NodeId(id)))
        })
        .turn("record", || {
            turn(nodes, READS, &start, |id| {
                record(&reader.view()?, NodeId(id))
            })
        })
        .turn("reference", || {
            turn(nodes, READS, &start, |id| read_theirs(file, id))
        })
        .turn("three lines", || {
            turn(nodes, READS, &start, |id| Ok(lines.three(id)))
        })
        .turn("one line", || {
            turn(nodes, READS, &start, |id| Ok(lines.one(id)))
        })
        .run()?;
    findings.add(Measurement {
        row: list::READ,
        ours: medians.of("whole"),
        reference: medians.of("reference"),
        limit: medians.of("three lines"),
        note: format!("{:.0} % of the texts are packed", 100.0 * packed(&view)?),
        ..Measurement::default()
    });
    findings.add(Measurement {
        row: list::READ_RECORD,
        ours: medians.of("record"),
        limit: medians.of("one line"),
        ..Measurement::default()
    });
    beside_a_writer(held, nodes, findings)
}

/// The share of compressed texts.
fn packed(view: &View) -> Outcome<f64> {
    let (mut packed, mut all) = (0u32, 0u32);
    for id in (0..view.nodes()).step_by(97) {
        let text = view.node(NodeId(id))?.text()?;
        packed += u32::from(matches!(text, Cow::Owned(_)));
        all += 1;
    }
    Ok(f64::from(packed) / f64::from(all.max(1)))
}

fn beside_a_writer(held: &BenchBrain, nodes: u64, findings: &mut Findings) -> Outcome<()> {
    let (reader, start) = (&held.reader, Cell::new(1));
    let mut store = held.store.borrow_mut();
    let read = |id| ours(&reader.view()?, NodeId(id));
    let medians = Contest::new()
        .turn("alone", || turn(nodes, READS_BESIDE, &start, read))
        .turn("beside", || {
            writer::beside(&mut store, |_| turn(nodes, READS_BESIDE, &start, read))
        })
        .run()?;
    findings.add(Measurement {
        row: list::READ_WRITER,
        ours: medians.of("beside"),
        limit: medians.of("alone"),
        note: "the limit is the same without a writer, in the same rounds".into(),
        ..Measurement::default()
    });
    let (stale, commits) = writer::beside(&mut store, |pace| {
        let (mut stale, before) = (0u64, pace.commits());
        for _ in 0..VIEWS {
            let answered = pace.answered();
            stale += u64::from(reader.view()?.lsn().0 < answered);
        }
        Ok((stale, pace.commits() - before))
    })?;
    findings.add(Measurement {
        row: list::READ_STALE,
        ours: Some(stale as f64),
        note: format!("{VIEWS} views, {commits} commits meanwhile"),
        ..Measurement::default()
    });
    Ok(())
}

/// One turn: the seconds of one read. Each goes on where the one before ended.
fn turn(
    nodes: u64,
    reads: u64,
    start: &Cell<u64>,
    read: impl FnMut(u64) -> Outcome<u64>,
) -> Outcome<f64> {
    let began = Instant::now();
    let sum = walk(nodes, start.get(), reads, read)?;
    let took = began.elapsed();
    start.set(black_box(sum) | 1);
    Ok(took.as_secs_f64() / reads as f64)
}

/// Reads event after event, and gives the sum of all: the next id depends on what was read.
fn walk(
    nodes: u64,
    start: u64,
    reads: u64,
    mut read: impl FnMut(u64) -> Outcome<u64>,
) -> Outcome<u64> {
    let mut sum = start;
    for step in 0..reads {
        let mixed = (sum ^ step).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let id = (u128::from(mixed) * u128::from(nodes)) >> 64;
        sum = sum.wrapping_add(read(id as u64)?).rotate_left(5);
    }
    Ok(sum)
}

/// Every field of an event, the bytes of its text and the first line of its vector, in a sum.
#[inline]
pub(super) fn ours(view: &View, id: NodeId) -> Outcome<u64> {
    let node = view.node(id)?;
    let text = node.text()?;
    let vector = node.vector()?.unwrap_or_default();
    black_box((node.flags(), node.lambda()));
    let fields = sum_of([
        node.id().0,
        node.event_type().0.into(),
        node.created_at().0 as u64,
        node.session().0.into(),
        node.confidence().to_bits().into(),
        node.access_count().into(),
        node.last_accessed().0 as u64,
        node.strength().to_bits().into(),
    ]);
    Ok(fields.wrapping_add(content(text.as_bytes(), vector)))
}

/// The same of the reference's event.
pub(super) fn theirs(event: &CognitiveEvent) -> u64 {
    let fields = sum_of([
        event.id,
        event.event_type as u64,
        event.created_at,
        event.session_id.into(),
        event.confidence.to_bits().into(),
        event.access_count.into(),
        event.last_accessed,
        event.decay_score.to_bits().into(),
    ]);
    fields.wrapping_add(content(event.content.as_bytes(), &event.feature_vec))
}

fn read_theirs(file: &MmapReader, id: u64) -> Outcome<u64> {
    Ok(theirs(&file.read_node(id)?))
}

/// The fields of an event's record alone.
#[inline]
fn record(view: &View, id: NodeId) -> Outcome<u64> {
    let node = view.node(id)?;
    let confidence = u64::from(node.confidence().to_bits());
    Ok(sum_of([
        node.created_at().0 as u64,
        node.session().0.into(),
        confidence,
    ]))
}

fn sum_of<const N: usize>(numbers: [u64; N]) -> u64 {
    numbers
        .iter()
        .fold(0, |sum, number| sum.wrapping_add(*number))
}

fn content(text: &[u8], vector: &[f32]) -> u64 {
    let text: u64 = text.iter().map(|&byte| u64::from(byte)).sum();
    let line = vector.iter().take(LINE / 4).map(|x| u64::from(x.to_bits()));
    line.fold(text, u64::wrapping_add)
}

/// The bytes of the mapping, read by hand.
struct Lines<'a> {
    records: &'a [u8],
    texts: &'a [u8],
    vectors: &'a [f32],
}

impl<'a> Lines<'a> {
    fn of(view: &'a View) -> Outcome<Self> {
        let (brain, header) = (view.brain(), view.brain().base().header());
        Ok(Self {
            records: brain.bytes(header.node_table, header.nodes * node::LEN as u64)?,
            texts: brain.bytes(header.content, header.vectors - header.content)?,
            vectors: brain.base().vectors()?,
        })
    }

    #[inline]
    fn one(&self, id: u64) -> u64 {
        number(self.records, id as usize * node::LEN)
    }

    #[inline]
    fn three(&self, id: u64) -> u64 {
        let at = id as usize * node::LEN;
        let text = number(self.texts, number(self.records, at + 44) as usize);
        let vector = self.vectors[id as usize * DIMENSION as usize].to_bits();
        self.one(id).wrapping_add(text).wrapping_add(vector.into())
    }
}

/// Eight bytes as a number.
#[inline]
fn number(bytes: &[u8], at: usize) -> u64 {
    let mut eight = [0; 8];
    eight.copy_from_slice(&bytes[at..at + 8]);
    u64::from_le_bytes(eight)
}
