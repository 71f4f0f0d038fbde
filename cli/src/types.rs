//! Event and edge types by name and in messages.

use amem_format::types::{EdgeType, EventType};

pub(crate) fn event_type_number(event_type: EventType) -> i32 {
    i32::from(event_type.0) + 1
}

pub(crate) fn edge_type_number(edge_type: EdgeType) -> i32 {
    i32::from(edge_type.0) + 1
}

pub(crate) fn edge_type_numbers(types: &[EdgeType]) -> Vec<i32> {
    types.iter().map(|t| edge_type_number(*t)).collect()
}

/// Parses `fact`, or `type-200` for a type that this build does not know.
pub(crate) fn parse_event_type(name: &str) -> Result<EventType, String> {
    EventType::from_name(name)
        .or_else(|| number_of(name).map(EventType))
        .ok_or_else(|| {
            "no such type (fact, decision, inference, correction, skill, episode)".to_owned()
        })
}

/// Parses `supports`, or `type-200` for a type that this build does not know.
pub(crate) fn parse_edge_type(name: &str) -> Result<EdgeType, String> {
    EdgeType::from_name(name)
        .or_else(|| number_of(name).map(EdgeType))
        .ok_or_else(|| {
            "no such type (caused-by, supports, contradicts, supersedes, related-to, part-of, temporal-next)".to_owned()
        })
}

fn number_of(name: &str) -> Option<u8> {
    name.strip_prefix("type-")?.parse().ok()
}
