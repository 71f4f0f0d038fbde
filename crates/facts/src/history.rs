//! The history of a memory: its chain, told as events.

use amem_format::NodeId;
use amem_format::types::Micros;
use amem_format::view::View;
use amem_memory::FactScope;
use amem_memory::store::{HistoryEvent, HistoryRecord};
use uuid::Uuid;

use crate::batch_plan::turn_event;
use crate::error::Result;
use crate::feedback::{FactFeedback, feedback_events};
use crate::memory_chain::MemoryChain;
use crate::record::EventAttributes;

/// A turn that a version is from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceTurn {
    /// Its id.
    pub id: Uuid,
    /// Who spoke: user, assistant or tool; empty if the turn was erased, or is of another scope than was asked about.
    pub role: String,
    /// What was said; empty like the role.
    pub text: String,
    /// When.
    pub time: Option<Micros>,
}

/// A record of history, with the sentences that it is from.
#[derive(Debug, Clone, PartialEq)]
pub struct HistoryEntry {
    /// What happened.
    pub record: HistoryRecord,
    /// The turns of its sources, in order.
    pub turns: Vec<SourceTurn>,
    /// The memory that replaced it, of a delete.
    pub replaced_by: Option<Uuid>,
    /// What a caller thought of it, of feedback.
    pub feedback: Option<FactFeedback>,
}

/// The history of a memory.
#[derive(Debug, Clone, PartialEq)]
pub struct MemoryHistory {
    /// Whose it is.
    pub scope: FactScope,
    /// In order of time.
    pub entries: Vec<HistoryEntry>,
    /// True if it ended.
    pub is_deleted: bool,
}

fn source(view: &View, id: Uuid, scope: &FactScope) -> Result<SourceTurn> {
    let mut found = turn_event(view, id)?;
    if let Some((node, ..)) = &found {
        // A memory of a narrow scope may have been changed by what was said in a wider one.
        let attributes = EventAttributes::read(&view.node(*node)?)?.unwrap_or_default();
        found = found.filter(|_| scope.covers(&attributes.scope()));
    }
    Ok(match found {
        Some((node, turn, time)) => SourceTurn {
            id,
            role: turn.role,
            text: view.node(node)?.text()?.into_owned(),
            time: Some(time),
        },
        None => SourceTurn {
            id,
            role: String::new(),
            text: String::new(),
            time: None,
        },
    })
}

/// The id of a record: that of the memory and the event in one, the same in every copy of the brain.
fn record_id(memory: Uuid, event: u64) -> Uuid {
    Uuid::new_v5(&memory, &event.to_le_bytes())
}

/// Feedback as a record: the text stays.
fn feedback_entry(memory: Uuid, node: NodeId, feedback: FactFeedback) -> HistoryEntry {
    HistoryEntry {
        record: HistoryRecord {
            id: record_id(memory, node.0),
            memory_id: memory,
            event: HistoryEvent::Feedback,
            old_memory: None,
            new_memory: None,
            at: feedback.at,
            sources: Vec::new(),
            why: "caller".into(),
        },
        turns: Vec::new(),
        replaced_by: None,
        feedback: Some(feedback),
    }
}

/// The history of a memory, of one that ended too; `None` if there is no such memory, or it was erased.
pub(crate) fn history(view: &View, id: Uuid, scope: &FactScope) -> Result<Option<MemoryHistory>> {
    let chain = MemoryChain::of(view, id)?;
    let Some(last) = chain.last_version() else {
        return Ok(None);
    };
    let mut entries = Vec::with_capacity(chain.events.len());
    let mut feedback = feedback_events(view, id)?.into_iter().peekable();
    let mut before: Option<String> = None;
    for event in &chain.events {
        while let Some((node, said)) = feedback.next_if(|(node, _)| *node < event.node) {
            entries.push(feedback_entry(id, node, said));
        }
        let kind = match (event.is_version(), &before) {
            (true, None) => HistoryEvent::Add,
            (true, Some(_)) => HistoryEvent::Update,
            (false, _) => HistoryEvent::Delete,
        };
        let now = event.is_version().then(|| event.text.clone());
        let turns = event
            .record
            .sources
            .iter()
            .map(|id| source(view, *id, scope));
        entries.push(HistoryEntry {
            turns: turns.collect::<Result<_>>()?,
            replaced_by: event.record.replaced_by,
            feedback: None,
            record: HistoryRecord {
                id: record_id(id, event.node.0),
                memory_id: id,
                event: kind,
                old_memory: before.take(),
                new_memory: now.clone(),
                at: event.record.at,
                sources: event.record.sources.clone(),
                why: event.record.why.clone(),
            },
        });
        before = now;
    }
    entries.extend(feedback.map(|(node, said)| feedback_entry(id, node, said)));
    Ok(Some(MemoryHistory {
        scope: last.scope.clone(),
        entries,
        is_deleted: chain.is_ended(),
    }))
}
