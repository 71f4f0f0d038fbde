//! What an event that was found is.

use amem_format::NodeId;
use amem_format::types::{Micros, SessionId};
use amem_format::view::{Node, View};
use amem_memory::FactScope;
use amem_query::search::{Hit, LIKELY_RELEVANCE, Relevance};
use amem_query::time;
use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::request::{RecalledEntry, RecalledSource};
use crate::error::Result;
use crate::memory_chain::ChainEvent;
use crate::record::{EventAttributes, TurnRecord};

/// The speaker of an assistant's turns.
pub(super) const ASSISTANT: &str = "assistant";

/// An entry surely answers a question if it has this share of its words itself, and with its neighbours this one.
const SURE_OWN: f32 = 0.5;
const SURE_COVERED: f32 = 0.85;

/// True if words do not tell whether an event answers a question: it concerns the same things, and more is asked.
pub(super) fn is_weak(relevance: &Relevance) -> bool {
    let is_said = relevance.own >= SURE_OWN && relevance.covered >= SURE_COVERED;
    !is_said && relevance.meaning < LIKELY_RELEVANCE
}

/// An event that was found.
pub(super) enum FoundEvent {
    /// A version of a memory.
    Formed(Box<ChainEvent>),
    /// A turn.
    Said(Box<SaidTurn>),
    /// Another event with a text.
    Written(Box<SaidText>),
}

/// A turn that was found.
pub(super) struct SaidTurn {
    pub(super) turn: TurnRecord,
    pub(super) text: SaidText,
}

/// The words of an event.
pub(super) struct SaidText {
    pub(super) node: NodeId,
    pub(super) scope: FactScope,
    pub(super) metadata: Map<String, Value>,
    pub(super) text: String,
    pub(super) speaker: String,
    pub(super) happened: Micros,
    pub(super) session: SessionId,
}

impl FoundEvent {
    /// Reads an event; `None` if it has no words of its own: it was erased, or it records an answer, work, feedback.
    pub(super) fn read(view: &View, id: NodeId) -> Result<Option<Self>> {
        let node = view.node(id)?;
        if node.is_erased() {
            return Ok(None);
        }
        let attributes = EventAttributes::read(&node)?.unwrap_or_default();
        if attributes.fact.is_some() {
            let event = ChainEvent::of(&node, attributes)?.filter(ChainEvent::is_version);
            return Ok(event.map(|event| Self::Formed(Box::new(event))));
        }
        if attributes.is_record() {
            return Ok(None);
        }
        let text = SaidText::of(&node, &attributes)?;
        Ok(match attributes.turn {
            Some(turn) => Some(Self::Said(Box::new(SaidTurn { turn, text }))),
            None => (!text.text.is_empty()).then(|| Self::Written(Box::new(text))),
        })
    }
}

impl SaidText {
    fn of(node: &Node<'_>, attributes: &EventAttributes) -> Result<Self> {
        Ok(Self {
            node: node.id(),
            scope: attributes.scope(),
            metadata: attributes.metadata.clone(),
            text: node.text()?.trim().to_owned(),
            speaker: attributes.speaker.clone().unwrap_or_default(),
            happened: node.happened()?,
            session: node.session(),
        })
    }

    /// As filters see it: a memory of the kind `said` or `written`.
    pub(super) fn json(&self, id: Option<Uuid>, kind: &str) -> Value {
        let mut out = Map::new();
        out.insert("id".into(), json!(id.map(|id| id.to_string())));
        out.insert("memory".into(), json!(self.text));
        for (field, value) in self.scope.fields() {
            if let Some(value) = value {
                out.insert(field.into(), json!(value));
            }
        }
        out.insert("metadata".into(), Value::Object(self.metadata.clone()));
        out.insert("kind".into(), json!(kind));
        let happened = time::display(self.happened).to_string();
        for name in ["created_at", "updated_at", "happened_at"] {
            out.insert(name.into(), json!(happened));
        }
        Value::Object(out)
    }

    /// The entry of these words, with all of them.
    pub(super) fn entry(
        &self,
        source: RecalledSource,
        id: Option<Uuid>,
        hit: &Hit,
    ) -> RecalledEntry {
        RecalledEntry {
            source,
            event: self.node,
            id,
            text: self.text.clone(),
            is_passage: false,
            speaker: self.speaker.clone(),
            happened: self.happened,
            until: None,
            rank: hit.score,
            relevance: hit.relevance.value,
            is_weak: is_weak(&hit.relevance),
            item: None,
            conflicts: Vec::new(),
            because: Vec::new(),
            session: self.session,
            doubles: Vec::new(),
        }
    }
}
