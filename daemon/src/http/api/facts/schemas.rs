//! The shapes of requests and answers of fact memory and items as JSON Schemas, for `/openapi.json`: those that
//! handlers read, and those that `shapes` makes.

use serde_json::{Map, Value, json};

use super::docs::SCOPE;
use crate::webhooks::WebhookEvent;

/// The schemas that routes refer to, by name.
pub(in super::super) fn schemas() -> impl Iterator<Item = (&'static str, Value)> {
    let all = [
        common(),
        bodies(),
        answers(),
        entities(),
        events(),
        items(),
        webhooks(),
    ];
    all.into_iter().flatten()
}

fn object(about: &str, properties: Value, required: &[&str]) -> Value {
    let mut schema = json!({"type": "object", "description": about, "properties": properties});
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    schema
}

fn text() -> Value {
    json!({"type": "string"})
}

fn text_or_null() -> Value {
    json!({"type": ["string", "null"]})
}

fn time() -> Value {
    json!({"type": ["string", "null"], "format": "date-time"})
}

fn any() -> Value {
    json!({"type": ["object", "null"], "additionalProperties": true})
}

/// An object whose fields are the caller's own.
fn free() -> Value {
    json!({"type": "object", "additionalProperties": true})
}

fn list_of(name: &str) -> Value {
    json!({"type": "array", "items": {"$ref": format!("#/components/schemas/{name}")}})
}

/// A page of entries.
fn page_of(name: &str, about: &str) -> Value {
    let properties = json!({
        "results": list_of(name),
        "count": {"type": "integer"},
        "next": text_or_null(),
        "previous": text_or_null(),
    });
    object(about, properties, &["results"])
}

/// The fields of a scope, beside others.
fn in_scope(others: Value) -> Value {
    let mut properties = Map::new();
    for (name, kind, about) in SCOPE {
        properties.insert(
            (*name).to_owned(),
            json!({"type": kind, "description": about}),
        );
    }
    properties.extend(others.as_object().cloned().unwrap_or_default());
    properties.into()
}

fn filters() -> Value {
    json!({"type": "object", "additionalProperties": true, "description": "What must hold as well: conditions joined by AND, OR and NOT."})
}

fn id() -> Value {
    json!({"type": "string", "format": "uuid"})
}

/// Of many routes.
fn common() -> Vec<(&'static str, Value)> {
    vec![
        (
            "Error",
            object(
                "A refusal.",
                json!({
                    "error": {"type": "string", "description": "A name of the specification, such as ScopeError."},
                    "detail": {"type": "string", "description": "What failed, and what to do."},
                    "code": {"type": "string", "description": "The reason for machines, the same as by gRPC."},
                    "stored": {"type": "string", "enum": ["nothing", "unknown"], "description": "Of a change: what is stored of it."},
                }),
                &["error", "detail", "code"],
            ),
        ),
        (
            "Memory",
            object(
                "A memory.",
                json!({
                    "id": id(), "memory": text(), "hash": text(),
                    "user_id": text_or_null(), "agent_id": text_or_null(), "app_id": text_or_null(), "run_id": text_or_null(),
                    "session_id": text_or_null(), "metadata": any(),
                    "categories": {"type": "array", "items": {"type": "string"}},
                    "created_at": time(), "updated_at": time(),
                    "expiration_date": text_or_null(),
                    "score": {"type": "number", "description": "0 to 1, of a search."},
                }),
                &["id", "memory"],
            ),
        ),
        (
            "Message",
            object(
                "A message of a conversation.",
                json!({"role": {"type": "string", "enum": ["user", "assistant", "system", "tool"]}, "content": text(), "name": text()}),
                &["role", "content"],
            ),
        ),
        (
            "Done",
            object(
                "A change that was executed.",
                json!({"message": text(), "id": text(), "deleted": {"type": "integer"}, "erased_events": {"type": "integer"}, "event_id": text()}),
                &["message"],
            ),
        ),
        (
            "Settings",
            json!({"type": "object", "additionalProperties": true, "description": "Values by name."}),
        ),
    ]
}

/// Of items.
fn items() -> Vec<(&'static str, Value)> {
    let labels = || json!({"type": "array", "items": {"type": "string"}});
    let place = |others: Value| {
        let mut properties = json!({"namespace": labels(), "key": text()});
        if let (Some(all), Some(others)) = (properties.as_object_mut(), others.as_object()) {
            all.extend(others.clone());
        }
        properties
    };
    let refresh = || json!({"type": "boolean", "description": "Whether times to live begin again; true if it is not set."});
    let count = |about: &str| json!({"type": "integer", "description": about});
    vec![
        (
            "PutItem",
            object(
                "A value to store.",
                place(json!({
                    "value": free(),
                    "ttl": {"type": ["number", "null"], "description": "Minutes until it is gone."},
                    "index": {
                        "description": "What of the value is searched: false for nothing, or paths; all texts if it is not set.",
                        "anyOf": [{"type": "boolean"}, labels(), {"type": "null"}],
                    },
                })),
                &["namespace", "key", "value"],
            ),
        ),
        (
            "DeleteItem",
            object(
                "An item to delete.",
                place(json!({})),
                &["namespace", "key"],
            ),
        ),
        (
            "StoredItem",
            object(
                "An item.",
                place(json!({"value": free(), "created_at": time(), "updated_at": time()})),
                &["namespace", "key", "value"],
            ),
        ),
        (
            "FoundItem",
            object(
                "An item that was found.",
                place(json!({
                    "value": free(), "created_at": time(), "updated_at": time(),
                    "score": {"type": ["number", "null"], "description": "0 to 1, of a search by words."},
                })),
                &["namespace", "key", "value"],
            ),
        ),
        (
            "FoundItems",
            object(
                "Items, the best first.",
                json!({"items": list_of("FoundItem")}),
                &["items"],
            ),
        ),
        (
            "SearchItems",
            object(
                "What to look for.",
                json!({
                    "namespace_prefix": labels(), "query": text_or_null(),
                    "filter": {"type": ["object", "null"], "additionalProperties": true, "description": "Values that fields must have, or conditions such as {\"$gt\": 1}."},
                    "limit": count("Items, at most."), "offset": count("Items to leave out."),
                    "refresh_ttl": refresh(),
                }),
                &[],
            ),
        ),
        (
            "ListNamespaces",
            object(
                "Which namespaces.",
                json!({
                    "prefix": labels(), "suffix": labels(),
                    "max_depth": count("Labels of a namespace, at most: longer ones are cut."),
                    "limit": count("Namespaces, at most."), "offset": count("Namespaces to leave out."),
                }),
                &[],
            ),
        ),
        (
            "Namespaces",
            object(
                "Namespaces, in order.",
                json!({"namespaces": {"type": "array", "items": labels()}}),
                &["namespaces"],
            ),
        ),
    ]
}

/// Of webhooks.
fn webhooks() -> Vec<(&'static str, Value)> {
    let types = || {
        let names = WebhookEvent::ALL.map(WebhookEvent::name);
        json!({"type": "array", "items": {"type": "string", "enum": names}})
    };
    let webhook = || {
        json!({
            "webhook_id": id(), "name": text(), "url": text(),
            "project": {"type": "string", "description": "The brain."},
            "event_types": types(),
            "is_active": {"type": "boolean", "description": "False if it is paused: it is sent nothing until it is changed."},
            "created_at": time(), "updated_at": time(),
            "failures": {"type": "integer", "description": "Posts that failed since the last one that did not."},
            "last_error": text_or_null(), "next_try_at": time(),
        })
    };
    let with = |name: &str, about: Value| {
        let mut properties = webhook();
        properties[name] = about;
        properties
    };
    let required = [
        "webhook_id",
        "name",
        "url",
        "project",
        "event_types",
        "is_active",
    ];
    let url = json!({"type": "string", "description": "https, or http to a host of webhooks.private_hosts."});
    vec![
        (
            "Webhook",
            object("A webhook.", with("message", text()), &required),
        ),
        (
            "CreatedWebhook",
            object(
                "A new webhook.",
                with(
                    "secret",
                    json!({"type": "string", "description": "The key of its signatures, shown this once."}),
                ),
                &[&required[..], &["secret"]].concat(),
            ),
        ),
        (
            "Webhooks",
            json!({"type": "array", "description": "The webhooks of a brain.", "items": {"$ref": "#/components/schemas/Webhook"}}),
        ),
        (
            "CreateWebhook",
            object(
                "Where changes are sent, and which.",
                json!({"url": url.clone(), "name": text(), "event_types": types()}),
                &["url"],
            ),
        ),
        (
            "UpdateWebhook",
            object(
                "What is new of a webhook.",
                json!({
                    "url": url, "name": text(), "event_types": types(),
                    "is_active": {"type": "boolean", "description": "False pauses it; true if it is not set."},
                }),
                &[],
            ),
        ),
    ]
}

/// Of requests.
fn bodies() -> Vec<(&'static str, Value)> {
    vec![
        (
            "AddMemories",
            object(
                "Asks to remember messages.",
                in_scope(json!({
                    "messages": {"description": "A text, or messages.", "oneOf": [text(), list_of("Message")]},
                    "infer": {"type": "boolean", "description": "Whether facts are found in the messages; if false, each is stored as it is."},
                    "metadata": free(), "dry_run": {"type": "boolean"}, "prompt": text(), "filters": filters(),
                    "timestamp": {"type": ["string", "integer"]}, "expiration_date": text(),
                    "assistant_facts": {"type": "boolean"}, "idempotency_key": text(),
                })),
                &["messages"],
            ),
        ),
        (
            "SearchMemories",
            object(
                "A question.",
                in_scope(json!({
                    "query": text(), "filters": filters(), "limit": {"type": "integer"}, "top_k": {"type": "integer"},
                    "threshold": {"type": "number"}, "at": {"type": ["string", "integer"]},
                    "enable_graph": {"type": "boolean", "description": "Whether memories of the entities that the question names are added."},
                })),
                &["query"],
            ),
        ),
        (
            "ListNamedEntities",
            object(
                "Whose memories, and which entities.",
                in_scope(json!({
                    "query": text(), "type": text(), "at": {"type": ["string", "integer"]}, "page": {"type": "integer"},
                    "page_size": {"type": "integer"},
                })),
                &[],
            ),
        ),
        (
            "ListMemories",
            object(
                "Whose memories.",
                in_scope(
                    json!({"filters": filters(), "page": {"type": "integer"}, "page_size": {"type": "integer"}}),
                ),
                &[],
            ),
        ),
        (
            "GetExport",
            object(
                "An export by its id, or by its filters.",
                in_scope(json!({"memory_export_id": text(), "filters": filters()})),
                &[],
            ),
        ),
        (
            "UpdateMemory",
            object(
                "What is new of a memory.",
                in_scope(
                    json!({"text": text(), "metadata": free(), "expected_text": {"type": "string", "description": "The change is refused if the memory has another text."}}),
                ),
                &[],
            ),
        ),
        (
            "MemoryBatch",
            object(
                "Memories by id; of each what is new, if they are changed.",
                json!({"memories": {"type": "array", "items": {
                    "type": "object",
                    "properties": {"memory_id": id(), "text": text(), "metadata": free(), "expected_text": text()},
                    "required": ["memory_id"],
                }}}),
                &["memories"],
            ),
        ),
        (
            "Feedback",
            object(
                "What the caller thinks of a memory.",
                in_scope(json!({
                    "memory_id": id(), "feedback": {"type": ["string", "null"], "enum": ["POSITIVE", "NEGATIVE", "VERY_NEGATIVE", null]},
                    "feedback_reason": text_or_null(),
                })),
                &[],
            ),
        ),
    ]
}

/// Of answers about entities.
fn entities() -> Vec<(&'static str, Value)> {
    vec![
        (
            "NamedEntity",
            object(
                "Who or what memories name.",
                json!({
                    "name": text(), "aliases": {"type": "array", "items": text()},
                    "type": {"type": "string", "enum": ["person", "organization", "concept", "location", "event", "technology", "product"]},
                    "description": text(), "memories": {"type": "integer"}, "first_said": any(), "last_said": any(),
                }),
                &["name", "type"],
            ),
        ),
        (
            "NamedEntityPage",
            object(
                "Entities, those that most memories name first.",
                json!({"results": list_of("NamedEntity"), "next": text_or_null(), "previous": text_or_null()}),
                &["results"],
            ),
        ),
        (
            "NamedRelation",
            object(
                "How two entities are related, and the memory that says so.",
                json!({
                    "source": text(), "relation": text(), "relationship": text(), "target": text(), "memory_id": id(),
                    "memory": text(), "since": any(), "until": any(),
                }),
                &["source", "relation", "target"],
            ),
        ),
        (
            "NamedEntityRelations",
            object(
                "What is known about an entity.",
                json!({
                    "entity": {"$ref": "#/components/schemas/NamedEntity"}, "relations": list_of("NamedRelation"),
                    "memories": list_of("Memory"), "next_page_token": text(),
                }),
                &["entity", "relations"],
            ),
        ),
    ]
}

/// Of answers.
fn answers() -> Vec<(&'static str, Value)> {
    vec![
        (
            "AddedMemory",
            object(
                "What became of a fact.",
                json!({
                    "id": text(), "event": {"type": "string", "enum": ["ADD", "UPDATE", "DELETE", "NONE"]}, "memory": text(),
                    "old_memory": text_or_null(), "new_memory": text_or_null(), "data": any(), "metadata": any(), "why": any(),
                }),
                &["id", "event", "memory"],
            ),
        ),
        (
            "AddedMemories",
            object(
                "What became of the facts. A bare list of them for clients by Token on /v1/memories.",
                json!({
                    "results": list_of("AddedMemory"), "status": text(), "event_id": text_or_null(), "message": text(),
                    "relations": {"type": "array", "items": {}}, "pending": {"type": "array", "items": free()},
                    "rejected": {"type": "array", "items": free()}, "skipped": {"type": "array", "items": free()},
                    "usage": any(),
                }),
                &["results"],
            ),
        ),
        (
            "FoundMemories",
            object(
                "Memories, the best first. A bare list of them for clients by Token on /v1 and /v2.",
                json!({"results": list_of("Memory")}),
                &["results"],
            ),
        ),
        (
            "MemoryPage",
            page_of(
                "Memory",
                "Memories; the counts are there if pages were asked for.",
            ),
        ),
        (
            "MemoryRecord",
            object(
                "A version of a memory, or its end.",
                json!({
                    "id": text(), "memory_id": id(), "event": text(), "old_memory": text_or_null(), "new_memory": text_or_null(),
                    "old_value": text_or_null(), "new_value": text_or_null(), "input": list_of("Message"), "user_id": text_or_null(),
                    "categories": {"type": "array", "items": {"type": "string"}}, "timestamp": time(), "created_at": time(),
                    "updated_at": time(), "is_deleted": {"type": "boolean"},
                }),
                &["id", "event"],
            ),
        ),
        (
            "MemoryHistory",
            json!({"type": "array", "description": "The versions of a memory.", "items": {"$ref": "#/components/schemas/MemoryRecord"}}),
        ),
        (
            "Entity",
            object(
                "A user, an agent, an app or a run.",
                json!({
                    "id": text(), "name": text(), "type": text(), "total_memories": {"type": "integer"},
                    "created_at": time(), "updated_at": time(), "owner": text(), "metadata": any(),
                }),
                &["id", "type"],
            ),
        ),
        (
            "EntityPage",
            page_of("Entity", "Users, agents, apps and runs."),
        ),
        (
            "BatchDone",
            object(
                "What became of each memory: its event, or code and detail.",
                json!({"message": text(), "results": {"type": "array", "items": free()}}),
                &["results"],
            ),
        ),
    ]
}

/// Of adds and deletions.
fn events() -> Vec<(&'static str, Value)> {
    vec![
        (
            "EventMemory",
            object(
                "What became of a fact of an add. Its texts are null once the memory was deleted.",
                json!({
                    "id": text(), "event": {"type": "string", "enum": ["ADD", "UPDATE", "DELETE", "NONE"]},
                    "memory": text_or_null(), "old_memory": text_or_null(), "new_memory": text_or_null(), "data": any(),
                }),
                &["id", "event", "memory"],
            ),
        ),
        (
            "MemoryEvent",
            object(
                "An add or a deletion, while it runs and afterwards.",
                json!({
                    "id": id(), "event_type": {"type": "string", "enum": ["ADD", "DELETE"]},
                    "status": {"type": "string", "enum": ["SUCCEEDED", "PENDING", "FAILED"], "description": "PENDING while it runs, and while facts of it wait for another try."},
                    "results": list_of("EventMemory"), "error": {"type": ["string", "null"], "description": "The reason of a failure, as code has it in a refusal."},
                    "created_at": time(), "started_at": time(), "completed_at": time(), "updated_at": time(),
                    "latency": {"type": ["number", "null"], "description": "Milliseconds; null while it runs."},
                }),
                &["id", "status"],
            ),
        ),
        (
            "MemoryEventPage",
            page_of("MemoryEvent", "Adds and deletions, the newest first."),
        ),
    ]
}
