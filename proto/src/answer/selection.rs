//! Decodes selections, scopes, windows and directions.

use amem_format::SessionId;
use amem_format::view::{View, check_space};
use amem_query::filter::Filter;
use amem_query::time_phrase::{Clock, zone_named};
use amem_query::{AuthorNames, Axis, Follow, Scope, Selection, ValueRange, Window};

use super::refusal::{Refusal, Result};
use super::word::{event_types, micros, space};
use crate::{Timestamp, v1};

/// A selection; the default one if unset.
pub(super) fn selection(message: Option<v1::Selection>) -> Result<Selection> {
    let Some(message) = message else {
        return Ok(Selection::default());
    };
    let clock = clock(Some(&message))?;
    let strength_at = message.strength_at.map(|time| micros("strength_at", time));
    Ok(Selection {
        types: event_types(&message.types)?,
        sessions: message.session_ids.into_iter().map(SessionId).collect(),
        recorded: window("recorded", message.recorded)?,
        happened: window("happened", message.happened)?,
        confidence: bounds(message.confidence),
        strength: bounds(message.strength),
        strength_at: strength_at.transpose()?,
        keyword: (!message.keyword.is_empty()).then_some(message.keyword),
        scope: scope(message.scope),
        authors: AuthorNames {
            by: message.by,
            agents: message.agents,
        },
        filter: filter(&message.filter_json, &clock)?,
        include_forgotten: message.include_forgotten,
        include_compressed: message.include_compressed,
    })
}

/// User, agent, run and app.
pub(super) fn scope(message: Option<v1::Scope>) -> Scope {
    let message = message.unwrap_or_default();
    Scope {
        user: message.user,
        agent: message.agent,
        run: message.run,
        app: message.app,
    }
}

fn window(what: &str, message: Option<v1::Window>) -> Result<Window> {
    let message = message.unwrap_or_default();
    let time = |time: Option<Timestamp>| time.map(|time| micros(what, time)).transpose();
    Ok(Window {
        from: time(message.from)?,
        until: time(message.until)?,
    })
}

fn bounds(message: Option<v1::Bounds>) -> ValueRange {
    let message = message.unwrap_or_default();
    ValueRange {
        min: message.min,
        max: message.max,
    }
}

fn filter(json: &str, clock: &Clock) -> Result<Option<Filter>> {
    if json.is_empty() {
        return Ok(None);
    }
    Ok(Some(Filter::parse_text(json, clock)?))
}

/// The present and the zone of a selection, as far as it says them.
pub(super) fn clock(message: Option<&v1::Selection>) -> Result<Clock> {
    let Some(message) = message else {
        return Ok(Clock::default());
    };
    let now = message.now.map(|time| micros("now", time)).transpose()?;
    let zone = (!message.zone.is_empty()).then(|| zone_named(&message.zone));
    Ok(Clock::known(now, zone.transpose()?))
}

/// A direction; `otherwise` if unset.
pub(super) fn follow(value: i32, otherwise: Follow) -> Result<Follow> {
    match v1::Follow::try_from(value) {
        Ok(v1::Follow::Unspecified) => Ok(otherwise),
        Ok(v1::Follow::Outgoing) => Ok(Follow::Outgoing),
        Ok(v1::Follow::Incoming) => Ok(Follow::Incoming),
        Ok(v1::Follow::Both) => Ok(Follow::Both),
        Err(_) => Err(unknown("follow", value)),
    }
}

/// An axis; `otherwise` if unset.
pub(super) fn axis(value: i32, otherwise: Axis) -> Result<Axis> {
    match v1::Axis::try_from(value) {
        Ok(v1::Axis::Unspecified) => Ok(otherwise),
        Ok(v1::Axis::Recorded) => Ok(Axis::Recorded),
        Ok(v1::Axis::Happened) => Ok(Axis::Happened),
        Err(_) => Err(unknown("axis", value)),
    }
}

/// The error for an unknown enum value.
pub(super) fn unknown(what: &str, value: i32) -> Refusal {
    Refusal::invalid(
        what,
        format!("unknown value {value}: use one that its enum names"),
    )
}

/// The numbers of a vector, which must be of the brain's space.
pub(super) fn vector(view: &View, message: v1::Vector) -> Result<Vec<f32>> {
    let own = view.identity().space;
    check_space(own, space(&message.space)?.unwrap_or(own))?;
    Ok(message.values)
}

/// A number; 0 means `otherwise`.
pub(super) fn count(asked: u32, otherwise: usize) -> usize {
    match asked {
        0 => otherwise,
        asked => asked as usize,
    }
}

/// A number; 0 means `otherwise`.
pub(super) fn depth(asked: u32, otherwise: u32) -> u32 {
    if asked == 0 { otherwise } else { asked }
}

/// A page token; none for the first page.
pub(super) fn token(text: String) -> Option<String> {
    (!text.is_empty()).then_some(text)
}
