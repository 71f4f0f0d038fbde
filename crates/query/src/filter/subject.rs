//! The interface through which a filter reads an event.

use std::borrow::Cow;

use amem_format::error::Result;
use amem_format::event::Attributes;
use amem_format::types::{EventType, Micros, NodeId, SessionId};

/// An event as a filter reads it.
pub trait Subject {
    /// The id.
    fn id(&self) -> NodeId;
    /// The type.
    fn event_type(&self) -> EventType;
    /// The session.
    fn session(&self) -> SessionId;
    /// Effective confidence.
    fn confidence(&self) -> f32;
    /// Confidence after decay, at the moment that the query uses.
    fn strength(&self) -> f32;
    /// Recorded time.
    fn created_at(&self) -> Micros;
    /// The event time, if known.
    fn event_time(&self) -> Result<Option<Micros>>;
    /// The text; empty if there is none.
    fn text(&self) -> Result<Cow<'_, str>>;
    /// The attributes.
    fn attributes(&self) -> Result<Option<Attributes>>;
}
