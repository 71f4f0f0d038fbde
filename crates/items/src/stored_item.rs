//! The current version of an item, as a brain has it.

use amem_format::NodeId;
use amem_format::types::{EdgeType, Micros};
use amem_format::view::{Direction, Node, View};
use amem_query::planner::events_with;

use crate::error::Result;
use crate::item::Item;
use crate::item_name::ItemName;
use crate::limits::REFRESH_SHARE;
use crate::record::{ItemAttributes, ItemEventState, ItemRecord, path};

/// The current version of an item; it may have expired.
#[derive(Debug, Clone)]
pub(crate) struct StoredItem {
    pub(crate) node: NodeId,
    pub(crate) record: ItemRecord,
    pub(crate) name: ItemName,
    /// With the refreshes since.
    pub(crate) expires: Option<Micros>,
}

impl StoredItem {
    /// The version of an item; `None` if there is none, or it ended.
    pub(crate) fn of(view: &View, name: &ItemName) -> Result<Option<Self>> {
        for id in events_with(view, path::NAME, &name.digest())?
            .into_iter()
            .rev()
        {
            let node = view.node(id)?;
            let Some(record) = ItemAttributes::read(&node)?.item else {
                continue;
            };
            if record.namespace == name.namespace() && record.key == name.key() {
                // The newest event says what the item is.
                return Self::current(view, &node, record);
            }
        }
        Ok(None)
    }

    /// The item of an event, if the event is its current version.
    pub(crate) fn at(view: &View, id: NodeId) -> Result<Option<Self>> {
        let node = view.node(id)?;
        // Replaced and ended versions are hidden: their attributes need not be read.
        if node.is_forgotten() {
            return Ok(None);
        }
        match ItemAttributes::read(&node)?.item {
            Some(record) if is_newest(view, id, &record)? => Self::current(view, &node, record),
            _ => Ok(None),
        }
    }

    fn current(view: &View, node: &Node<'_>, record: ItemRecord) -> Result<Option<Self>> {
        if record.state == ItemEventState::End || node.is_forgotten() {
            return Ok(None);
        }
        let edges = view.edges_of(node.id(), Direction::Incoming)?;
        if edges
            .iter()
            .any(|edge| edge.edge_type == EdgeType::SUPERSEDES)
        {
            return Ok(None);
        }
        let Ok(name) = ItemName::new(record.namespace.clone(), record.key.clone()) else {
            // Others wrote it.
            return Ok(None);
        };
        Ok(Some(Self {
            node: node.id(),
            expires: expires(view, &record)?,
            name,
            record,
        }))
    }

    pub(crate) fn is_expired(&self, now: Micros) -> bool {
        self.expires.is_some_and(|at| at <= now)
    }

    /// True if a reading begins its time to live again.
    pub(crate) fn is_refreshed_at(&self, now: Micros) -> bool {
        let (Some(ttl), Some(expires)) = (self.record.ttl, self.expires) else {
            return false;
        };
        let since = now.0.saturating_sub(expires.0.saturating_sub(ttl));
        since >= (ttl / REFRESH_SHARE).max(1)
    }

    /// The item; `None` if its value was erased.
    pub(crate) fn item(&self, view: &View) -> Result<Option<Item>> {
        let record = &self.record;
        let value_json = match &record.value {
            Some(value) => Some(value.clone()),
            None => body(view, record)?,
        };
        Ok(value_json.map(|value_json| Item {
            name: self.name.clone(),
            value_json,
            created_at: record.created,
            updated_at: record.at,
            expires_at: self.expires,
            ttl: record.ttl,
        }))
    }
}

/// True if no later event is of the same item: after a merge, or if a general call restored a version, an older one may
/// be neither hidden nor replaced.
fn is_newest(view: &View, id: NodeId, record: &ItemRecord) -> Result<bool> {
    for later in events_with(view, path::NAME, &record.name)?
        .into_iter()
        .rev()
        .take_while(|later| *later > id)
    {
        let other = ItemAttributes::read(&view.node(later)?)?.item;
        let is_same =
            |other: ItemRecord| other.namespace == record.namespace && other.key == record.key;
        if other.is_some_and(is_same) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The value of a version that is the text of an event of its own.
fn body(view: &View, record: &ItemRecord) -> Result<Option<String>> {
    for id in events_with(view, path::BODY_OF, &record.id.to_string())? {
        let node = view.node(id)?;
        let body = ItemAttributes::read(&node)?.body;
        if body.is_some_and(|body| body.of == record.id) {
            return Ok(Some(node.text()?.into_owned()));
        }
    }
    Ok(None)
}

/// When a version is shown no more.
fn expires(view: &View, record: &ItemRecord) -> Result<Option<Micros>> {
    if record.expires.is_none() {
        return Ok(None);
    }
    for id in events_with(view, path::REFRESH_OF, &record.id.to_string())?
        .into_iter()
        .rev()
    {
        let refresh = ItemAttributes::read(&view.node(id)?)?.refresh;
        if let Some(refresh) = refresh.filter(|refresh| refresh.of == record.id) {
            return Ok(Some(refresh.expires));
        }
    }
    Ok(record.expires)
}
