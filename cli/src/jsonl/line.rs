//! A line as fields, checked against limits.

use amem_format::attributes;
use amem_format::event::Attributes;
use amem_format::limits::{DIMENSION_MAX, NAME_BYTES_MAX, TEXT_BYTES_MAX};
use amem_format::{EdgeType, EventType, Flags};
use serde::Deserialize;
use uuid::Uuid;

use crate::json::event::{Time, flag_of};

pub(crate) const LINE_BYTES_MAX: u64 = 256 << 20;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct EventLine {
    pub(crate) id: Option<u64>,
    #[serde(rename = "type")]
    pub(crate) event_type: Option<EventType>,
    pub(crate) created_at: Option<Time>,
    pub(crate) event_time: Option<Time>,
    pub(crate) session: Option<u32>,
    pub(crate) session_key: Option<String>,
    pub(crate) agent: Option<String>,
    pub(crate) confidence: Option<f32>,
    pub(crate) decay_score: Option<f32>,
    pub(crate) lambda: Option<f32>,
    pub(crate) access_count: Option<u32>,
    pub(crate) last_accessed: Option<Time>,
    #[serde(default)]
    pub(crate) flags: Vec<String>,
    pub(crate) text: String,
    /// Who recorded the exported event, and why: an import is recorded by whom it is made, and `attributes` have the
    /// reason.
    #[serde(rename = "by")]
    _by: Option<String>,
    #[serde(rename = "by_agent")]
    _by_agent: Option<String>,
    #[serde(rename = "reason")]
    _reason: Option<String>,
    pub(crate) attributes: Option<Attributes>,
    pub(crate) vector: Option<Vec<f32>>,
    pub(crate) space: Option<Uuid>,
    #[serde(default)]
    pub(crate) edges: Vec<EdgeLine>,
}

/// An outgoing edge.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct EdgeLine {
    pub(crate) target: u64,
    #[serde(rename = "type")]
    pub(crate) edge_type: EdgeType,
    pub(crate) weight: Option<f32>,
    pub(crate) created_at: Option<Time>,
}

impl EventLine {
    pub(crate) fn parse(json: &[u8]) -> Result<Self, String> {
        let text = std::str::from_utf8(json).map_err(|e| e.to_string())?;
        let line: Self = serde_json::from_str(text).map_err(|e| e.to_string())?;
        line.check()?;
        Ok(line)
    }

    /// Checks what a line alone can show.
    fn check(&self) -> Result<(), String> {
        at_most("a text", self.text.len(), TEXT_BYTES_MAX)?;
        let names = [
            ("a session's key", &self.session_key),
            ("an agent's name", &self.agent),
        ];
        for (what, name) in names {
            at_most(
                what,
                name.as_deref().unwrap_or_default().len(),
                NAME_BYTES_MAX,
            )?;
        }
        if let Some(vector) = &self.vector
            && (vector.is_empty() || vector.len() > DIMENSION_MAX as usize)
        {
            let max = DIMENSION_MAX;
            return Err(format!("a vector of {} numbers (1 to {max})", vector.len()));
        }
        if let Some(of) = &self.attributes {
            attributes::validate(of).map_err(|e| e.to_string())?;
        }
        if self.flags()?.has(Flags::ERASED) && !(self.text.is_empty() && self.vector.is_none()) {
            return Err("an erased event with text or a vector".to_owned());
        }
        Ok(())
    }

    pub(crate) fn flags(&self) -> Result<Flags, String> {
        let mut flags = Flags::default()
            .set(Flags::VECTOR, self.vector.is_some())
            .set(Flags::ATTRIBUTES, self.attributes.is_some());
        for name in &self.flags {
            let flag = flag_of(name).ok_or_else(|| {
                format!("unknown flag {name:?} (pinned, forgotten, compressed, erased)")
            })?;
            flags = flags.with(flag);
        }
        Ok(flags)
    }
}

fn at_most(what: &str, len: usize, max: usize) -> Result<(), String> {
    if len > max {
        Err(format!(
            "{what} of {len} bytes, more than the limit of {max}"
        ))
    } else {
        Ok(())
    }
}
