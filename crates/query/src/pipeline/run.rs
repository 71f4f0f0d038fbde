//! Runs the stages of a pipeline, one after the other.

use std::collections::{HashMap, HashSet};

use super::request::{Pipeline, PipelineResult, PipelineStage, RowSource, TraverseStage};
use super::row::{PipelineRow, ScoreParts};
use crate::answer::{AnswerStamp, check_limit};
use crate::events::pattern::Pattern;
use crate::filter::Filter;
use crate::graph::heads::Heads;
use crate::graph::traverse::check_depth;
use crate::graph::walk::BreadthFirst;
use crate::limits::{PAGE_MAX, PIPELINE_ROWS_MAX, PIPELINE_SOURCES_MAX, PIPELINE_STAGES_MAX};
use crate::nearest::similar::Similar;
use crate::planner::scope::{Scope, Sight};
use crate::planner::selected::PlannedSelection;
use crate::planner::selection::Selection;
use crate::search::Search;
use crate::search::text::TextSearch;
use amem_format::error::{Error, Result};
use amem_format::types::NodeId;
use amem_format::view::View;

impl Pipeline {
    /// Runs the query on a view.
    pub fn run(&self, view: &View) -> Result<PipelineResult> {
        PipelineRun::new(view, self)?.all()
    }
}

/// The state of a running pipeline.
struct PipelineRun<'v> {
    view: &'v View,
    pipeline: &'v Pipeline,
    /// Every row made so far.
    rows: Vec<PipelineRow>,
    /// The rows of the current stage, as indexes into `rows`.
    current: Vec<usize>,
    is_cut: bool,
}

impl<'v> PipelineRun<'v> {
    fn new(view: &'v View, pipeline: &'v Pipeline) -> Result<Self> {
        let sources = pipeline.sources.len() as u64;
        if sources == 0 {
            return Err(Error::invalid(
                "pipeline",
                "it has no source: give at least one",
            ));
        }
        let max = PIPELINE_SOURCES_MAX as u64;
        Error::check_limit("the number of sources of a pipeline", sources, max)?;
        let (stages, max) = (pipeline.stages.len() as u64, PIPELINE_STAGES_MAX as u64);
        Error::check_limit("the number of stages of a pipeline", stages, max)?;
        for stage in &pipeline.stages {
            match stage {
                PipelineStage::Traverse(reach) => {
                    check_limit(reach.limit)?;
                    check_depth(reach.depth)?;
                }
                PipelineStage::Filter(selection) => selection.check()?,
                PipelineStage::Rank(by) => by.check()?,
                PipelineStage::Limit(limit) => check_limit(*limit)?,
                PipelineStage::Resolve => {}
            }
        }
        Ok(Self {
            view,
            pipeline,
            rows: Vec::new(),
            current: Vec::new(),
            is_cut: false,
        })
    }

    fn all(mut self) -> Result<PipelineResult> {
        self.sources()?;
        for (at, stage) in self.pipeline.stages.iter().enumerate() {
            match stage {
                PipelineStage::Traverse(reach) => self.traverse(at + 1, reach)?,
                PipelineStage::Resolve => self.resolve(at + 1)?,
                PipelineStage::Filter(selection) => self.filter(selection)?,
                PipelineStage::Rank(by) => {
                    by.apply(self.view, &mut self.rows, &mut self.current)?
                }
                PipelineStage::Limit(limit) => self.current.truncate(*limit),
            }
        }
        Ok(self.flow())
    }

    fn sight(&self) -> Result<Sight> {
        Sight::new(&self.pipeline.scope, self.pipeline.include_forgotten)
    }

    fn push(&mut self, row: PipelineRow) -> Result<usize> {
        let (rows, max) = (self.rows.len() as u64 + 1, PIPELINE_ROWS_MAX as u64);
        Error::check_limit("the number of rows that a pipeline makes", rows, max)?;
        self.rows.push(row);
        Ok(self.rows.len() - 1)
    }

    fn sources(&mut self) -> Result<()> {
        let sight = self.sight()?;
        let mut positions: HashMap<NodeId, usize> = HashMap::new();
        for source in &self.pipeline.sources {
            let found = self.found(source, &sight)?;
            let max = found.iter().map(|(_, worth)| *worth).fold(0.0, f32::max);
            for (id, worth) in found {
                // A cosine may be negative: an opposite direction has relevance 0.
                let worth = if max > 0.0 { worth.max(0.0) / max } else { 0.0 };
                match positions.get(&id) {
                    Some(&at) => {
                        let row = &mut self.rows[at];
                        *row = source_row(id, row.found.max(worth));
                    }
                    None => {
                        let at = self.push(source_row(id, worth))?;
                        self.current.push(at);
                        positions.insert(id, at);
                    }
                }
            }
            let (rows, max) = (self.current.len() as u64, PAGE_MAX as u64);
            Error::check_limit("the number of rows of a pipeline", rows, max)?;
        }
        Ok(())
    }

    /// The events that a source finds and that may become rows, with their scores.
    fn found(&self, source: &RowSource, sight: &Sight) -> Result<Vec<(NodeId, f32)>> {
        let view = self.view;
        match source {
            RowSource::Events(ids) => {
                let (count, max) = (ids.len() as u64, PAGE_MAX as u64);
                Error::check_limit("the number of event ids", count, max)?;
                for &id in ids {
                    sight.open(view, id)?;
                }
                Ok(ids.iter().map(|&id| (id, 1.0)).collect())
            }
            RowSource::Search(search) => {
                let search = Search {
                    selection: self.within(&search.selection)?,
                    ..search.clone()
                };
                let hits = search.run(view)?.hits.into_iter();
                Ok(hits.map(|hit| (hit.id, hit.score)).collect())
            }
            RowSource::Text(text) => {
                let text = TextSearch {
                    selection: self.within(&text.selection)?,
                    ..text.clone()
                };
                let hits = text.run(view)?.hits.into_iter();
                Ok(hits.map(|hit| (hit.id, hit.score)).collect())
            }
            RowSource::Similar(similar) => {
                let similar = Similar {
                    selection: self.within(&similar.selection)?,
                    ..similar.clone()
                };
                Ok(similar.run(view)?.hits)
            }
            RowSource::Pattern(pattern) => {
                let pattern = Pattern {
                    selection: self.within(&pattern.selection)?,
                    ..pattern.clone()
                };
                let ids = pattern.run(view)?.ids.into_iter();
                Ok(ids.map(|id| (id, 1.0)).collect())
            }
        }
    }

    /// A source's selection within the pipeline's scope, so that the source's limit counts rows.
    fn within(&self, selection: &Selection) -> Result<Selection> {
        let (ours, own) = (&self.pipeline.scope, &selection.scope);
        let scope = Scope {
            user: ours.user.clone().or_else(|| own.user.clone()),
            agent: ours.agent.clone().or_else(|| own.agent.clone()),
            run: ours.run.clone().or_else(|| own.run.clone()),
            app: ours.app.clone().or_else(|| own.app.clone()),
        };
        // Both scopes must hold. If they ask for different values, no event matches.
        let own = if scope == *own {
            None
        } else {
            own.to_filter()?
        };
        let mut filters: Vec<Filter> = own.into_iter().chain(selection.filter.clone()).collect();
        let filter = match filters.len() {
            0 | 1 => filters.pop(),
            _ => Some(Filter::And(filters)),
        };
        Ok(Selection {
            scope,
            filter,
            include_forgotten: selection.include_forgotten && self.pipeline.include_forgotten,
            ..selection.clone()
        })
    }

    fn traverse(&mut self, stage: usize, reach: &TraverseStage) -> Result<()> {
        let starts: Vec<NodeId> = self.current.iter().map(|&at| self.rows[at].id).collect();
        let tree = BreadthFirst {
            sight: self.sight()?,
            follow: reach.follow,
            types: &reach.types,
            depth: reach.depth,
            limit: reach.limit,
            is_evidence: false,
        }
        .tree(self.view, &starts)?;
        self.is_cut |= tree.is_cut;
        // The walk begins with the rows; this maps each step to its row.
        let mut positions = self.current.clone();
        for step in tree.steps.iter().skip(starts.len()) {
            let Some(via) = step.via else { continue };
            let from = positions[via.parent as usize];
            let at = self.push(PipelineRow {
                stage,
                depth: self.rows[from].depth.saturating_add(1),
                from: Some(from),
                via: Some((via.edge_type, via.direction)),
                is_stub: step.is_stub,
                ..source_row(step.id, self.rows[from].found)
            })?;
            positions.push(at);
            if !step.is_stub {
                self.current.push(at);
            }
        }
        Ok(())
    }

    fn resolve(&mut self, stage: usize) -> Result<()> {
        let sight = self.sight()?;
        let mut heads = Heads::new(self.view, &sight);
        let mut seen = HashSet::new();
        let mut resolved = Vec::with_capacity(self.current.len());
        for place in std::mem::take(&mut self.current) {
            let row = self.rows[place];
            let head = heads.newest(row.id)?;
            let Some(head) = head.filter(|head| seen.insert(*head)) else {
                continue;
            };
            if head == row.id {
                resolved.push(place);
                continue;
            }
            resolved.push(self.push(PipelineRow {
                stage,
                depth: row.depth,
                from: Some(place),
                ..source_row(head, row.found)
            })?);
        }
        self.current = resolved;
        Ok(())
    }

    fn filter(&mut self, selection: &Selection) -> Result<()> {
        let mut selected = PlannedSelection::new(self.view, selection, self.view.nodes())?;
        let mut kept = Vec::with_capacity(self.current.len());
        for &at in &self.current {
            if selected.admits_id(self.rows[at].id)? {
                kept.push(at);
            }
        }
        self.current = kept;
        Ok(())
    }

    /// Builds the answer: the rows of the last stage, and those that they came from.
    fn flow(self) -> PipelineResult {
        let mut is_needed = vec![false; self.rows.len()];
        for &at in &self.current {
            let mut from = self.rows[at].from;
            while let Some(at) = from.filter(|&at| !std::mem::replace(&mut is_needed[at], true)) {
                from = self.rows[at].from;
            }
        }
        for &at in &self.current {
            is_needed[at] = false;
        }
        let origins = (0..self.rows.len()).filter(|&at| is_needed[at]);
        let order: Vec<usize> = self.current.iter().copied().chain(origins).collect();
        let positions: HashMap<usize, usize> =
            order.iter().enumerate().map(|(i, &at)| (at, i)).collect();
        let mut rows: Vec<PipelineRow> = order.iter().map(|&at| self.rows[at]).collect();
        for row in &mut rows {
            row.from = row.from.and_then(|at| positions.get(&at).copied());
        }
        let origins = rows.split_off(self.current.len());
        PipelineResult {
            answered: AnswerStamp::by(self.view),
            rows,
            origins,
            is_cut: self.is_cut,
        }
    }
}

/// The row of an event from a source.
fn source_row(id: NodeId, found: f32) -> PipelineRow {
    let parts = ScoreParts {
        found,
        ..ScoreParts::default()
    };
    PipelineRow {
        id,
        stage: 0,
        depth: 0,
        found,
        score: found,
        parts,
        from: None,
        via: None,
        is_stub: false,
    }
}
