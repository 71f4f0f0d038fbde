//! A damaged file is repaired: the new one opens and is whole, has nothing that the brain had not, and the report names
//! what was lost.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use amem_core::event::{Edge, Event, Graph, MemoryGraph};
use amem_core::fold;
use amem_core::mapping::Map;
use amem_core::repair::{LOST, Report, repair};
use amem_core::view::View;
use amem_core::{Micros, verify};
use amem_tests::damaged::open;
use amem_tests::graphs::collect;
use amem_tests::random::Random;
use uuid::Uuid;

use crate::{KNOWN, all, seed};

const PAGE: usize = 4096;

/// What was found.
#[derive(Debug, Default)]
struct Counts {
    refused: usize,
    lost_nothing: usize,
    lost: usize,
    events: usize,
}

#[test]
fn a_repaired_brain_is_whole_and_what_it_lacks_is_told() {
    let random = &mut Random::new(seed());
    let known = collect(&open(KNOWN.bytes()).unwrap());
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
    assert!(counts.lost_nothing > 0 && counts.lost > 0);
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

fn check(damaged: &[u8], known: &MemoryGraph, counts: &mut Counts) -> Result<(), String> {
    let Ok(repaired) = repair(damaged, Uuid::from_u128(99), Micros(1_900_000_000_000_000)) else {
        counts.refused += 1;
        return Ok(());
    };
    let mut new = Vec::new();
    let end = fold::fold(&repaired.view, &repaired.options, &mut new).map_err(|e| e.to_string())?;
    fold::journal(&repaired.options.identity, 1, end, &mut new).map_err(|e| e.to_string())?;
    let verified = verify::native(Arc::new(Map::owned(&new)), None).map_err(|e| e.to_string())?;
    if !verified.is_whole() {
        return Err(format!("the new file is not whole: {verified:?}"));
    }
    let view = open(&new).map_err(|e| e.to_string())?;
    let report = &repaired.report;
    let has_all = is_subset(&view, known, report)?;
    match report.lost_nothing() {
        true if !has_all => return Err("something is missing, and nothing is told".into()),
        true => counts.lost_nothing += 1,
        false => counts.lost += 1,
    }
    counts.events += view.nodes() as usize;
    Ok(())
}

/// That each event and edge is one that the brain had, or is told of; true if all are there.
fn is_subset(view: &View, known: &MemoryGraph, report: &Report) -> Result<bool, String> {
    // What comes from a range that fails its checksum, or is of an earlier commit than the last, may be another.
    let may_differ = !report.lost_nothing();
    let mut has_all = view.event_count() == known.events.len() as u64;
    for at in 0..view.event_count() {
        let event = view.event_at(at).map_err(|e| e.to_string())?;
        let Some(was) = known.events.get(at as usize) else {
            return Err(format!("event {at} never was"));
        };
        let same = is_same(&event, was);
        has_all &= same;
        if !same && !may_differ {
            return Err(format!("{event:?} was {was:?}"));
        }
        let gone = event
            .attributes
            .as_ref()
            .is_some_and(|a| a.contains_key(LOST));
        // Where nothing is doubted and the journal goes to its end, what an event says is what it said.
        let certain = report.doubtful.is_empty() && report.tail.is_none() && !gone;
        if certain && event.text != was.text {
            return Err(format!(
                "event {at} says {:?}, and said {:?}: {report:?}",
                event.text, was.text
            ));
        }
        let edges = view.edges_at(at).map_err(|e| e.to_string())?;
        let of_known = known.edges.iter().filter(|edge| edge.source == was.id);
        has_all &= edges.iter().map(Edge::key).eq(of_known.map(Edge::key));
    }
    Ok(has_all)
}

/// Decay goes on, and what was lost is told as an attribute.
fn is_same(event: &Event, was: &Event) -> bool {
    event.text == was.text
        && event.vector == was.vector
        && event.attributes == was.attributes
        && event.confidence == was.confidence
        && (event.event_type, event.created_at, event.session)
            == (was.event_type, was.created_at, was.session)
}
