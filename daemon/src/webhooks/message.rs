//! What a webhook is sent next, and its message in mem0's shape.

use amem_facts::{FactChange, FactChangeKind, Result};
use amem_format::NodeId;
use amem_format::view::View;
use amem_query::time::display;
use hyper::header::{CONTENT_TYPE, USER_AGENT};
use hyper::http::Uri;
use hyper::{Request, http};
use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::webhook::{Webhook, WebhookEvent, WebhookPosition};
use crate::limits::WEBHOOK_EVENTS_READ;

/// Identifies a change to a receiver: the same in each try.
const DELIVERY: &str = "x-amem-delivery";
/// The webhook.
const WEBHOOK: &str = "x-amem-webhook";
/// What the message is, such as `memory_add`.
const EVENT: &str = "x-amem-event";

/// A message for a receiver.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Message {
    /// The same for each try.
    pub(super) delivery: Uuid,
    pub(super) event: WebhookEvent,
    body: Value,
}

/// The next step of a webhook.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum NextStep {
    /// Send this, then go on from the position.
    Send(Box<Message>, WebhookPosition),
    /// Send that the first erased memory is gone, then take it off the list.
    SendErased(Box<Message>),
    /// The first erased memory is still there: its erase failed.
    Drop,
    /// An erase is in progress.
    Wait,
    /// There is nothing to send before this position; true if that is the end of the brain.
    Skip(WebhookPosition, bool),
    /// Another brain has the name now: go on from its end.
    Replaced(WebhookPosition),
}

fn event_name(kind: FactChangeKind) -> &'static str {
    match kind {
        FactChangeKind::Add => "ADD",
        FactChangeKind::Update => "UPDATE",
        FactChangeKind::Delete => "DELETE",
    }
}

impl Message {
    fn new(
        webhook: &Webhook,
        key: &str,
        kind: FactChangeKind,
        id: Uuid,
        memory: Option<String>,
    ) -> Self {
        let delivery = Uuid::new_v5(&webhook.id, key.as_bytes());
        let event = WebhookEvent::of(kind);
        let mut data = Map::new();
        if let Some(memory) = memory {
            data.insert("memory".into(), memory.into());
        }
        Self {
            delivery,
            event,
            body: json!({
                "event_details": {"id": id, "data": data, "event": event_name(kind)},
                "event_type": event.name(),
                "delivery_id": delivery,
                "webhook_id": webhook.id,
                "project": webhook.brain,
            }),
        }
    }

    fn of_change(webhook: &Webhook, position: WebhookPosition, change: FactChange) -> Self {
        let WebhookPosition { instance, event } = position;
        let FactChange {
            kind,
            id,
            scope,
            at,
            memory,
        } = change;
        let mut message = Self::new(webhook, &format!("{instance}/{event}"), kind, id, memory);
        for (field, value) in scope.fields() {
            if let Some(value) = value {
                message.body[field] = json!(value);
            }
        }
        message.body["created_at"] = json!(display(at).to_string());
        message
    }

    /// As a request to a URL.
    pub(super) fn request(&self, webhook: &Webhook, uri: Uri) -> http::Result<Request<String>> {
        Request::post(uri)
            .header(CONTENT_TYPE, "application/json")
            .header(USER_AGENT, concat!("amemd/", env!("CARGO_PKG_VERSION")))
            .header(WEBHOOK, webhook.id.to_string())
            .header(DELIVERY, self.delivery.to_string())
            .header(EVENT, self.event.name())
            .body(self.body.to_string())
    }
}

/// The next step of a webhook in a view; it reads at most `WEBHOOK_EVENTS_READ` events. True if an erase is in
/// progress.
pub(super) fn next_step(view: &View, webhook: &Webhook, is_erasing: bool) -> Result<NextStep> {
    let instance = view.instance();
    let at = |event| WebhookPosition { instance, event };
    let from = match webhook.progress.position {
        Some(position) if position.instance != instance => {
            return Ok(NextStep::Replaced(at(view.nodes())));
        }
        Some(position) => position.event,
        None => 0,
    };
    let erased = webhook.progress.erased.front();
    let end = view.nodes().min(from.saturating_add(WEBHOOK_EVENTS_READ));
    for event in from..end {
        if erased.is_some_and(|erased| erased.event <= event) {
            break;
        }
        let change = FactChange::at(view, NodeId(event))?;
        let sent = change.filter(|change| webhook.events.contains(&WebhookEvent::of(change.kind)));
        if let Some(change) = sent {
            let message = Message::of_change(webhook, at(event), change);
            return Ok(NextStep::Send(Box::new(message), at(event + 1)));
        }
    }
    let Some(erased) = erased.filter(|erased| erased.event <= end) else {
        return Ok(NextStep::Skip(at(end), end == view.nodes()));
    };
    if !FactChange::is_erased(view, erased.id)? {
        return Ok(if is_erasing {
            NextStep::Wait
        } else {
            NextStep::Drop
        });
    }
    let key = format!("{instance}/{}/{}", erased.event, erased.id);
    let message = Message::new(webhook, &key, FactChangeKind::Delete, erased.id, None);
    Ok(NextStep::SendErased(Box::new(message)))
}
