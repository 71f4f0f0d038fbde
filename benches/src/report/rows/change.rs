//! Changes of existing events: a correction, and a session of 1,000 events that becomes an episode, both durable.
//!
//! The reference does both in memory and takes tens of milliseconds an edge; so its correction has a few turns, and its
//! compression is that of a session of 100 events once, times ten. Compared: a corrected event resolves to its
//! correction on both sides; of a compressed session, a listing has the episode alone.

use std::cell::{Cell, RefCell};
use std::time::Instant;

use agentic_memory::{QueryEngine, WriteEngine};
use amem_format::{EventType, NodeId};
use amem_query::{Pattern, Resolve, Selection};
use amem_store::mutation::{Correct, Ingest, NewEvent};
use amem_store::{Mutation, Request, Store};

use super::super::corpus::{DIMENSION, Vectors};
use super::super::list;
use super::super::measure::{Contest, Outcome, each, same, slack};
use super::super::reference;
use super::super::table::{Findings, Measurement, duration};
use super::super::world::World;
use crate::latency::peers::RawLog;

/// Corrections of a turn, and of a turn of the reference.
const CORRECTIONS: u64 = 100;
const THEIR_CORRECTIONS: u64 = 2;
/// Events of a compressed session.
const SESSION: u64 = 1_000;
/// Events that the reference compresses, once.
const THEIR_SESSION: u64 = 100;
const TEXT: &str =
    "on second thought it was the other way round, as the logs of the week before show";

/// Corrections.
pub(super) fn correct(world: &World, findings: &mut Findings) -> Outcome<()> {
    let held = world.fresh("corrected")?;
    let mut store = held.store.borrow_mut();
    let graph = RefCell::new(reference::bare(&world.corpus(Vectors::Clustered))?);
    let engine = WriteEngine::new(DIMENSION as usize);
    // Events without a successor: those at 5 of 8 are in no chain.
    let mut targets = (0..world.nodes).step_by(8).map(|id| id + 5);
    let mut raw = RawLog::new(world.path())?;
    let bytes = Cell::new(0);
    let first = targets.next().ok_or("no event to correct")?;
    check(&mut store, &mut graph.borrow_mut(), NodeId(first))?;
    let mut theirs = (0..world.nodes).step_by(8).map(|id| id + 6);
    let medians = Contest::new()
        .turn("ours", || {
            let journal = store.journal_bytes();
            let time = each(
                targets.by_ref().take(CORRECTIONS as usize).collect(),
                |id| Ok(store.execute(correction(NodeId(id))).map(drop)?),
            )?;
            bytes.set((store.journal_bytes() - journal) / CORRECTIONS);
            Ok(time)
        })
        .turn("raw", || {
            let (times, _) = raw.measure(bytes.get().max(200) as usize, CORRECTIONS as usize)?;
            Ok(times.value_at_quantile(0.5) as f64 / 1e9)
        })
        .turn("reference", || {
            let graph = &mut graph.borrow_mut();
            each(
                theirs.by_ref().take(THEIR_CORRECTIONS as usize).collect(),
                |id| Ok(engine.correct(graph, id, TEXT, 1).map(drop)?),
            )
        })
        .run()?;
    findings.add(Measurement {
        row: list::CORRECT,
        ours: medians.of("ours"),
        reference: medians.of("reference"),
        limit: medians.of("raw"),
        note: "the reference corrects in memory".into(),
        ..Measurement::default()
    });
    Ok(())
}

fn correction(target: NodeId) -> Request {
    Request::new(Mutation::Correct(Correct {
        target,
        // Other events of the data may supersede it already.
        to_head: true,
        event: NewEvent::new(EventType::CORRECTION, TEXT),
        target_confidence: None,
        reason: None,
    }))
}

fn check(
    store: &mut Store,
    graph: &mut agentic_memory::MemoryGraph,
    target: NodeId,
) -> Outcome<()> {
    let made = store.execute(correction(target))?.ids;
    let resolve = Resolve {
        event: target,
        ..Resolve::default()
    };
    same("correct", &vec![resolve.run(&store.view())?.head], &made)?;
    let engine = WriteEngine::new(DIMENSION as usize);
    let other = engine.correct(graph, target.0, TEXT, 1)?;
    let head = QueryEngine::new().resolve(graph, other)?.id;
    same("correct, reference", &head, &other)
}

/// Compression.
pub(super) fn compress(world: &World, findings: &mut Findings) -> Outcome<()> {
    let held = world.fresh("compressed")?;
    let mut store = held.store.borrow_mut();
    let mut turn = 0;
    let mut raw = RawLog::new(world.path())?;
    let medians = Contest::new()
        .turn("ours", || {
            turn += 1;
            let key = format!("compressed {turn}");
            let opened = store.execute(Request::new(Mutation::OpenSession { key }))?;
            let session = opened.session.ok_or("a session without a number")?;
            let event = |n| NewEvent {
                session: Some(session),
                ..NewEvent::new(EventType::FACT, held.corpus.text(n))
            };
            let ingest = Ingest {
                events: (0..SESSION).map(event).collect(),
                ..Ingest::default()
            };
            store.execute(Request::new(Mutation::Ingest(ingest)))?;
            let compress = Request::new(Mutation::Compress {
                session,
                text: TEXT.into(),
                vector: None,
            });
            let began = Instant::now();
            let answer = store.execute(compress)?;
            let took = began.elapsed().as_secs_f64();
            let selection = Selection {
                sessions: vec![session],
                ..Selection::default()
            };
            let listed = Pattern {
                selection,
                ..Pattern::default()
            }
            .run(&store.view())?;
            same("compress", &listed.ids, &answer.ids)?;
            Ok(took)
        })
        .turn("raw", || {
            let (times, _) = raw.measure(world.calibration.frame_bytes, 20)?;
            Ok(times.value_at_quantile(0.5) as f64 / 1e9)
        })
        .run()?;
    let sync = medians.of("raw").unwrap_or_default();
    findings.add(Measurement {
        row: list::COMPRESS,
        ours: medians.of("ours"),
        reference: compressed_by_reference(world)?,
        slack: slack(sync),
        note: format!(
            "the goal allows for a sync of {}; the reference in memory, {THEIR_SESSION} events once, times {}",
            duration(sync),
            SESSION / THEIR_SESSION
        ),
        ..Measurement::default()
    });
    Ok(())
}

/// The expected time of the reference; none if it would exceed the rest of the report.
fn compressed_by_reference(world: &World) -> Outcome<Option<f64>> {
    if world.nodes > 100_000 {
        return Ok(None);
    }
    let mut graph = reference::bare(&world.corpus(Vectors::Clustered))?;
    let began = Instant::now();
    WriteEngine::new(DIMENSION as usize).compress_session(&mut graph, 1, TEXT)?;
    Ok(Some(
        began.elapsed().as_secs_f64() * (SESSION / THEIR_SESSION) as f64,
    ))
}
