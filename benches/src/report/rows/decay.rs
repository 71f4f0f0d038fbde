//! Decay of all events: the strength of each at a moment, and the fifty strongest.
//!
//! The reference computes its own formula and writes each score into its graph; ranking is not counted for it. The two
//! formulas differ, so ours is compared with a plain loop over every event's strength at that moment.

use std::cell::RefCell;
use std::time::{Duration, Instant};

use agentic_memory::WriteEngine;
use amem_format::view::View;
use amem_format::{Micros, NodeId};
use amem_query::{Order, Pattern, Selection};

use super::super::corpus::{DIMENSION, Vectors};
use super::super::list;
use super::super::measure::{Contest, Outcome, same};
use super::super::reference;
use super::super::table::{Findings, Measurement};
use super::super::world::World;

const LIMIT: usize = 50;

/// The row.
pub(super) fn run(world: &World, findings: &mut Findings) -> Outcome<()> {
    let held = world.clustered()?;
    let view = held.reader.view()?;
    let end = held.corpus.recorded(held.corpus.nodes);
    let moment = |n: i64| Micros(end.0 + n * Micros::DAY);
    let mut naive = Vec::with_capacity(view.nodes() as usize);
    for id in (0..view.nodes()).map(NodeId) {
        naive.push((view.node(id)?.strength_at(moment(1))?, id));
    }
    naive.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(b.1.cmp(&a.1)));
    let naive: Vec<_> = naive.into_iter().take(LIMIT).map(|(_, id)| id).collect();
    same(list::DECAY, &ours(&view, moment(1))?, &naive)?;

    let graph = RefCell::new(reference::bare(&world.corpus(Vectors::Clustered))?);
    let engine = WriteEngine::new(DIMENSION as usize);
    let (mut day, mut their_day) = (0, 0);
    let medians = Contest::new()
        .again("ours", || {
            day += 1;
            ours(&held.reader.view()?, moment(day))
        })
        .turn("reference", || {
            their_day += 1;
            let began = Instant::now();
            engine.run_decay(&mut graph.borrow_mut(), moment(their_day).0 as u64)?;
            let took: Duration = began.elapsed();
            Ok(took.as_secs_f64())
        })
        .run()?;
    findings.add(Measurement {
        row: list::DECAY,
        ours: medians.of("ours"),
        reference: medians.of("reference"),
        note: "ours ranks as well".into(),
        ..Measurement::default()
    });
    Ok(())
}

fn ours(view: &View, moment: Micros) -> Outcome<Vec<NodeId>> {
    let pattern = Pattern {
        selection: Selection {
            strength_at: Some(moment),
            ..Selection::default()
        },
        order: Order::Strongest,
        limit: LIMIT,
        cursor: None,
    };
    Ok(pattern.run(view)?.ids)
}
