//! Requests to change one memory.

use serde_json::{Map, Value};
use uuid::Uuid;

use amem_format::types::Micros;

use crate::error::{Error, Result};
use crate::limits::{MEMORY_BYTES_MAX, METADATA_BYTES_MAX, REASON_BYTES_MAX};
use crate::secrets::SecretPolicy;

/// A new text or new keys for a memory.
#[derive(Debug, Clone, PartialEq)]
pub struct UpdateRequest {
    /// The memory.
    pub id: Uuid,
    /// The new text; `None` leaves it.
    pub text: Option<String>,
    /// The new keys, all of them; `None` leaves them.
    pub metadata: Option<Map<String, Value>>,
    /// The text that the caller replaces; another one is `Error::Changed`.
    pub expected: Option<String>,
    /// Why it changes, for its history.
    pub reason: Option<String>,
    /// What happens to secrets in the text, the keys and the reason.
    pub secrets: SecretPolicy,
    /// The present.
    pub now: Micros,
}

impl UpdateRequest {
    /// An error if the request cannot be run, whatever is stored.
    pub fn validate(&self) -> Result<()> {
        match (&self.text, &self.metadata) {
            (None, None) => {
                return Err(Error::invalid(
                    "text",
                    "there is nothing to change: send text or metadata",
                ));
            }
            (Some(text), _) if text.trim().is_empty() => {
                return Err(Error::invalid(
                    "text",
                    "it is empty: delete the memory instead",
                ));
            }
            (Some(text), _) => Error::check_limit(
                "the text of a memory in bytes",
                text.len(),
                MEMORY_BYTES_MAX,
            )?,
            (None, Some(_)) => {}
        }
        check_reason(self.reason.as_deref())?;
        if let Some(metadata) = &self.metadata {
            let bytes = Value::Object(metadata.clone()).to_string().len();
            Error::check_limit("the metadata in bytes", bytes, METADATA_BYTES_MAX)?;
        }
        Ok(())
    }
}

/// An error if a reason is too long.
pub fn check_reason(reason: Option<&str>) -> Result<()> {
    let bytes = reason.map_or(0, str::len);
    Error::check_limit("the reason in bytes", bytes, REASON_BYTES_MAX)
}

/// The id of a memory as clients write it.
pub fn memory_id(text: &str) -> Result<Uuid> {
    Uuid::try_parse(text.trim()).map_err(|_| {
        let shown: String = text.chars().take(64).collect();
        Error::invalid("memory_id", format!("{shown:?} is no UUID"))
    })
}
