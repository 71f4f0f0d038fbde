//! The attributes of the events of items.

use amem_format::event::Attributes;
use amem_format::types::Micros;
use amem_format::view::Node;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

use crate::error::{Error, Result};

/// Paths of attributes that lookups use.
pub(crate) mod path {
    /// The digest of namespace and key.
    pub(crate) const NAME: &str = "amem.item.name";
    /// Whether an event is a version or an end.
    pub(crate) const STATE: &str = "amem.item.state";
    /// Digests of the namespaces that an item is within.
    pub(crate) const WITHIN: &str = "amem.item.within";
    /// The digest of the namespace that an item is directly in.
    pub(crate) const PLACE: &str = "amem.item.place";
    /// Whether words find an item.
    pub(crate) const INDEXED: &str = "amem.item.indexed";
    /// The request that made an event.
    pub(crate) const REQUEST: &str = "amem.item.request.id";
    /// The version whose value an event has.
    pub(crate) const BODY_OF: &str = "amem.item_body.of";
    /// The version whose time to live began again.
    pub(crate) const REFRESH_OF: &str = "amem.item_refresh.of";
    /// The digest of a namespace.
    pub(crate) const NAMESPACE: &str = "amem.item_namespace.name";
    /// The same for all namespaces.
    pub(crate) const NAMESPACES: &str = "amem.item_namespace.kind";
}

/// What an event says of its item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ItemEventState {
    /// It has this value from now on.
    Version,
    /// It ended.
    End,
}

/// The request that made an event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RequestRecord {
    pub(crate) id: String,
    pub(crate) hash: String,
}

/// `amem.item`: one version of an item, or its end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ItemRecord {
    /// Of the version, or of the end.
    pub(crate) id: Uuid,
    pub(crate) state: ItemEventState,
    pub(crate) namespace: Vec<String>,
    pub(crate) key: String,
    pub(crate) name: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) place: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) within: Vec<String>,
    pub(crate) indexed: bool,
    /// The present of the request that stored it.
    pub(crate) at: Micros,
    /// That of the first version since the item began.
    pub(crate) created: Micros,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) expires: Option<Micros>,
    /// Microseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) ttl: Option<i64>,
    /// The value as JSON; `None` if it is the text of an event of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) value: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) request: Option<RequestRecord>,
}

/// `amem.item_body`: the text of the event is the value of a version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct BodyRecord {
    pub(crate) of: Uuid,
}

/// `amem.item_refresh`: the time to live of a version began again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RefreshRecord {
    pub(crate) of: Uuid,
    pub(crate) expires: Micros,
}

/// What all namespaces have under `kind`.
pub(crate) const NAMESPACE_KIND: &str = "namespace";

/// `amem.item_namespace`: a namespace, from its first item on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct NamespaceRecord {
    pub(crate) kind: String,
    pub(crate) name: String,
    pub(crate) labels: Vec<String>,
}

/// The attributes of an event of items; one of them is there.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct ItemAttributes {
    #[serde(rename = "amem.item", default, skip_serializing_if = "Option::is_none")]
    pub(crate) item: Option<ItemRecord>,
    #[serde(
        rename = "amem.item_body",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    pub(crate) body: Option<BodyRecord>,
    #[serde(
        rename = "amem.item_refresh",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    pub(crate) refresh: Option<RefreshRecord>,
    #[serde(
        rename = "amem.item_namespace",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    pub(crate) namespace: Option<NamespaceRecord>,
}

impl ItemAttributes {
    /// Those of an event; none of them if it is not of items, or was erased.
    pub(crate) fn read(node: &Node<'_>) -> Result<Self> {
        if node.is_erased() {
            return Ok(Self::default());
        }
        let json = node.attributes_json()?;
        // What others wrote under these names is theirs.
        let read = json.and_then(|json| serde_json::from_str(&json).ok());
        Ok(read.unwrap_or_default())
    }

    /// As a brain takes them.
    pub(crate) fn to_attributes(&self) -> Result<Attributes> {
        match serde_json::to_value(self) {
            Ok(Value::Object(map)) => Ok(map),
            _ => Err(Error::invalid("value_json", "it cannot be stored")),
        }
    }
}
