//! The history of a memory: its chain, told as events.

use amem_format::NodeId;
use amem_format::types::Micros;
use amem_format::view::View;
use amem_memory::FactScope;
use amem_memory::store::{HistoryEvent, HistoryRecord};
use uuid::Uuid;

use crate::error::Result;
use crate::feedback::{FactFeedback, feedback_events};
use crate::limits::{FACT_PAGE_MAX, HISTORY_PAGE_BYTES, HISTORY_TURN_BYTES, HISTORY_TURNS_MAX};
use crate::memory_chain::{ChainEvent, MemoryChain};
use crate::record::EventAttributes;
use crate::stored_turns::turn_event;
use crate::support::{sources_of, supports_of};

/// A turn that a version is from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceTurn {
    /// Its id.
    pub id: Uuid,
    /// Who spoke: user, assistant or tool; empty if the turn was erased, or is of another scope than was asked about.
    pub role: String,
    /// What was said, at most `limits::HISTORY_TURN_BYTES` of it; empty like the role.
    pub text: String,
    /// True if more was said.
    pub is_cut: bool,
    /// When.
    pub time: Option<Micros>,
}

/// A record of history, with the sentences that it is from.
#[derive(Debug, Clone, PartialEq)]
pub struct HistoryEntry {
    /// What happened.
    pub record: HistoryRecord,
    /// The turns of its sources, in order, at most `limits::HISTORY_TURNS_MAX`.
    pub turns: Vec<SourceTurn>,
    /// The memory that replaced it, of a delete.
    pub replaced_by: Option<Uuid>,
    /// What a caller thought of it, of feedback.
    pub feedback: Option<FactFeedback>,
    /// Why the caller changed or ended it.
    pub reason: Option<String>,
    /// The event of the record.
    pub event: NodeId,
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
    /// The cursor of the next page; `None` for the last.
    pub next: Option<u64>,
}

fn source(view: &View, id: Uuid, scope: &FactScope) -> Result<SourceTurn> {
    let mut found = turn_event(view, id)?;
    if let Some((node, ..)) = &found {
        // A memory of a narrow scope may have been changed by what was said in a wider one.
        let attributes = EventAttributes::read(&view.node(*node)?)?.unwrap_or_default();
        found = found.filter(|_| scope.covers(&attributes.scope()));
    }
    Ok(match found {
        Some((node, turn, time)) => {
            let node = view.node(node)?;
            let text = node.text()?;
            let mut end = HISTORY_TURN_BYTES.min(text.len());
            while !text.is_char_boundary(end) {
                end -= 1;
            }
            SourceTurn {
                id,
                role: turn.role,
                text: text[..end].to_owned(),
                is_cut: end < text.len(),
                time: Some(time),
            }
        }
        None => SourceTurn {
            id,
            role: String::new(),
            text: String::new(),
            is_cut: false,
            time: None,
        },
    })
}

/// The turns that a version is from, as far as the scope may see them.
pub(crate) fn source_turns(
    view: &View,
    event: &ChainEvent,
    scope: &FactScope,
) -> Result<Vec<SourceTurn>> {
    let sources = sources_of(event, &supports_of(view, event.record.id)?);
    let shown = sources.into_iter().take(HISTORY_TURNS_MAX);
    shown.map(|turn| source(view, turn, scope)).collect()
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
        reason: None,
        event: node,
    }
}

/// A page of a history: from an event on, as many records as fit.
struct HistoryPage {
    after: Option<u64>,
    limit: usize,
    bytes: usize,
    entries: Vec<HistoryEntry>,
    /// The last event of the page, once there is one more.
    next: Option<u64>,
    last: u64,
}

impl HistoryPage {
    fn is_before(&self, node: NodeId) -> bool {
        self.after.is_some_and(|after| node.0 <= after)
    }

    fn push(&mut self, node: NodeId, entry: HistoryEntry) {
        if self.next.is_some() || self.is_before(node) {
            return;
        }
        let texts = [&entry.record.old_memory, &entry.record.new_memory];
        let texts: usize = texts.into_iter().flatten().map(String::len).sum();
        let turns: usize = entry.turns.iter().map(|turn| turn.text.len()).sum();
        self.bytes += texts + turns;
        let is_large = self.bytes > HISTORY_PAGE_BYTES && !self.entries.is_empty();
        if is_large || self.entries.len() == self.limit {
            self.next = Some(self.last);
            return;
        }
        self.last = node.0;
        self.entries.push(entry);
    }
}

/// A page of the history of a memory, of one that ended too; `None` if there is no such memory, or it was erased.
pub(crate) fn history(
    view: &View,
    id: Uuid,
    scope: &FactScope,
    (limit, after): (usize, Option<u64>),
) -> Result<Option<MemoryHistory>> {
    let chain = MemoryChain::of(view, id)?;
    let Some(last) = chain.last_version() else {
        return Ok(None);
    };
    let mut page = HistoryPage {
        after,
        limit: limit.clamp(1, FACT_PAGE_MAX),
        bytes: 0,
        entries: Vec::new(),
        next: None,
        last: 0,
    };
    let mut feedback = feedback_events(view, id)?.into_iter().peekable();
    let supports = supports_of(view, id)?;
    let mut before: Option<String> = None;
    for event in &chain.events {
        while let Some((node, said)) = feedback.next_if(|(node, _)| *node < event.node) {
            page.push(node, feedback_entry(id, node, said));
        }
        let now = event.is_version().then(|| event.text.clone());
        if page.next.is_none() && !page.is_before(event.node) {
            let texts = [before.take(), now.clone()];
            let sources = sources_of(event, &supports);
            page.push(event.node, entry(view, event, texts, sources, scope)?);
        }
        before = now;
    }
    for (node, said) in feedback {
        page.push(node, feedback_entry(id, node, said));
    }
    Ok(Some(MemoryHistory {
        scope: last.scope.clone(),
        entries: page.entries,
        is_deleted: chain.is_ended(),
        next: page.next,
    }))
}

/// A version, or the end, as a record.
fn entry(
    view: &View,
    event: &ChainEvent,
    [old_memory, new_memory]: [Option<String>; 2],
    sources: Vec<Uuid>,
    scope: &FactScope,
) -> Result<HistoryEntry> {
    let kind = match (event.is_version(), &old_memory) {
        (true, None) => HistoryEvent::Add,
        (true, Some(_)) => HistoryEvent::Update,
        (false, _) => HistoryEvent::Delete,
    };
    let shown = sources.iter().take(HISTORY_TURNS_MAX);
    Ok(HistoryEntry {
        turns: shown
            .map(|turn| source(view, *turn, scope))
            .collect::<Result<_>>()?,
        replaced_by: event.record.replaced_by,
        feedback: None,
        reason: event.reason.clone(),
        event: event.node,
        record: HistoryRecord {
            id: record_id(event.record.id, event.node.0),
            memory_id: event.record.id,
            event: kind,
            old_memory,
            new_memory,
            at: event.record.at,
            sources,
            why: event.record.why.clone(),
        },
    })
}
