//! The steps of a merge, in order.

use std::collections::HashMap;
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::merge::budget::{MemoryBudget, NEW_EVENT_BYTES};
use crate::merge::changes::Changes;
use crate::merge::matching::Matching;
use crate::mutation::{MergeReport, MergeSource};
use crate::plan::builder::PlanBuilder;
use crate::plan::merge::merge_plan::MergePlan;
use crate::plan::merge::spans::MergedSessions;
use crate::range::check_brain;

impl<'v> PlanBuilder<'v> {
    pub(in crate::plan) fn merge(&mut self, other: &'v MergeSource) -> Result<()> {
        let (view, commit_bytes_max) = (self.view, other.commit_bytes_max);
        let mut budget = MemoryBudget::new(other.bytes_max);
        let other = &*other.view;
        // A copy of this brain may have diverged, so it is merged like any other brain.
        if Arc::ptr_eq(view.brain(), other.brain()) {
            let why = format!("the other brain is this one, instance {}", view.instance());
            return Err(Error::invalid("merge", why));
        }
        check_brain(other)?;
        // At least this number of events is new.
        budget.check(other.nodes().saturating_sub(view.nodes()) * NEW_EVENT_BYTES)?;
        let matching = Matching::of(view, other, &mut budget)?;
        let withheld = matching.withheld();
        let mut merge = MergePlan {
            matching,
            ours: Changes::of(view, &mut budget)?,
            theirs: Changes::of(other, &mut budget)?,
            is_one_lineage: view.identity().lineage == other.identity().lineage,
            other,
            sessions: MergedSessions::default(),
            authors: HashMap::new(),
            author: None,
            new: Vec::new(),
            replaced_by: HashMap::new(),
            budget,
            commit_bytes_max,
            beliefs: HashMap::new(),
            stamps: Vec::new(),
            merged: MergeReport {
                withheld,
                ..MergeReport::default()
            },
            plan: self,
        };
        merge.sessions()?;
        merge.events()?;
        merge.end_sessions()?;
        merge.fields()?;
        merge.edges()?;
        merge.confidences()?;
        let merged = merge.finish();
        self.answer.edges = merged.edges;
        self.answer.merged = Some(merged);
        Ok(())
    }
}
