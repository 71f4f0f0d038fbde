//! What became of the memories of a turn.

use std::collections::BTreeSet;

use amem_format::NodeId;
use amem_format::types::Micros;
use amem_memory::FactScope;
use amem_query::planner::events_with;
use uuid::Uuid;

use super::candidate::FoundEvent;
use super::wording::Wording;
use crate::error::Result;
use crate::memory_chain::{ChainEvent, MemoryChain, is_head};
use crate::record::path;
use crate::scope_plan::FactMoment;

/// The memory that is from a turn: the one with the turn's words, or the only one.
pub(crate) fn memory_from(
    event: NodeId,
    scope: &FactScope,
    moment: &FactMoment,
) -> Result<Option<Uuid>> {
    if event.0 >= moment.view.nodes() {
        return Ok(None);
    }
    let Some(FoundEvent::Said(said)) = FoundEvent::read(&moment.view, event)? else {
        return Ok(None);
    };
    if !scope.covers(&said.text.scope) {
        return Ok(None);
    }
    let from = TurnMemories::of(moment, said.turn.id, &mut Wording::default())?.holding;
    for (id, version) in &from {
        if moment.view.node(*version)?.text()?.trim() == said.text.text {
            return Ok(Some(*id));
        }
    }
    Ok(match from.as_slice() {
        [(id, _)] => Some(*id),
        _ => None,
    })
}

/// The memories that a turn made.
#[derive(Default)]
pub(super) struct TurnMemories {
    /// Those that hold: the memory, and the event of the version that holds.
    pub(super) holding: Vec<(Uuid, NodeId)>,
    /// The words of versions that do not hold any more, and since when.
    pub(super) replaced: Vec<(BTreeSet<Box<str>>, Micros)>,
    /// The words of memories that ended.
    pub(super) ended: Vec<BTreeSet<Box<str>>>,
}

impl TurnMemories {
    /// Those of a turn at a moment.
    pub(super) fn of(moment: &FactMoment, turn: Uuid, wording: &mut Wording) -> Result<Self> {
        let mut out = Self::default();
        for node in events_with(&moment.view, path::FACT_SOURCES, &turn.to_string())? {
            let node = moment.view.node(node)?;
            let Some(version) = ChainEvent::read(&node)? else {
                continue;
            };
            if !version.is_version() || !version.record.sources.contains(&turn) {
                continue;
            }
            // Most memories have one version: their chains need not be read.
            if !moment.is_past() && is_head(&moment.view, &node)? {
                out.holding.push((version.record.id, version.node));
                continue;
            }
            let chain = MemoryChain::of(&moment.view, version.record.id)?;
            match chain.head_at(moment)? {
                Some(head) if head.node == version.node => {
                    out.holding.push((version.record.id, version.node));
                }
                Some(head) => {
                    let terms = wording.terms(&version.text);
                    out.replaced.push((terms, head.said));
                    // What the newer version is also from still holds.
                    if head.record.sources.contains(&turn) {
                        out.replaced.pop();
                        out.holding.push((head.record.id, head.node));
                    }
                }
                None => out.ended.push(wording.terms(&version.text)),
            }
        }
        out.holding.dedup();
        Ok(out)
    }

    /// Since when a sentence does not hold, if one of the replaced versions says what it says.
    pub(super) fn until(&self, sentence: &str, wording: &mut Wording) -> Option<Micros> {
        let said = self.replaced.iter();
        said.filter(|(terms, _)| wording.says(sentence, terms))
            .map(|(_, until)| *until)
            .min()
    }

    /// True if a sentence says what was forgotten.
    pub(super) fn is_forgotten(&self, sentence: &str, wording: &mut Wording) -> bool {
        self.ended.iter().any(|terms| wording.says(sentence, terms))
    }
}
