//! From changes of items to one commit of a brain.

use std::collections::HashSet;

use amem_format::types::{EdgeType, EventType, Micros};
use amem_format::view::View;
use amem_query::planner::events_with;
use amem_store::mutation::{End, Ingest, NewEvent, NewLink};
use uuid::Uuid;

use crate::error::Result;
use crate::item::ItemPut;
use crate::item_name::{ItemName, place_digest};
use crate::limits::INLINE_VALUE_BYTES;
use crate::record::{
    BodyRecord, ItemAttributes, ItemEventState, ItemRecord, NAMESPACE_KIND, NamespaceRecord,
    RefreshRecord, RequestRecord, path,
};
use crate::stored_item::StoredItem;

/// The text of an item that words do not find.
const UNINDEXED_TEXT: &str = "an item";
/// The text of the end of an item: it says nothing of what ended.
const END_TEXT: &str = "an item ended";
/// The text of a refresh.
const REFRESH_TEXT: &str = "an item was read";
/// The text of a namespace.
const NAMESPACE_TEXT: &str = "a namespace of items";

/// Collects events, edges and what is hidden. Each item is changed at most once.
pub(crate) struct ItemPlan<'v> {
    view: &'v View,
    now: Micros,
    request: Option<RequestRecord>,
    namespaces: HashSet<Vec<String>>,
    pub(crate) ingest: Ingest,
}

impl<'v> ItemPlan<'v> {
    pub(crate) fn new(view: &'v View, now: Micros, request: Option<RequestRecord>) -> Self {
        Self {
            view,
            now,
            request,
            namespaces: HashSet::new(),
            ingest: Ingest::default(),
        }
    }

    /// Stores a value, with the vector of its text.
    pub(crate) fn put(&mut self, put: &ItemPut, vector: Option<Vec<f32>>) -> Result<()> {
        let before = StoredItem::of(self.view, &put.name)?;
        let live = before.as_ref().filter(|item| !item.is_expired(self.now));
        // Clocks may go back: the order of versions does not.
        let at = live.map_or(self.now, |item| self.now.max(item.record.at));
        self.namespace(put.name.namespace())?;
        let id = Uuid::new_v4();
        let quoted = serde_json::Value::from(put.value_json.as_str()).to_string();
        let is_inline = quoted.len() <= INLINE_VALUE_BYTES;
        let mut record = self.record(&put.name, ItemEventState::Version, id, at);
        record.created = live.map_or(at, |item| item.record.created);
        record.place = put.name.place();
        record.within = put.name.prefixes();
        record.indexed = put.text.is_some();
        record.ttl = put.ttl;
        record.expires = put.ttl.map(|ttl| Micros(at.0.saturating_add(ttl)));
        record.value = is_inline.then(|| put.value_json.clone());
        let attributes = ItemAttributes {
            item: Some(record),
            ..ItemAttributes::default()
        };
        let text = put.text.as_deref().unwrap_or(UNINDEXED_TEXT);
        let mut event = self.event(text, &attributes)?;
        event.event_time = Some(at);
        if put.text.is_some() {
            event.derive(vector);
        }
        let new = self.push(event);
        if let Some(before) = &before {
            if !before.is_expired(self.now) {
                self.ingest.links.push(NewLink {
                    source: End::New(new),
                    target: End::Event(before.node),
                    edge_type: EdgeType::SUPERSEDES,
                    weight: 1.0,
                });
            }
            self.ingest.forget.push(End::Event(before.node));
        }
        if !is_inline {
            let attributes = ItemAttributes {
                body: Some(BodyRecord { of: id }),
                ..ItemAttributes::default()
            };
            self.hidden(&put.value_json, &attributes)?;
        }
        Ok(())
    }

    /// Ends an item; true if it was there.
    pub(crate) fn delete(&mut self, name: &ItemName) -> Result<bool> {
        let Some(before) = StoredItem::of(self.view, name)? else {
            return Ok(false);
        };
        let is_live = !before.is_expired(self.now);
        self.end(&before)?;
        Ok(is_live)
    }

    /// Ends an item if it has expired.
    pub(crate) fn expire(&mut self, name: &ItemName) -> Result<()> {
        match StoredItem::of(self.view, name)? {
            Some(before) if before.is_expired(self.now) => self.end(&before),
            _ => Ok(()),
        }
    }

    /// Begins the time to live of a version again, if it is still current.
    pub(crate) fn refresh(&mut self, name: &ItemName, version: Uuid) -> Result<()> {
        let Some(item) = StoredItem::of(self.view, name)? else {
            return Ok(());
        };
        let (Some(ttl), true) = (item.record.ttl, item.record.id == version) else {
            return Ok(());
        };
        if item.is_expired(self.now) || !item.is_refreshed_at(self.now) {
            return Ok(());
        }
        let attributes = ItemAttributes {
            refresh: Some(RefreshRecord {
                of: version,
                expires: Micros(self.now.0.saturating_add(ttl)),
            }),
            ..ItemAttributes::default()
        };
        self.hidden(REFRESH_TEXT, &attributes)
    }

    fn end(&mut self, before: &StoredItem) -> Result<()> {
        let at = self.now.max(before.record.at);
        let mut record = self.record(&before.name, ItemEventState::End, Uuid::new_v4(), at);
        record.created = before.record.created;
        let attributes = ItemAttributes {
            item: Some(record),
            ..ItemAttributes::default()
        };
        self.hidden(END_TEXT, &attributes)?;
        self.ingest.forget.push(End::Event(before.node));
        Ok(())
    }

    fn record(&self, name: &ItemName, state: ItemEventState, id: Uuid, at: Micros) -> ItemRecord {
        ItemRecord {
            id,
            state,
            namespace: name.namespace().to_vec(),
            key: name.key().to_owned(),
            name: name.digest(),
            place: String::new(),
            within: Vec::new(),
            indexed: false,
            at,
            created: at,
            expires: None,
            ttl: None,
            value: None,
            request: self.request.clone(),
        }
    }

    /// Notes a namespace, unless the brain knows it. Two batches at once may both note it: lists show it once.
    fn namespace(&mut self, labels: &[String]) -> Result<()> {
        if !self.namespaces.insert(labels.to_vec()) {
            return Ok(());
        }
        let name = place_digest(labels);
        for id in events_with(self.view, path::NAMESPACE, &name)? {
            let known = ItemAttributes::read(&self.view.node(id)?)?.namespace;
            if known.is_some_and(|known| known.labels == labels) {
                return Ok(());
            }
        }
        let attributes = ItemAttributes {
            namespace: Some(NamespaceRecord {
                kind: NAMESPACE_KIND.to_owned(),
                name,
                labels: labels.to_vec(),
            }),
            ..ItemAttributes::default()
        };
        self.hidden(NAMESPACE_TEXT, &attributes)
    }

    /// An event with a zero vector, which is like no other.
    fn event(&self, text: &str, attributes: &ItemAttributes) -> Result<NewEvent> {
        let dimension = self.view.vector_dimension() as usize;
        let mut event = NewEvent::new(EventType::FACT, text);
        let zeros = (dimension > 0).then(|| vec![0.0; dimension]);
        event.derive(zeros);
        event.attributes = Some(attributes.to_attributes()?);
        Ok(event)
    }

    fn push(&mut self, event: NewEvent) -> usize {
        self.ingest.events.push(event);
        self.ingest.events.len() - 1
    }

    fn hidden(&mut self, text: &str, attributes: &ItemAttributes) -> Result<()> {
        let event = self.event(text, attributes)?;
        let at = self.push(event);
        self.ingest.forget.push(End::New(at));
        Ok(())
    }
}
