//! The cost of a commit: with an empty delta, with a million events in it, and with an edge to an event of a million
//! edges. All are durable commits of one event with three edges, in the same rounds.

use amem_format::{EdgeType, EventType, NodeId};
use amem_store::mutation::{End, Ingest, NewEvent, NewLink};
use amem_store::{Mutation, Request, Store};

use super::super::list;
use super::super::measure::{Contest, Outcome, each, same};
use super::super::table::{Findings, Measurement};
use super::super::world::World;
use crate::data::Random;

/// Events of the large delta; each has an edge to the first, which is the hub.
const LARGE: u64 = 1_000_000;
const BATCH: u64 = 10_000;
/// Commits of a turn.
const COMMITS: usize = 100;

/// All three rows.
pub(super) fn run(world: &World, findings: &mut Findings) -> Outcome<()> {
    let mut small = world.empty("small-delta")?;
    fill(&mut small, 1_000)?;
    small.checkpoint()?;
    let mut large = world.empty("large-delta")?;
    fill(&mut large, LARGE)?;
    same("the large delta", &large.view().nodes(), &LARGE)?;
    let large = std::cell::RefCell::new(large);
    let mut random = Random::new(5);
    let mut numbers = move |below| {
        (0..COMMITS)
            .map(|_| [(); 3].map(|()| random.below(below - 1) + 1))
            .collect::<Vec<_>>()
    };
    let others = numbers(LARGE);
    let mut again = others.clone();
    let medians = Contest::new()
        .turn("small", || {
            each(numbers(1_000), |to| commit(&mut small, to))
        })
        .turn("large", || {
            each(others.clone(), |to| commit(&mut large.borrow_mut(), to))
        })
        .turn("hub", || {
            again.rotate_left(7);
            each(again.clone(), |[_, a, b]| {
                commit(&mut large.borrow_mut(), [0, a, b])
            })
        })
        .run();
    drop(large);
    let medians = medians?;
    let small = medians.of("small");
    for (row, name) in [
        (list::COMMIT_EMPTY, "small"),
        (list::COMMIT_DELTA, "large"),
        (list::COMMIT_HUB, "hub"),
    ] {
        findings.add(Measurement {
            row,
            ours: medians.of(name),
            limit: small.filter(|_| name != "small"),
            ..Measurement::default()
        });
    }
    Ok(())
}

/// New events, each with an edge to the first.
fn fill(store: &mut Store, events: u64) -> Outcome<()> {
    for first in (0..events).step_by(BATCH as usize) {
        let numbers = first..events.min(first + BATCH);
        let link = |number: u64| NewLink {
            source: End::New((number - first) as usize),
            target: match first {
                0 => End::New(0),
                _ => End::Event(NodeId(0)),
            },
            edge_type: EdgeType::PART_OF,
            weight: 1.0,
        };
        let ingest = Ingest {
            links: numbers
                .clone()
                .filter(|&number| number > 0)
                .map(link)
                .collect(),
            events: numbers
                .map(|number| NewEvent::new(EventType::FACT, format!("note {number}")))
                .collect(),
            ..Ingest::default()
        };
        store.execute(Request::new(Mutation::Ingest(ingest)))?;
    }
    Ok(())
}

/// One event with edges to those named, once each.
fn commit(store: &mut Store, mut to: [u64; 3]) -> Outcome<()> {
    to.sort_unstable();
    let mut links: Vec<_> = to
        .iter()
        .map(|&target| NewLink {
            source: End::New(0),
            target: End::Event(NodeId(target)),
            edge_type: EdgeType::SUPPORTS,
            weight: 0.5,
        })
        .collect();
    links.dedup_by_key(|link| link.target);
    let ingest = Ingest {
        events: vec![NewEvent::new(
            EventType::INFERENCE,
            "what follows from three notes",
        )],
        links,
        ..Ingest::default()
    };
    Ok(store
        .execute(Request::new(Mutation::Ingest(ingest)))
        .map(drop)?)
}
