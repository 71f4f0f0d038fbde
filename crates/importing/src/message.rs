//! Times and numbers of types in messages.

use std::time::{SystemTime, UNIX_EPOCH};

use amem_format::{EdgeType, EventType, Micros};
use amem_proto::Timestamp;

/// Microseconds of a second.
const SECOND: i64 = 1_000_000;

pub(crate) fn event_type_number(event_type: EventType) -> i32 {
    i32::from(event_type.0) + 1
}

pub(crate) fn edge_type_number(edge_type: EdgeType) -> i32 {
    i32::from(edge_type.0) + 1
}

pub(crate) fn timestamp(time: Micros) -> Timestamp {
    Timestamp {
        seconds: time.0.div_euclid(SECOND),
        nanos: (time.0.rem_euclid(SECOND) * 1000) as i32,
    }
}

/// A clock before 1970 is wrong, and is taken as 1970.
pub(crate) fn now() -> Micros {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    Micros(since.map_or(1, |since| {
        i64::try_from(since.as_micros()).unwrap_or(i64::MAX)
    }))
}
