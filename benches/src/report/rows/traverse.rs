//! Traverse: everything within five steps of an event, along outgoing edges and along both.
//!
//! Sixteen starts, each in every turn, of which no more is reached than one answer may have. Compared: the sets of ids,
//! with the reference and with SQLite.

use agentic_memory::{MemoryGraph, QueryEngine, TraversalDirection, TraversalParams};
use amem_format::NodeId;
use amem_format::view::View;
use amem_query::limits::PAGE_MAX;
use amem_query::{Follow, Traverse};
use rusqlite::params;

use super::super::list;
use super::super::measure::{Contest, Outcome, same};
use super::super::reference::EDGE_TYPES;
use super::super::sqlite::{self, Sqlite};
use super::super::table::{Findings, Measurement};
use super::super::world::World;
use crate::data::Random;

const STARTS: usize = 16;

/// Both rows.
pub(super) fn run(world: &World, findings: &mut Findings) -> Outcome<()> {
    let out = (
        Follow::Outgoing,
        TraversalDirection::Forward,
        sqlite::OUTGOING,
    );
    findings.add(one(world, list::TRAVERSE_OUT, out)?);
    let both = (Follow::Both, TraversalDirection::Both, sqlite::BOTH);
    findings.add(one(world, list::TRAVERSE_BOTH, both)?);
    Ok(())
}

fn one(
    world: &World,
    row: &'static str,
    (follow, direction, sql): (Follow, TraversalDirection, &str),
) -> Outcome<Measurement> {
    let (held, graph) = (world.clustered()?, world.graph()?);
    let mut statement = world.sqlite()?.connection.prepare(sql)?;
    let mut random = Random::new(3);
    let mut starts = Vec::new();
    while starts.len() < STARTS {
        let start = random.below(world.nodes);
        if theirs(graph, start, direction)?.len() <= PAGE_MAX {
            starts.push(start);
        }
    }
    let view = held.reader.view()?;
    let mut reached = 0;
    for &start in &starts {
        let found = sorted(ours(&view, start, follow)?);
        reached += found.len();
        same(row, &found, &sorted(theirs(graph, start, direction)?))?;
        same(
            row,
            &found,
            &sorted(Sqlite::ids(&mut statement, params![start as i64])?),
        )?;
    }
    let each = 1.0 / starts.len() as f64;
    let medians = Contest::new()
        .again("ours", || {
            starts
                .iter()
                .map(|&start| Ok(ours(&held.reader.view()?, start, follow)?.len()))
                .sum::<Outcome<usize>>()
        })
        .again("reference", || {
            starts
                .iter()
                .map(|&start| Ok(theirs(graph, start, direction)?.len()))
                .sum::<Outcome<usize>>()
        })
        .again("SQLite", || {
            starts
                .iter()
                .map(|&start| Ok(Sqlite::ids(&mut statement, params![start as i64])?.len()))
                .sum::<Outcome<usize>>()
        })
        .run()?;
    Ok(Measurement {
        row,
        ours: medians.of("ours").map(|time| time * each),
        reference: medians.of("reference").map(|time| time * each),
        peers: medians
            .of("SQLite")
            .map(|time| ("SQLite", time * each))
            .into_iter()
            .collect(),
        note: format!("{} events a start", reached / starts.len()),
        ..Measurement::default()
    })
}

fn ours(view: &View, start: u64, follow: Follow) -> Outcome<Vec<u64>> {
    let traverse = Traverse {
        start: NodeId(start),
        follow,
        limit: PAGE_MAX,
        ..Traverse::default()
    };
    let tree = traverse.run(view)?;
    if tree.is_cut {
        return Err(format!("more than {PAGE_MAX} events are reached from {start}").into());
    }
    Ok(tree.steps.into_iter().map(|step| step.id.0).collect())
}

fn theirs(graph: &MemoryGraph, start: u64, direction: TraversalDirection) -> Outcome<Vec<u64>> {
    let params = TraversalParams {
        start_id: start,
        edge_types: EDGE_TYPES.to_vec(),
        direction,
        max_depth: 5,
        max_results: usize::MAX,
        min_confidence: 0.0,
    };
    Ok(QueryEngine::new().traverse(graph, params)?.visited)
}

fn sorted(mut ids: Vec<u64>) -> Vec<u64> {
    ids.sort_unstable();
    ids
}
