//! The origin of merged events, where they were first recorded: the attribute `amem.origin`.
//!
//! Promises: the attribute stays whatever a client sets, and when the event is erased, so that every later merge
//! recognises the event. An import may bring it along.

use amem_format::Micros;
use amem_format::event::Attributes;
use amem_format::view::Node;
use serde_json::Value;

/// The attribute: `instance`, `event`, `time` (µs, recorded there) and `agent`.
pub use amem_format::attributes::ORIGIN;

use crate::error::{Error, Result};

/// The origin of an event, if it is well formed.
pub(crate) fn of(node: &Node<'_>) -> Result<Option<Value>> {
    let Some(json) = node.attributes_json()?.filter(|json| json.contains(ORIGIN)) else {
        return Ok(None);
    };
    // Damaged attributes have no origin.
    let Ok(mut attributes) = serde_json::from_str::<Attributes>(&json) else {
        return Ok(None);
    };
    Ok(attributes.remove(ORIGIN).filter(|of| time(of).is_some()))
}

/// When the event was first recorded.
pub(crate) fn time(origin: &Value) -> Option<Micros> {
    origin.get("time").and_then(Value::as_i64).map(Micros)
}

/// The attributes of an erased event: where and when it was recorded, without the agent.
pub(crate) fn of_erased(origin: &Value) -> Option<Attributes> {
    let mut of = origin.as_object()?.clone();
    of.retain(|key, value| match key.as_str() {
        "instance" => value
            .as_str()
            .is_some_and(|id| uuid::Uuid::parse_str(id).is_ok()),
        "event" | "time" => value.is_i64() || value.is_u64(),
        _ => false,
    });
    Some(Attributes::from_iter([(ORIGIN.to_owned(), of.into())]))
}

/// Attributes that a client sets, with the origin that the event has.
pub(crate) fn merge_into(
    given: Option<&Attributes>,
    own: Option<Value>,
) -> Result<Option<Attributes>> {
    let mut next = given.cloned();
    match (given.and_then(|given| given.get(ORIGIN)), own) {
        (given, Some(own)) if given.is_none_or(|given| *given == own) => {
            next.get_or_insert_default().insert(ORIGIN.into(), own);
        }
        (None, _) => {}
        (Some(_), _) => {
            let why = format!("{ORIGIN} says where the event was merged from: leave it as it is");
            return Err(Error::invalid("attributes", why));
        }
    }
    Ok(next)
}

/// Checks the origin that an import brings along.
pub(crate) fn check(attributes: &Attributes) -> Result<()> {
    match attributes.get(ORIGIN) {
        Some(origin) if time(origin).is_none() => {
            let why = format!("{ORIGIN} is for merged events, and has a time (µs): leave it out");
            Err(Error::invalid("attributes", why))
        }
        _ => Ok(()),
    }
}
