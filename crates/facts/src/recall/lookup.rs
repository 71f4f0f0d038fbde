//! What was said or written, by its id: what a recall shows can be read, and ended, like a memory.

use amem_format::NodeId;
use amem_format::types::Micros;
use amem_memory::FactScope;
use amem_memory::add::gives_orders;
use amem_query::context::Passages;
use serde_json::{Map, Value};
use uuid::Uuid;

use super::candidate::FoundEvent;
use super::said::TurnMemories;
use super::wording::Wording;
use crate::error::Result;
use crate::scope_plan::FactMoment;
use crate::stored_turns::turn_event;

/// A turn, or another event with words.
#[derive(Debug, Clone, PartialEq)]
pub struct SpokenMemory {
    /// The turn; `None` for other events.
    pub id: Option<Uuid>,
    /// Its event.
    pub event: NodeId,
    /// The words, without sentences whose memory was forgotten and orders to a model.
    pub text: String,
    /// user, assistant or tool; empty for other events.
    pub role: String,
    /// Who said it; empty if that is not known.
    pub speaker: String,
    /// Whose it is.
    pub scope: FactScope,
    /// The caller's own keys.
    pub metadata: Map<String, Value>,
    /// When it was said, or happened.
    pub happened: Micros,
}

/// How a request names what was said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpokenName {
    /// A turn.
    Turn(Uuid),
    /// An event.
    Event(NodeId),
}

/// What was said or written under a name within a scope; `None` if there is nothing, or it was forgotten.
pub(crate) fn spoken(
    moment: &FactMoment,
    name: SpokenName,
    scope: &FactScope,
) -> Result<Option<SpokenMemory>> {
    let view = &moment.view;
    let event = match name {
        SpokenName::Turn(id) => turn_event(view, id)?.map(|(node, ..)| node),
        SpokenName::Event(node) => Some(node).filter(|node| node.0 < view.nodes()),
    };
    let Some(event) = event else {
        return Ok(None);
    };
    if view.node(event)?.is_forgotten() {
        return Ok(None);
    }
    spoken_event(moment, event, scope)
}

/// The same of an event, also of one that was forgotten.
pub(super) fn spoken_event(
    moment: &FactMoment,
    event: NodeId,
    scope: &FactScope,
) -> Result<Option<SpokenMemory>> {
    let view = &moment.view;
    let (text, turn) = match FoundEvent::read(view, event)? {
        Some(FoundEvent::Said(said)) => (said.text, Some(said.turn)),
        Some(FoundEvent::Written(text)) => (*text, None),
        Some(FoundEvent::Formed(_)) | None => return Ok(None),
    };
    if !scope.covers(&text.scope) {
        return Ok(None);
    }
    let mut wording = Wording::default();
    let memories = match &turn {
        Some(turn) => TurnMemories::of(moment, turn.id, &mut wording)?,
        None => TurnMemories::default(),
    };
    let mut is_whole = true;
    let whole_bytes = 2 * text.text.len();
    let shown = Passages::new("").of(&text.text, whole_bytes, &mut |sentence| {
        let is_left_out = gives_orders(sentence) || memories.is_forgotten(sentence, &mut wording);
        is_whole &= !is_left_out;
        is_left_out
    });
    Ok(shown.map(|shown| SpokenMemory {
        id: turn.as_ref().map(|turn| turn.id),
        event,
        text: match is_whole {
            true => text.text,
            false => shown.text,
        },
        role: turn.map_or_else(String::new, |turn| turn.role),
        speaker: text.speaker,
        scope: text.scope,
        metadata: text.metadata,
        happened: text.happened,
    }))
}
