//! Facts that were rejected: no memories, kept for a review.

use amem_format::NodeId;
use amem_format::types::Micros;
use amem_format::view::View;
use amem_memory::store::{FactBatch, FactOp, MemoryItem, NewFact, NewRejection, RejectionState};
use amem_memory::{FactScope, FactSource, text_hash};
use amem_query::planner::events_with;
use uuid::Uuid;

use crate::error::Result;
use crate::record::{EventAttributes, RejectedRecord, path};

/// What there is about a rejected fact: the events of its states in order.
pub(crate) fn rejections_of(
    view: &View,
    id: Uuid,
) -> Result<Vec<(NodeId, RejectedRecord, FactScope)>> {
    let mut found = Vec::new();
    for node in events_with(view, path::REJECTED_ID, &id.to_string())? {
        let read = rejection_at(view, node)?;
        let own = read.filter(|(record, _)| record.id == id);
        found.extend(own.map(|(record, scope)| (node, record, scope)));
    }
    Ok(found)
}

fn rejection_at(view: &View, id: NodeId) -> Result<Option<(RejectedRecord, FactScope)>> {
    let node = view.node(id)?;
    let attributes = EventAttributes::read(&node)?.filter(|_| !node.is_erased());
    Ok(attributes.and_then(|attributes| {
        let scope = attributes.scope();
        Some((attributes.rejected?, scope))
    }))
}

/// The events of rejected facts that have a turn as a source.
pub(crate) fn rejected_from(view: &View, turn: Uuid) -> Result<Vec<NodeId>> {
    let mut found = Vec::new();
    for node in events_with(view, path::REJECTED_SOURCES, &turn.to_string())? {
        let read = rejection_at(view, node)?;
        found.extend(
            read.filter(|(record, _)| record.sources.contains(&turn))
                .map(|_| node),
        );
    }
    Ok(found)
}

/// A rejected fact as a memory that it is not.
fn as_item(record: &RejectedRecord, scope: &FactScope, text: String, node: NodeId) -> MemoryItem {
    MemoryItem {
        id: record.id,
        hash: text_hash(&text),
        memory: text,
        scope: scope.clone(),
        metadata: Default::default(),
        kind: record.kind,
        validity: Default::default(),
        confidence: 0.0,
        created_at: record.at,
        updated_at: record.at,
        expires_at: None,
        is_quarantined: false,
        sources: record.sources.clone(),
        because: Vec::new(),
        happened_at: None,
        event: Some(node),
    }
}

/// The rejected fact of an event, and why it is no memory, if it waits for a review and the event is its newest.
pub(crate) fn open_rejection(
    view: &View,
    id: NodeId,
    scope: &FactScope,
) -> Result<Option<(MemoryItem, String)>> {
    let Some((record, own)) = rejection_at(view, id)? else {
        return Ok(None);
    };
    if record.state != RejectionState::Open || !scope.covers(&own) {
        return Ok(None);
    }
    let newest = rejections_of(view, record.id)?.pop();
    if newest.is_none_or(|(node, ..)| node != id) {
        return Ok(None);
    }
    let text = view.node(id)?.text()?.into_owned();
    let item = as_item(&record, &own, text, id);
    Ok(Some((item, record.why)))
}

/// A rejected fact of a scope, in its newest state.
pub(crate) struct Rejection {
    record: RejectedRecord,
    scope: FactScope,
    text: String,
}

impl Rejection {
    pub(crate) fn of(view: &View, id: Uuid, scope: &FactScope) -> Result<Option<Self>> {
        let newest = rejections_of(view, id)?.pop();
        let seen = newest.filter(|(_, _, own)| scope.covers(own));
        let Some((node, record, own)) = seen else {
            return Ok(None);
        };
        Ok(Some(Self {
            text: view.node(node)?.text()?.into_owned(),
            record,
            scope: own,
        }))
    }

    pub(crate) fn state(&self) -> RejectionState {
        self.record.state
    }

    /// The batch that gives it another state; with a fact, if it becomes a memory.
    pub(crate) fn batch(
        &self,
        state: RejectionState,
        fact: Option<NewFact>,
        now: Micros,
    ) -> FactBatch {
        let mut batch = FactBatch::of_any_scopes(now);
        batch.scope = self.scope.clone();
        batch.rejected.push(NewRejection {
            id: self.record.id,
            text: self.text.clone(),
            why: self.record.why.clone(),
            kind: self.record.kind,
            sources: self.record.sources.clone(),
            state,
        });
        batch.ops.extend(fact.map(|fact| FactOp::Add {
            id: self.record.id,
            fact,
            conflicts: Vec::new(),
        }));
        batch
    }

    /// It as a memory with a text, its vector, and why it is one.
    pub(crate) fn fact(
        &self,
        text: &str,
        vector: Option<Vec<f32>>,
        (why, reason): (&str, Option<&str>),
    ) -> NewFact {
        let fact = NewFact {
            text: String::new(),
            hash: String::new(),
            kind: self.record.kind,
            source: FactSource::Caller,
            confidence: 1.0,
            vector,
            slots: Vec::new(),
            graph: Default::default(),
            metadata: Default::default(),
            expires: None,
            validity: Default::default(),
            sources: self.record.sources.clone(),
            because: Vec::new(),
            is_quarantined: false,
            why: why.to_owned(),
            reason: reason.map(str::to_owned),
        };
        fact.with_text(text)
    }

    /// Its text.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }
}
