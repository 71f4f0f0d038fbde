//! The items of a kind that a brain has already.

use std::collections::HashMap;

use amem_client::v1;
use serde_json::{Value, json};

use super::item_event::{HASH, ID, KIND};
use crate::brain::opened::BrainHandle;
use crate::failure::Failure;
use crate::output::context::CommandContext;

/// Events of one answer.
const PAGE_EVENTS: u32 = 2_000;

/// An item that is an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct KnownItem {
    /// The event of its newest version.
    pub(super) event: u64,
    pub(super) hash: u128,
    /// True if this import has met it.
    pub(super) is_seen: bool,
    /// True if this import wrote it.
    pub(super) is_new: bool,
}

/// By the ids of the items.
pub(super) type KnownItems = HashMap<String, KnownItem>;

/// Reads the items of a kind, by the name that it has in ids. Hidden events are none: what was forgotten may come
/// again.
pub(super) fn known_items(
    cx: &mut CommandContext,
    opened: &BrainHandle,
    kind: &str,
) -> Result<KnownItems, Failure> {
    let mut known = KnownItems::new();
    let mut request = v1::PatternRequest {
        selection: Some(v1::Selection {
            filter_json: json!({ KIND: kind }).to_string(),
            include_compressed: true,
            ..v1::Selection::default()
        }),
        order: v1::Order::Oldest.into(),
        page_size: PAGE_EVENTS,
        touch: Some(false),
        ..v1::PatternRequest::default()
    };
    loop {
        let page = opened.ask(cx, request.clone())?;
        for event in page.events {
            take(&mut known, &event);
        }
        if page.next_page_token.is_empty() {
            return Ok(known);
        }
        request.page_token = page.next_page_token;
    }
}

/// A later event is a newer version.
fn take(known: &mut KnownItems, event: &v1::Event) {
    let attributes: Value = serde_json::from_str(&event.attributes_json).unwrap_or_default();
    let text = |name: &str| attributes.get(name).and_then(Value::as_str);
    let (Some(id), Some(hash)) = (text(ID), text(HASH)) else {
        return;
    };
    let Ok(hash) = u128::from_str_radix(hash, 16) else {
        return;
    };
    if event.erased || event.forgotten {
        return;
    }
    let item = KnownItem {
        event: event.id,
        hash,
        is_seen: false,
        is_new: false,
    };
    known.insert(id.to_owned(), item);
}
