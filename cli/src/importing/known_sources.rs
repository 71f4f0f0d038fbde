//! What a brain has of sources: the events of earlier imports.

use std::collections::HashMap;

use amem_client::v1;
use amem_sources::SourceLedger;
use serde_json::{Map, Value, json};

use super::source_event::{GONE, HASH, ID, KIND, SOURCE, said};
use crate::brain::every_event::each_event;
use crate::brain::opened::BrainHandle;
use crate::failure::Failure;
use crate::output::context::CommandContext;

/// The event of an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct KnownItem {
    /// None if it is being written.
    pub(super) event: Option<u64>,
    pub(super) said: u64,
    /// The place of its document in [`KnownSources::documents`].
    pub(super) document: usize,
    pub(super) is_forgotten: bool,
    /// An earlier import forgot it.
    pub(super) is_gone: bool,
}

#[derive(Debug, Default)]
pub(super) struct KnownSources {
    pub(super) ledger: SourceLedger<KnownItem>,
    /// As `source` of their events has them.
    pub(super) documents: Vec<String>,
}

impl KnownSources {
    /// Reads the events of the kinds once, the oldest first: of an item that was replaced the newest one counts.
    pub(super) fn read(
        cx: &mut CommandContext,
        opened: &BrainHandle,
        kinds: &[&str],
    ) -> Result<Self, Failure> {
        let mut known = Self::default();
        let mut places: HashMap<String, usize> = HashMap::new();
        let selection = v1::Selection {
            filter_json: json!({KIND: {"in": kinds}}).to_string(),
            ..v1::Selection::default()
        };
        each_event(cx, opened, selection, |event| known.add(event, &mut places))?;
        Ok(known)
    }

    fn add(&mut self, event: &v1::Event, places: &mut HashMap<String, usize>) {
        let attributes: Map<String, Value> =
            serde_json::from_str(&event.attributes_json).unwrap_or_default();
        let text = |name: &str| attributes.get(name).and_then(Value::as_str);
        let (Some(source), Some(id), Some(hash)) = (text(SOURCE), text(ID), text(HASH)) else {
            return;
        };
        let Ok(hash) = u128::from_str_radix(hash, 16) else {
            return;
        };
        let document = *places.entry(source.to_owned()).or_insert_with(|| {
            self.documents.push(source.to_owned());
            self.documents.len() - 1
        });
        let item = KnownItem {
            event: Some(event.id),
            said: said(&event.text, event.event_time),
            document,
            is_forgotten: event.forgotten || event.erased,
            is_gone: attributes.contains_key(GONE),
        };
        self.ledger.has(id, hash, item);
    }
}
