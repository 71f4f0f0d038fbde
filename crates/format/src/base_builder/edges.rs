//! The edge table of a new base: copied runs of the older table, merged with the edges of the delta.

use super::copy_plan::{CopyPlan, EdgeDelta};
use super::source_table;
use crate::base::adjacency::Adjacency;
use crate::base::conflicts::ConflictEdges;
use crate::base::edge::{self, LEN};
use crate::base::image::{Sink, Stream};
use crate::base::merge::edited;
use crate::base::source_table::SourceTable;
use crate::error::Result;
use crate::event::Edge;
use crate::types::{EdgeType, NodeId};
use crate::view::Direction;

/// The columns of the new edge table, and its conflict edges.
#[derive(Default)]
pub(super) struct EdgeColumns {
    /// Where each event's edges begin, then the end of the last.
    pub(super) starts: Vec<u32>,
    pub(super) targets: Vec<u32>,
    pub(super) types: Vec<u8>,
    /// (source, target), ascending.
    pub(super) contradicts: Vec<[u32; 2]>,
    /// (target, source), ascending.
    pub(super) supersedes: Vec<[u32; 2]>,
    removed: ConflictLists,
    added: ConflictLists,
}

/// Conflict edges, in the order of the edge table.
#[derive(Default)]
struct ConflictLists {
    contradicts: Vec<[u32; 2]>,
    supersedes: Vec<[u32; 2]>,
}

impl ConflictLists {
    fn push(&mut self, source: u32, target: u32, edge_type: EdgeType) {
        match edge_type {
            EdgeType::CONTRADICTS => self.contradicts.push([source, target]),
            EdgeType::SUPERSEDES => self.supersedes.push([target, source]),
            _ => {}
        }
    }
}

/// The older base's edge table and adjacency.
struct SourceEdges<'b> {
    table: SourceTable<'b>,
    lists: Adjacency<'b>,
}

/// Where the edge table is written.
pub(super) struct EdgeOutput<'o> {
    pub(super) stream: &'o mut Stream,
    pub(super) sink: &'o mut dyn Sink,
}

pub(super) fn write(plan: &CopyPlan<'_>, mut out: EdgeOutput<'_>) -> Result<EdgeColumns> {
    let mut columns = EdgeColumns::default();
    let mut disputed = ConflictEdges::default();
    columns.starts.reserve(plan.view.nodes() as usize + 1);
    let mut newer = plan.edits.as_slice();
    if let Some(base) = plan.base() {
        let h = base.header();
        let source = SourceEdges {
            table: source_table::stream(base, "edge table", h.edge_table, h.content)?,
            lists: base.adjacency()?,
        };
        disputed = base.conflicts()?;
        let at = newer.partition_point(|e| u64::from(e.source) < plan.first);
        let (edits, rest) = newer.split_at(at);
        columns.copy_sources(&source, edits, &mut out)?;
        newer = rest;
    }
    for id in plan.new_events() {
        columns.starts.push(columns.targets.len() as u32);
        if plan.is_scratch {
            let list = plan.view.edges_of(id, Direction::Outgoing)?;
            for neighbour in list.iter() {
                let edge = plan.view.edge(id, Direction::Outgoing, &neighbour)?;
                columns.push_new(&edge, &mut out)?;
            }
        }
        let count = newer
            .iter()
            .take_while(|e| NodeId(e.source.into()) == id)
            .count();
        let (own_edits, rest) = newer.split_at(count);
        for edge in own_edits.iter().filter_map(EdgeDelta::edge) {
            columns.push_new(&edge, &mut out)?;
        }
        newer = rest;
    }
    columns.starts.push(columns.targets.len() as u32);
    for list in [
        &mut columns.removed.supersedes,
        &mut columns.added.supersedes,
    ] {
        list.sort_unstable();
    }
    columns.contradicts = edited(
        disputed.contradicts,
        &columns.removed.contradicts,
        &columns.added.contradicts,
    );
    columns.supersedes = edited(
        disputed.supersedes,
        &columns.removed.supersedes,
        &columns.added.supersedes,
    );
    Ok(columns)
}

impl EdgeColumns {
    fn copy_sources(
        &mut self,
        base: &SourceEdges<'_>,
        mut edits: &[EdgeDelta],
        out: &mut EdgeOutput<'_>,
    ) -> Result<()> {
        let starts = base.lists.out_starts();
        let mut from = 0;
        while let Some(first) = edits.first() {
            let source = first.source;
            let count = edits.iter().take_while(|e| e.source == source).count();
            let (own_edits, rest) = edits.split_at(count);
            self.run(base, from, source as usize, out)?;
            self.starts.push(self.targets.len() as u32);
            self.edit(base, own_edits, out)?;
            (from, edits) = (source as usize + 1, rest);
        }
        self.run(base, from, starts.len() - 1, out)
    }

    /// Copies the edges of sources that the delta did not change.
    fn run(
        &mut self,
        base: &SourceEdges<'_>,
        from: usize,
        to: usize,
        out: &mut EdgeOutput<'_>,
    ) -> Result<()> {
        let starts = base.lists.out_starts();
        let shift = (self.targets.len() as u32).wrapping_sub(starts[from]);
        let moved = starts[from..to].iter().map(|at| at.wrapping_add(shift));
        self.starts.extend(moved);
        self.copy(base, starts[from], starts[to], out)
    }

    /// Copies edges by position.
    fn copy(
        &mut self,
        base: &SourceEdges<'_>,
        from: u32,
        to: u32,
        out: &mut EdgeOutput<'_>,
    ) -> Result<()> {
        let (targets, types) = base.lists.out_range(from, to)?;
        self.targets.extend_from_slice(targets);
        self.types.extend_from_slice(types);
        let bytes = u64::from(from) * LEN as u64..u64::from(to) * LEN as u64;
        out.stream.copy(out.sink, &base.table, bytes)
    }

    /// Merges the edges of one source with the delta's edits.
    fn edit(
        &mut self,
        base: &SourceEdges<'_>,
        edits: &[EdgeDelta],
        out: &mut EdgeOutput<'_>,
    ) -> Result<()> {
        let Some(source) = edits.first().map(|e| e.source as usize) else {
            return Ok(());
        };
        let starts = base.lists.out_starts();
        let (mut from, end) = (starts[source], starts[source + 1]);
        let (targets, types) = base.lists.out_range(from, end)?;
        let first = from;
        for edit in edits {
            let rest = (from - first) as usize;
            let key = |at: usize| (targets[rest + at], types[rest + at]);
            let wanted = (edit.target, edit.edge_type.0);
            let (mut low, mut high) = (0, targets.len() - rest);
            while low < high {
                let middle = (low + high) / 2;
                if key(middle) < wanted {
                    low = middle + 1
                } else {
                    high = middle
                }
            }
            let existed = rest + low < targets.len() && key(low) == wanted;
            self.copy(base, from, from + low as u32, out)?;
            from += low as u32 + u32::from(existed);
            match edit.edge() {
                Some(edge) if existed => self.push(&edge, out)?,
                Some(edge) => self.push_new(&edge, out)?,
                None if existed => self.removed.push(edit.source, edit.target, edit.edge_type),
                None => {}
            }
        }
        self.copy(base, from, end, out)
    }

    fn push_new(&mut self, edge: &Edge, out: &mut EdgeOutput<'_>) -> Result<()> {
        self.added
            .push(edge.source.0 as u32, edge.target.0 as u32, edge.edge_type);
        self.push(edge, out)
    }

    fn push(&mut self, edge: &Edge, out: &mut EdgeOutput<'_>) -> Result<()> {
        self.targets.push(edge.target.0 as u32);
        self.types.push(edge.edge_type.0);
        out.stream.write(out.sink, &edge::encode(edge))
    }
}
