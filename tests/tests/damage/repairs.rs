//! A damaged file is repaired: the new one opens and is whole, has nothing that the brain had not, and the report names
//! what was lost.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use amem_doctor::repair::{LOST, RepairReport, repair};
use amem_doctor::verify;
use amem_format::base_builder;
use amem_format::brain::Brain;
use amem_format::event::{Edge, Event, Graph, MemoryGraph};
use amem_format::mapping::Map;
use amem_format::view::{AsOf, View};
use amem_format::{Flags, Micros};
use amem_tests::damaged::open;
use amem_tests::graphs::collect;
use amem_tests::random::Random;
use uuid::Uuid;

use crate::{KNOWN, all, seed};

const PAGE: usize = 4096;
/// Events and edges of one repair that may be others than they were: those whose records, of 24 bytes and more, a
/// damage of 200 bytes of noise has touched, or a page of zeros cut in two. Whole records of zeros are none.
const DIFFER_MAX: usize = 16;

/// What was found.
#[derive(Debug, Default)]
struct Counts {
    refused: usize,
    lost_nothing: usize,
    lost: usize,
    /// Of these, in which no value may be another than it was.
    lost_and_certain: usize,
    /// Changed events and edges, reported as doubtful; and of one repair.
    differ: usize,
    differ_most: usize,
    events: usize,
}

/// What a repaired brain has of what was there.
#[derive(Debug)]
struct Coverage {
    /// All of it.
    all: bool,
    /// What it has is what it was, value by value.
    certain: bool,
    /// Changed events and edges, carried over from a damaged range and reported as doubtful.
    differ: usize,
}

#[test]
fn a_repaired_brain_is_valid_and_its_losses_are_reported() {
    let random = &mut Random::new(seed());
    let known = open(KNOWN.bytes()).unwrap();
    let (mut counts, mut failures) = (Counts::default(), Vec::new());
    let tries = if all() { 4000 } else { 120 };
    for at in 0..tries {
        let (name, damaged) = damage(at, random);
        let held = catch_unwind(AssertUnwindSafe(|| check(&damaged, &known, &mut counts)));
        match held {
            Ok(Ok(())) => {}
            Ok(Err(why)) => failures.push(format!("{name}: {why}")),
            Err(_) => failures.push(format!("{name}: a panic")),
        }
    }
    println!("{tries} repairs: {counts:?}");
    assert!(
        failures.is_empty(),
        "{} of them:\n{}",
        failures.len(),
        failures.join("\n")
    );
    assert!(counts.lost_nothing > 0 && counts.lost_and_certain > 0);
}

/// One bit, some noise, a page of zeros, or a cut.
fn damage(at: usize, random: &mut Random) -> (String, Vec<u8>) {
    let mut bytes = KNOWN.bytes().to_vec();
    let place = random.below(bytes.len() as u64) as usize;
    let name = match at % 4 {
        0 => {
            bytes[place] ^= 1 << random.below(8);
            format!("a bit of byte {place}")
        }
        1 => {
            let end = bytes.len().min(place + 1 + random.below(200) as usize);
            bytes[place..end]
                .iter_mut()
                .for_each(|b| *b = random.number() as u8);
            format!("noise in bytes {place}..{end}")
        }
        2 => {
            let page = place / PAGE;
            bytes[page * PAGE..(page + 1) * PAGE].fill(0);
            format!("page {page} zeroed")
        }
        _ => {
            bytes.truncate(place);
            format!("cut to {place} bytes")
        }
    };
    (name, bytes)
}

fn check(damaged: &[u8], known: &View, counts: &mut Counts) -> Result<(), String> {
    let Ok(repaired) = repair(damaged, Uuid::from_u128(99), Micros(1_900_000_000_000_000)) else {
        counts.refused += 1;
        return Ok(());
    };
    let mut new = Vec::new();
    let end = base_builder::write_base(&repaired.view, &repaired.options, &mut new)
        .map_err(|e| e.to_string())?;
    base_builder::journal(&repaired.options.identity, 1, end, &mut new)
        .map_err(|e| e.to_string())?;
    let verified = verify::native(Arc::new(Map::owned(&new)), None).map_err(|e| e.to_string())?;
    if !verified.is_whole() {
        return Err(format!("the new file is not whole: {verified:?}"));
    }
    let view = open(&new).map_err(|e| e.to_string())?;
    let report = &repaired.report;
    let held = is_subset(&view, known, report)?;
    match report.lost_nothing() {
        true if !held.all => return Err("something is missing, and nothing is reported".into()),
        true => counts.lost_nothing += 1,
        false => {
            counts.lost += 1;
            counts.lost_and_certain += usize::from(held.certain);
            counts.differ += held.differ;
            counts.differ_most = counts.differ_most.max(held.differ);
        }
    }
    counts.events += view.nodes() as usize;
    Ok(())
}

/// That each event and edge is one that the brain had, or is reported; true if all are there.
fn is_subset(view: &View, known: &View, report: &RepairReport) -> Result<Coverage, String> {
    let all = collect(known);
    // What comes from a range that fails its checksum may be another.
    let certain = report.doubtful.is_empty();
    // Where commits are missing, the rest is what it was before them.
    let then = if view.lsn() == known.lsn() {
        None
    } else {
        let then = known.as_of(AsOf::Lsn(view.lsn()));
        Some(collect(&then.map_err(|e| e.to_string())?))
    };
    let was = then.as_ref().unwrap_or(&all);
    let base = Arc::new(Brain::open(Map::owned(KNOWN.bytes())).map_err(|e| e.to_string())?);
    let erased = collect(&base.view()).events;
    let erased: Vec<_> = erased.iter().map(|e| e.flags.has(Flags::ERASED)).collect();
    let erased = |at: u64| erased.get(at as usize).is_some_and(|erased| *erased);
    let lost = |part: &str| report.lost.iter().any(|lost| lost.part == part);
    let has_lost_edges = ["edge record", "edge table", "node record"]
        .into_iter()
        .any(lost);
    let mut held = Coverage {
        all: view.event_count() == all.events.len() as u64,
        certain,
        differ: 0,
    };
    for at in 0..view.event_count() {
        let event = view.event_at(at).map_err(|e| e.to_string())?;
        let edges = view.edges_at(at).map_err(|e| e.to_string())?;
        let Some(is) = all.events.get(at as usize) else {
            return Err(format!("event {at} never was"));
        };
        held.all &= is_same(&event, is, true) && edges.iter().eq(edges_of(&all, is));
        let Some(earlier) = was.events.get(at as usize) else {
            return Err(format!("event {at} was not yet: {report:?}"));
        };
        // What was erased later is hidden at every moment.
        let is_erased = is.flags.has(Flags::ERASED);
        let is_left = match (is_erased, &then) {
            (true, Some(_)) if !erased(at) => true,
            _ => {
                let mut event = event.clone();
                if lost("event times") && event.event_time.is_none() {
                    event.event_time = earlier.event_time;
                }
                is_what_is_left(&event, earlier, then.is_none())
            }
        };
        if !is_left {
            let came_back = erased(at) && !(event.text.is_empty() && event.vector.is_none());
            if certain || came_back {
                return Err(format!("{event:?} was {earlier:?}: {report:?}"));
            }
            held.differ += 1;
        }
        let ever = || edges_of(&all, is).chain(edges_of(was, is));
        let never: Vec<_> = edges
            .iter()
            .filter(|e| !ever().any(|edge| edge == *e))
            .collect();
        if certain && !never.is_empty() {
            return Err(format!("{never:?} never were: {report:?}"));
        }
        held.differ += never.len();
        let lacks = edges_of(was, is).count() > edges.len() - never.len();
        if certain && lacks && !has_lost_edges {
            return Err(format!("edges of event {at} are gone: {report:?}"));
        }
    }
    if held.differ > DIFFER_MAX {
        return Err(format!("{} values differ: {report:?}", held.differ));
    }
    Ok(held)
}

fn edges_of<'g>(graph: &'g MemoryGraph, event: &Event) -> impl Iterator<Item = &'g Edge> {
    let source = event.id;
    graph.edges.iter().filter(move |edge| edge.source == source)
}

/// True if every part of an event that is not reported as lost is what it was. `is_now`: at no earlier moment.
fn is_what_is_left(event: &Event, was: &Event, is_now: bool) -> bool {
    let mut left = event.clone();
    let lost = left.attributes.as_mut().and_then(|of| of.remove(LOST));
    let Some(lost) = lost else {
        return is_same(event, was, is_now);
    };
    if left.attributes.as_ref().is_some_and(|of| of.is_empty()) {
        left.attributes = None;
    }
    let lost = |part: &str| {
        let parts = lost.as_array();
        parts.is_some_and(|of| of.iter().any(|l| l == part))
    };
    if lost("record") {
        return left.text.is_empty() && left.vector.is_none();
    }
    if lost("time") {
        left.created_at = was.created_at;
    }
    if lost("text") && left.text.is_empty() {
        left.text.clone_from(&was.text);
    }
    if lost("vector") && left.vector.is_none() {
        left.vector.clone_from(&was.vector);
    }
    if lost("attributes") && left.attributes.is_none() {
        left.attributes.clone_from(&was.attributes);
    }
    is_same(&left, was, is_now)
}

/// Decay goes on. How often an event was used has no earlier moments.
fn is_same(event: &Event, was: &Event, is_now: bool) -> bool {
    let used = |event: &Event| (event.access_count, event.last_accessed);
    // Which values it has is reported of some; what was forgotten later is hidden at every moment.
    let values = Flags::VECTOR.0 | Flags::ATTRIBUTES.0;
    let other = if is_now { 0 } else { Flags::FORGOTTEN.0 };
    let flags = |event: &Event| event.flags.0 & !(values | other);
    event.text == was.text
        && event.vector == was.vector
        && event.attributes == was.attributes
        && (event.confidence, event.lambda) == (was.confidence, was.lambda)
        && (event.event_type, event.created_at, event.session)
            == (was.event_type, was.created_at, was.session)
        && event.event_time == was.event_time
        && flags(event) == flags(was)
        && (!is_now || used(event) == used(was))
}
