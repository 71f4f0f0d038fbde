//! The indexes of a view's base and delta that the first query that needs them fills: of terms, and of values.

use std::borrow::Cow;

use super::snapshot::View;
use crate::analyzer::ANALYZER_VERSION;
use crate::base::terms::{LengthQuarter, Terms};
use crate::delta::{DeltaTerms, DeltaValues};
use crate::error::{Error, Result};
use crate::types::NodeId;

impl View {
    /// The term indexes of base and delta. The delta's covers what the base's does not, at least up to this view's
    /// last event, by the analyzer of the base's index. The first call after a commit indexes that commit's texts.
    pub fn terms(&self) -> Result<(Option<Terms<'_>>, &DeltaTerms)> {
        let base = self.brain.base.terms()?;
        let first = base.map_or(0, |terms| terms.events());
        let lengths = || base.map_or_else(LengthQuarter::default, |base| base.quarter_below(first));
        let delta = self.brain.delta.terms.until(
            first,
            self.end(),
            self.analyzer_version()?,
            lengths,
            |id| {
                let id = NodeId(id.into());
                match id.0.checked_sub(self.brain.base.nodes()) {
                    None => self.brain.base.text(&self.brain.base.record(id)?),
                    Some(at) => match self.brain.delta.events.nodes.get(at as u32) {
                        Some(node) => self.brain.span_str(node.text).map(Cow::Borrowed),
                        None => Err(Error::UnknownEvent {
                            id,
                            count: self.at.nodes,
                        }),
                    },
                }
            },
        )?;
        Ok((base, delta))
    }

    /// The index of the attribute values of the delta's events, at least up to this view's last event. The first call
    /// after a commit indexes that commit's attributes.
    pub fn recent_values(&self) -> Result<&DeltaValues> {
        let count = u64::from(self.end()).saturating_sub(self.brain.base.nodes());
        // The delta has no more events than the brain, whose number is bounded.
        self.brain.delta.values.until(count as u32, |at| {
            let node = self.brain.delta.events.nodes.get(at);
            let span = node.map(|node| node.attributes).filter(|span| span.len > 0);
            let json = span.map(|span| self.brain.span_str(span).map(Cow::Borrowed));
            json.transpose()
        })
    }

    /// The version of the analyzer that made the base's term index, and so that of the view.
    pub fn analyzer_version(&self) -> Result<u32> {
        let base = self.brain.base.terms()?;
        Ok(base.map_or(ANALYZER_VERSION, |terms| terms.version()))
    }

    /// True if the next text query analyzes more than `bytes` of the journal's texts before it answers: the first query
    /// of a process does so for all of them.
    pub fn must_analyze(&self, bytes: u64) -> bool {
        let base = self.brain.base.nodes();
        let known = self.brain.delta.terms.end().map_or(0, u64::from);
        let mut sum = 0;
        (known.max(base)..self.at.nodes).any(|id| {
            let node = self.brain.delta.events.nodes.get((id - base) as u32);
            sum += node.map_or(0, |node| u64::from(node.text.len));
            sum > bytes
        })
    }

    /// The id after the view's last event.
    fn end(&self) -> u32 {
        // The number of events is bounded by `limits::NODES_MAX`.
        self.at.nodes as u32
    }
}
