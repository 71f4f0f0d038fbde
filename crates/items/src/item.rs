//! Items, and what is done to them.

use amem_format::types::Micros;
use serde_json::{Map, Value};

use crate::error::{Error, Result};
use crate::item_name::ItemName;
use crate::limits::{TTL_MICROS_MAX, VALUE_BYTES_MAX};
use crate::text_paths::ItemIndex;

/// An item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// Its namespace and key.
    pub name: ItemName,
    /// A JSON object, as it was sent.
    pub value_json: String,
    /// When it was first stored.
    pub created_at: Micros,
    /// When this value was stored.
    pub updated_at: Micros,
    /// When it is shown no more.
    pub expires_at: Option<Micros>,
    /// Microseconds that it is shown after it was stored or refreshed.
    pub ttl: Option<i64>,
}

impl Item {
    /// What it takes of an answer.
    pub(crate) fn bytes(&self) -> usize {
        let labels = self.name.namespace().iter().map(String::len);
        self.value_json.len() + self.name.key().len() + labels.sum::<usize>()
    }
}

/// A value to store, within the limits.
#[derive(Debug, Clone, PartialEq)]
pub struct ItemPut {
    pub(crate) name: ItemName,
    pub(crate) value_json: String,
    /// What is searched by words; `None` for nothing.
    pub(crate) text: Option<String>,
    pub(crate) ttl: Option<i64>,
}

impl ItemPut {
    /// `ttl` is in microseconds. Errors: the value is no JSON object, or something is over a limit.
    pub fn new(
        name: ItemName,
        value_json: String,
        index: &ItemIndex,
        ttl: Option<i64>,
    ) -> Result<Self> {
        Error::check("the value in bytes", value_json.len(), VALUE_BYTES_MAX)?;
        let value: Map<String, Value> = serde_json::from_str(&value_json)
            .map_err(|e| Error::invalid("value_json", format!("no JSON object: {e}")))?;
        if let Some(ttl) = ttl
            && !(1..=TTL_MICROS_MAX).contains(&ttl)
        {
            let why = format!("{ttl} microseconds are not 1 to {TTL_MICROS_MAX}");
            return Err(Error::invalid("ttl", why));
        }
        let text = index.text(&Value::Object(value))?;
        Ok(Self {
            name,
            value_json,
            text,
            ttl,
        })
    }

    /// What it is called.
    pub fn name(&self) -> &ItemName {
        &self.name
    }
}

/// A change of an item.
#[derive(Debug, Clone, PartialEq)]
pub enum ItemChange {
    /// Store a value.
    Put(ItemPut),
    /// Delete it, if it is there.
    Delete(ItemName),
}

impl ItemChange {
    /// The item.
    pub fn name(&self) -> &ItemName {
        match self {
            Self::Put(put) => &put.name,
            Self::Delete(name) => name,
        }
    }
}

/// Under what a change is repeated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptRequest {
    /// The request id.
    pub id: String,
    /// The hash of the request; another request under the id is refused.
    pub hash: String,
}

/// What was read, and what follows from the reading.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ItemRead<T> {
    /// The answer.
    pub answer: T,
    /// Items whose time to live is to begin again, each with its version.
    pub(crate) refreshed: Vec<(ItemName, uuid::Uuid)>,
    /// Items that have expired and are not forgotten yet.
    pub(crate) expired: Vec<ItemName>,
}

impl<T> ItemRead<T> {
    pub(crate) fn new(answer: T) -> Self {
        Self {
            answer,
            refreshed: Vec::new(),
            expired: Vec::new(),
        }
    }

    /// True if something is left to do for a caller that may write.
    pub fn has_work(&self) -> bool {
        !self.refreshed.is_empty() || !self.expired.is_empty()
    }

    /// The same work with another answer.
    pub fn map<U>(self, to: impl FnOnce(T) -> U) -> ItemRead<U> {
        ItemRead {
            answer: to(self.answer),
            refreshed: self.refreshed,
            expired: self.expired,
        }
    }

    /// Takes over the work of another reading; returns its answer.
    pub fn join<U>(&mut self, other: ItemRead<U>) -> U {
        self.refreshed.extend(other.refreshed);
        self.expired.extend(other.expired);
        other.answer
    }
}
