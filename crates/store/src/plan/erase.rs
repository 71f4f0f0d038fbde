//! The operations of an erase: content goes, record, edges and times stay.
//!
//! Not here: what has the content elsewhere, and when it is gone (`log::erase`).

use amem_format::NodeId;
use amem_format::journal::op::Op;

use crate::error::{Error, Result};
use crate::limits::ERASED_EVENTS_MAX;
use crate::merge::origin;
use crate::plan::builder::PlanBuilder;
use crate::plan::values::{json, limit};

impl PlanBuilder<'_> {
    pub(super) fn erase(&mut self, ids: &[NodeId]) -> Result<()> {
        limit("the events in an erase", ids.len(), ERASED_EVENTS_MAX)?;
        if ids.is_empty() {
            return Err(Error::invalid("erase", "no event is named"));
        }
        let mut ids = ids.to_vec();
        ids.sort_unstable();
        ids.dedup();
        for &id in &ids {
            let node = self.view.node(id)?;
            if !node.is_erased() {
                self.push(&Op::Erase { target: id });
                // Where it was first recorded stays: without that, a merge would bring the event back.
                if let Some(left) = origin::of(&node)?.and_then(|origin| origin::of_erased(&origin))
                {
                    self.push(&Op::Attributes {
                        target: id,
                        json: &json(&left)?,
                    });
                }
            }
            self.answer.related.extend(self.episodes(id)?);
        }
        self.answer.related.sort_unstable();
        self.answer.related.dedup();
        self.answer.ids = ids;
        Ok(())
    }
}
