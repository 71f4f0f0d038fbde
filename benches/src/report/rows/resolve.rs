//! Resolve: from the first of a chain of replacements to the last.
//!
//! Compared: the head, with the data and with the reference, which gives up after a hundred steps; so it has no time on
//! the long chain.

use agentic_memory::{MemoryGraph, QueryEngine};
use amem_format::NodeId;
use amem_format::view::View;
use amem_query::Resolve;

use super::super::list;
use super::super::measure::{Contest, Outcome, same};
use super::super::table::{Findings, Measurement};
use super::super::world::World;

/// Both rows.
pub(super) fn run(world: &World, findings: &mut Findings) -> Outcome<()> {
    let (held, graph) = (world.clustered()?, world.graph()?);
    let view = held.reader.view()?;
    let (short, long) = (held.corpus.chain(false), held.corpus.chain(true));
    for (what, (first, last)) in [("resolve, short", short), ("resolve, long", long)] {
        same(what, &ours(&view, first)?, &last)?;
    }
    same("resolve, reference", &theirs(graph, short.0)?, &short.1)?;
    let medians = Contest::new()
        .again("ours", || ours(&held.reader.view()?, short.0))
        .again("reference", || theirs(graph, short.0))
        .again("long", || ours(&held.reader.view()?, long.0))
        .run()?;
    findings.add(Measurement {
        row: list::RESOLVE_SHORT,
        ours: medians.of("ours"),
        reference: medians.of("reference"),
        ..Measurement::default()
    });
    let is_right = theirs(graph, long.0)? == long.1;
    findings.add(Measurement {
        row: list::RESOLVE_LONG,
        ours: medians.of("long"),
        note: format!(
            "a chain of {}; ours is right, the reference's answer is {}",
            held.corpus.long_chain(),
            if is_right { "right" } else { "wrong" }
        ),
        ..Measurement::default()
    });
    Ok(())
}

fn ours(view: &View, event: NodeId) -> Outcome<NodeId> {
    let resolve = Resolve {
        event,
        ..Resolve::default()
    };
    Ok(resolve.run(view)?.head)
}

fn theirs(graph: &MemoryGraph, event: NodeId) -> Outcome<NodeId> {
    Ok(NodeId(QueryEngine::new().resolve(graph, event.0)?.id))
}
