//! The edge table of a new base: runs of kept edges, with those of the delta between them.

use super::kept::{Edit, Kept};
use super::old;
use crate::base::adjacency::Adjacency;
use crate::base::conflicts::Conflicts;
use crate::base::edge::{self, LEN};
use crate::base::image::{Sink, Stream};
use crate::base::merge::edited;
use crate::base::old::Old;
use crate::error::Result;
use crate::event::Edge;
use crate::types::{EdgeType, NodeId};
use crate::view::Direction;

/// What was written: the edges in order, and those of disagreement.
#[derive(Default)]
pub(super) struct Ties {
    /// Where each event's edges begin, and the end of the last.
    pub(super) starts: Vec<u32>,
    pub(super) targets: Vec<u32>,
    pub(super) types: Vec<u8>,
    /// (source, target), ascending.
    pub(super) contradicts: Vec<[u32; 2]>,
    /// (target, source), ascending.
    pub(super) supersedes: Vec<[u32; 2]>,
    gone: Disputes,
    new: Disputes,
}

/// Edges of disagreement, as they are met.
#[derive(Default)]
struct Disputes {
    contradicts: Vec<[u32; 2]>,
    supersedes: Vec<[u32; 2]>,
}

impl Disputes {
    fn push(&mut self, source: u32, target: u32, edge_type: EdgeType) {
        match edge_type {
            EdgeType::CONTRADICTS => self.contradicts.push([source, target]),
            EdgeType::SUPERSEDES => self.supersedes.push([target, source]),
            _ => {}
        }
    }
}

/// The kept part of the edge table and of its lists.
struct Base<'b> {
    table: Old<'b>,
    lists: Adjacency<'b>,
}

/// Where an edge table is written.
pub(super) struct Out<'o> {
    pub(super) stream: &'o mut Stream,
    pub(super) sink: &'o mut dyn Sink,
}

pub(super) fn write(kept: &Kept<'_>, mut out: Out<'_>) -> Result<Ties> {
    let mut ties = Ties::default();
    let mut disputed = Conflicts::default();
    ties.starts.reserve(kept.view.nodes() as usize + 1);
    let mut newer = kept.edits.as_slice();
    if let Some(base) = kept.base() {
        let h = base.header();
        let base_ties = Base {
            table: old::stream(base, "edge table", h.edge_table, h.content)?,
            lists: base.adjacency()?,
        };
        disputed = base.conflicts()?;
        let at = newer.partition_point(|e| u64::from(e.source) < kept.first);
        let (edits, rest) = newer.split_at(at);
        ties.keep(&base_ties, edits, &mut out)?;
        newer = rest;
    }
    for id in kept.new_events() {
        ties.starts.push(ties.targets.len() as u32);
        if kept.is_scratch {
            let list = kept.view.edges_of(id, Direction::Outgoing)?;
            for tie in list.iter() {
                let edge = kept.view.edge(id, Direction::Outgoing, &tie)?;
                ties.push_new(&edge, &mut out)?;
            }
        }
        let count = newer
            .iter()
            .take_while(|e| NodeId(e.source.into()) == id)
            .count();
        let (own, rest) = newer.split_at(count);
        for edge in own.iter().filter_map(Edit::edge) {
            ties.push_new(&edge, &mut out)?;
        }
        newer = rest;
    }
    ties.starts.push(ties.targets.len() as u32);
    for list in [&mut ties.gone.supersedes, &mut ties.new.supersedes] {
        list.sort_unstable();
    }
    ties.contradicts = edited(
        disputed.contradicts,
        &ties.gone.contradicts,
        &ties.new.contradicts,
    );
    ties.supersedes = edited(
        disputed.supersedes,
        &ties.gone.supersedes,
        &ties.new.supersedes,
    );
    Ok(ties)
}

impl Ties {
    fn keep(&mut self, base: &Base<'_>, mut edits: &[Edit], out: &mut Out<'_>) -> Result<()> {
        let starts = base.lists.out_starts();
        let mut from = 0;
        while let Some(first) = edits.first() {
            let source = first.source;
            let count = edits.iter().take_while(|e| e.source == source).count();
            let (own, rest) = edits.split_at(count);
            self.run(base, from, source as usize, out)?;
            self.starts.push(self.targets.len() as u32);
            self.edit(base, own, out)?;
            (from, edits) = (source as usize + 1, rest);
        }
        self.run(base, from, starts.len() - 1, out)
    }

    /// Kept sources of which the delta says nothing.
    fn run(&mut self, base: &Base<'_>, from: usize, to: usize, out: &mut Out<'_>) -> Result<()> {
        let starts = base.lists.out_starts();
        let shift = (self.targets.len() as u32).wrapping_sub(starts[from]);
        let moved = starts[from..to].iter().map(|at| at.wrapping_add(shift));
        self.starts.extend(moved);
        self.copy(base, starts[from], starts[to], out)
    }

    /// Kept edges by their positions.
    fn copy(&mut self, base: &Base<'_>, from: u32, to: u32, out: &mut Out<'_>) -> Result<()> {
        let (targets, types) = base.lists.out_range(from, to)?;
        self.targets.extend_from_slice(targets);
        self.types.extend_from_slice(types);
        let bytes = u64::from(from) * LEN as u64..u64::from(to) * LEN as u64;
        out.stream.copy(out.sink, &base.table, bytes)
    }

    /// The edges of a kept source that the delta changed.
    fn edit(&mut self, base: &Base<'_>, edits: &[Edit], out: &mut Out<'_>) -> Result<()> {
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
                None if existed => self.gone.push(edit.source, edit.target, edit.edge_type),
                None => {}
            }
        }
        self.copy(base, from, end, out)
    }

    fn push_new(&mut self, edge: &Edge, out: &mut Out<'_>) -> Result<()> {
        self.new
            .push(edge.source.0 as u32, edge.target.0 as u32, edge.edge_type);
        self.push(edge, out)
    }

    fn push(&mut self, edge: &Edge, out: &mut Out<'_>) -> Result<()> {
        self.targets.push(edge.target.0 as u32);
        self.types.push(edge.edge_type.0);
        out.stream.write(out.sink, &edge::encode(edge))
    }
}
