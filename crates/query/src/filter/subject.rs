//! What a filter is asked about.

use std::borrow::Cow;

use amem_format::error::Result;
use amem_format::event::Attributes;
use amem_format::types::{EventType, Micros, NodeId, SessionId};

/// What a filter is asked about: an event, of which it reads what it needs.
pub trait Subject {
    /// Its id.
    fn id(&self) -> NodeId;
    /// Its type.
    fn event_type(&self) -> EventType;
    /// Its session.
    fn session(&self) -> SessionId;
    /// Effective confidence.
    fn confidence(&self) -> f32;
    /// Confidence after decay, at the moment that the query is about.
    fn strength(&self) -> f32;
    /// Recorded time.
    fn created_at(&self) -> Micros;
    /// When it happened, if that was said.
    fn event_time(&self) -> Result<Option<Micros>>;
    /// The text; empty if there is none.
    fn text(&self) -> Result<Cow<'_, str>>;
    /// The attributes.
    fn attributes(&self) -> Result<Option<Attributes>>;
}
