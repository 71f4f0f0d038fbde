//! Forgetting a turn: no answer shows its words any more, and its history says when and why.
//!
//! A hidden event with `amem.turn_end` goes with it, of the turn's scope. Memories that are from the turn stay.

use amem_format::NodeId;
use amem_format::types::{EventType, Micros};
use amem_format::view::View;
use amem_memory::change::check_reason;
use amem_memory::{Error as MemoryError, FactScope};
use amem_query::planner::events_with;
use amem_store::mutation::{Answer, End, Ingest, Mutation, NewEvent};
use serde_json::Value;
use uuid::Uuid;

use super::lookup::{SpokenMemory, spoken_event};
use crate::batch_plan::{derive_none, hide_all};
use crate::brain_store::kept_answer;
use crate::error::Result;
use crate::fact_brain::FactBrain;
use crate::fact_state::FactState;
use crate::kept_answer::KeptAnswer;
use crate::record::{AnswerRecord, EventAttributes, TurnEndRecord, answer_key, name_key, path};
use crate::scope_plan::FactMoment;

/// The text of the end of a turn: it says nothing of what was said.
const END_TEXT: &str = "a turn was forgotten";

/// When and why a turn was forgotten.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TurnEnd {
    /// The event that says so.
    pub event: NodeId,
    /// When.
    pub at: Micros,
    /// Why the caller forgot it.
    pub reason: Option<String>,
}

/// Forgets a turn of a scope; `None` if there is no such turn. A repetition under the key of an earlier request answers
/// as that one did, and commits nothing.
///
/// # Errors
/// `NotFound` for a turn that was forgotten; `KeyReused`; `TooLarge` for a long reason.
pub(crate) fn forget_turn(
    (brain, state): (&dyn FactBrain, &FactState),
    (id, scope): (Uuid, &FactScope),
    (now, reason): (Micros, Option<&str>),
    kept: Option<&KeptAnswer>,
) -> Result<Option<(SpokenMemory, Option<Answer>)>> {
    let Some((event, own)) = stored(&brain.view(), id, scope)? else {
        return Ok(None);
    };
    check_reason(reason)?;
    let _held = state.locks.hold([&own].into_iter());
    let moment = FactMoment::new(brain.view(), None)?;
    let view = &moment.view;
    let Some(said) = spoken_event(&moment, event, scope)? else {
        return Ok(None);
    };
    if let Some(kept) = kept
        && let Some(earlier) = kept_answer(view, &own, &kept.key)?
    {
        return match earlier.request_hash == kept.request_hash {
            true => Ok(Some((said, None))),
            false => Err(MemoryError::KeyReused {
                key: kept.key.clone(),
            }
            .into()),
        };
    }
    if view.node(event)?.is_forgotten() {
        return Err(MemoryError::NotFound { id: id.to_string() }.into());
    }
    let mut events = vec![end_event(view, (id, &own), now, reason)?];
    if let Some(kept) = kept {
        events.push(kept_event(view, (id, &own), kept)?);
    }
    let mut ingest = Ingest {
        events,
        ..Ingest::default()
    };
    hide_all(&mut ingest);
    ingest.forget.push(End::Event(event));
    let answer = brain.commit(Mutation::Ingest(ingest))?;
    Ok(Some((said, Some(answer))))
}

/// When and why a turn of a scope was forgotten; `None` if it was not.
pub(crate) fn turn_end(view: &View, id: Uuid, scope: &FactScope) -> Result<Option<TurnEnd>> {
    for event in turn_ends(view, id)?.into_iter().rev() {
        let attributes = EventAttributes::read(&view.node(event)?)?.unwrap_or_default();
        let is_ours = scope.covers(&attributes.scope());
        if let Some(end) = attributes.turn_end.filter(|_| is_ours) {
            return Ok(Some(TurnEnd {
                event,
                at: end.at,
                reason: attributes.reason,
            }));
        }
    }
    Ok(None)
}

/// True if an event with words is hidden at a moment: it was forgotten. Flags are those of the present: a turn that was
/// forgotten since by its id is shown of the time before; of all else the time is not known.
pub(super) fn is_hidden(moment: &FactMoment, event: NodeId, turn: Option<Uuid>) -> Result<bool> {
    if !moment.view.node(event)?.is_forgotten() {
        return Ok(false);
    }
    let Some(turn) = turn.filter(|_| moment.is_past()) else {
        return Ok(true);
    };
    let is_known = !turn_ends(&moment.now, turn)?.is_empty();
    Ok(!is_known || !turn_ends(&moment.view, turn)?.is_empty())
}

/// The events that say that a turn was forgotten.
pub(crate) fn turn_ends(view: &View, id: Uuid) -> Result<Vec<NodeId>> {
    let mut events = events_with(view, path::TURN_END, &id.to_string())?;
    let mut failure = None;
    events.retain(|event| {
        let node = view.node(*event);
        node.map(|node| !node.is_erased()).unwrap_or_else(|error| {
            failure = Some(error);
            false
        })
    });
    match failure {
        Some(error) => Err(error.into()),
        None => Ok(events),
    }
}

/// The event and the scope of a turn within a scope, also of one that was forgotten.
fn stored(view: &View, id: Uuid, scope: &FactScope) -> Result<Option<(NodeId, FactScope)>> {
    for event in events_with(view, path::TURN_ID, &id.to_string())? {
        let node = view.node(event)?;
        let attributes = EventAttributes::read(&node)?.filter(|_| !node.is_erased());
        let Some(attributes) = attributes else {
            continue;
        };
        let own = attributes.scope();
        let is_it = attributes.turn.is_some_and(|turn| turn.id == id);
        if is_it && scope.covers(&own) {
            return Ok(Some((event, own)));
        }
    }
    Ok(None)
}

fn end_event(
    view: &View,
    (turn, scope): (Uuid, &FactScope),
    at: Micros,
    reason: Option<&str>,
) -> Result<NewEvent> {
    let mut attributes = EventAttributes::of(scope);
    attributes.turn_end = Some(TurnEndRecord { turn, at });
    attributes.reason = reason.map(str::to_owned);
    hidden(view, END_TEXT, &attributes)
}

/// What a repetition gets: the turn itself, so that the answer needs no text of its own.
fn kept_event(
    view: &View,
    (turn, scope): (Uuid, &FactScope),
    kept: &KeptAnswer,
) -> Result<NewEvent> {
    let mut attributes = EventAttributes::of(scope);
    attributes.answer = Some(AnswerRecord {
        key: answer_key(scope, &kept.key),
        request: kept.request_hash.clone(),
        part: 0,
        parts: 1,
        names: vec![name_key(turn)],
    });
    hidden(view, &Value::Null.to_string(), &attributes)
}

fn hidden(view: &View, text: &str, attributes: &EventAttributes) -> Result<NewEvent> {
    let mut event = NewEvent::new(EventType::FACT, text);
    event.attributes = Some(attributes.to_attributes()?);
    derive_none(&mut event, view);
    Ok(event)
}
