//! What a brain has of sources: the events of earlier imports.

use std::collections::HashMap;

use amem_proto::v1;
use amem_sources::SourceLedger;
use serde_json::{Map, Value, json};

use crate::source_event::{GONE, HASH, ID, KIND, SOURCE, said};
use crate::target::ImportTarget;

/// The event of an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct KnownItem {
    /// None if it is being written.
    pub(crate) event: Option<u64>,
    pub(crate) said: u64,
    /// The place of its document in [`KnownSources::documents`].
    pub(crate) document: usize,
    pub(crate) is_forgotten: bool,
    /// An earlier import forgot it.
    pub(crate) is_gone: bool,
}

#[derive(Debug, Default)]
pub(crate) struct KnownSources {
    pub(crate) ledger: SourceLedger<KnownItem>,
    /// As `source` of their events has them.
    pub(crate) documents: Vec<String>,
}

impl KnownSources {
    /// Reads the events of the kinds once, the oldest first: of an item that was replaced the newest one counts.
    pub(crate) fn read<T: ImportTarget>(
        target: &mut T,
        kinds: &[&str],
    ) -> Result<Self, T::Failure> {
        let mut known = Self::default();
        let mut places: HashMap<String, usize> = HashMap::new();
        let filter = json!({KIND: {"in": kinds}}).to_string();
        target.each_event(filter, &mut |event| known.add(event, &mut places))?;
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
