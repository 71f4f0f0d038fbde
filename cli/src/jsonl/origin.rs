//! Where an event was first recorded, in any brain.
//!
//! An event that was merged or imported has the attribute `amem.origin`; any other was recorded where it is.

use amem_format::Micros;
use amem_format::attributes::ORIGIN;
use amem_format::event::Attributes;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use uuid::Uuid;

/// The brain and the event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Origin {
    pub(crate) instance: Uuid,
    pub(crate) event: u64,
}

impl Origin {
    /// The origin that attributes name, if they do.
    pub(crate) fn of(attributes: &Attributes) -> Option<Self> {
        let origin = attributes.get(ORIGIN)?;
        Some(Self {
            instance: origin.get("instance")?.as_str()?.parse().ok()?,
            event: origin.get("event")?.as_u64()?,
        })
    }

    /// The value of `amem.origin` of an event that was recorded there at a time.
    pub(crate) fn attribute(self, time: Micros) -> Value {
        json!({"instance": self.instance.to_string(), "event": self.event, "time": time.0})
    }
}

/// When an event was first recorded, as its attributes say; `None` if they say nothing of it.
pub(crate) fn first_recorded(attributes: &Attributes) -> Option<Micros> {
    attributes.get(ORIGIN)?.get("time")?.as_i64().map(Micros)
}
