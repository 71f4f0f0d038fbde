//! Memories, their history and their scopes as JSON, in the shapes that mem0's clients read.

use amem_memory::SCOPE_FIELDS;
use amem_proto::Timestamp;
use amem_proto::answer::micros;
use amem_proto::v1;
use amem_query::time::display;
use serde_json::{Value, json};

use crate::refusal::Result;

const DAY_SECONDS: i64 = 86_400;

/// A time as RFC 3339; null if it is not set.
pub(super) fn time(time: Option<Timestamp>) -> Result<Value> {
    let Some(time) = time else {
        return Ok(Value::Null);
    };
    Ok(display(micros("time", time)?).to_string().into())
}

/// The day on which a memory ends, or the time if it ends within a day.
fn expiration(ends: Option<Timestamp>) -> Result<Value> {
    let whole = time(ends)?;
    let is_day = ends.is_some_and(|at| at.seconds.rem_euclid(DAY_SECONDS) == 0 && at.nanos == 0);
    Ok(match whole.as_str() {
        Some(text) if is_day => text.split('T').next().unwrap_or(text).into(),
        _ => whole,
    })
}

/// The caller's keys; null for none.
pub(super) fn metadata(json: &str) -> Value {
    serde_json::from_str(json).unwrap_or(Value::Null)
}

/// The categories in a caller's keys: amemd gives memories none of its own.
fn categories(metadata: &Value) -> Value {
    let named = metadata["categories"].as_array();
    let texts = named.filter(|list| list.iter().all(Value::is_string));
    texts.cloned().unwrap_or_default().into()
}

/// A memory.
pub(super) fn memory(fact: &v1::Fact) -> Result<Value> {
    let scope = fact.scope.clone().unwrap_or_default();
    let metadata = metadata(&fact.metadata_json);
    Ok(json!({
        "id": fact.id,
        "memory": fact.memory,
        "hash": fact.hash,
        "user_id": scope.user,
        "agent_id": scope.agent,
        "app_id": scope.app,
        "run_id": scope.run,
        "session_id": scope.run,
        "metadata": &metadata,
        "categories": categories(&metadata),
        "created_at": time(fact.created_at)?,
        "updated_at": time(fact.updated_at)?,
        "expiration_date": expiration(fact.expires_at)?,
    }))
}

/// Memories.
pub(super) fn memories(facts: &[v1::Fact]) -> Result<Vec<Value>> {
    facts.iter().map(memory).collect()
}

/// A score or a confidence in the digits that it has, not in those of a longer number.
pub(super) fn short_number(number: f32) -> Value {
    let digits = number.to_string().parse::<f64>();
    digits.unwrap_or(f64::from(number)).into()
}

/// A memory that a search found.
pub(super) fn hit(hit: &v1::FactHit) -> Result<Value> {
    let mut item = memory(&hit.fact.clone().unwrap_or_default())?;
    item["score"] = short_number(hit.score);
    if !hit.via.is_empty() {
        item["via"] = hit.via.clone().into();
    }
    Ok(item)
}

/// The name of an event.
pub(super) fn event_name(event: v1::FactEvent) -> &'static str {
    match event {
        v1::FactEvent::Add => "ADD",
        v1::FactEvent::Update => "UPDATE",
        v1::FactEvent::Delete => "DELETE",
        v1::FactEvent::None => "NONE",
        v1::FactEvent::Feedback => "FEEDBACK",
        v1::FactEvent::Unspecified => "UNSPECIFIED",
    }
}

/// A version of a memory, or its end.
pub(super) fn record(
    record: &v1::FactRecord,
    memory_id: &str,
    user: Option<&str>,
) -> Result<Value> {
    let at = time(record.time)?;
    let said = |source: &v1::FactSource| json!({"role": source.role, "content": source.text});
    let sources = record
        .sources
        .iter()
        .filter(|source| !source.text.is_empty());
    Ok(json!({
        "id": record.id,
        "memory_id": memory_id,
        "event": event_name(record.event()),
        "old_memory": record.old_memory,
        "new_memory": record.new_memory,
        "old_value": record.old_memory,
        "new_value": record.new_memory,
        "input": sources.map(said).collect::<Vec<_>>(),
        "user_id": user,
        "categories": [],
        "timestamp": at,
        "created_at": at,
        "updated_at": at,
        "is_deleted": record.event() == v1::FactEvent::Delete,
    }))
}

/// A user, an agent, an app or a run.
pub(super) fn entity(scope: &v1::FactScopeCount) -> Result<Value> {
    let kind = scope.field.trim_end_matches("_id");
    Ok(json!({
        "id": scope.value,
        "name": scope.value,
        "type": kind,
        "total_memories": scope.memories,
        "created_at": time(scope.created_at)?,
        "updated_at": time(scope.updated_at)?,
        "owner": "local",
        "metadata": null,
    }))
}

/// The scope of one field, such as `user_id`; `None` if there is no such field.
pub(super) fn scope_of(field: &str, value: &str) -> Option<v1::Scope> {
    let mut scope = v1::Scope::default();
    *field_mut(&mut scope, field)? = Some(value.to_owned());
    Some(scope)
}

/// A field of a scope by its name.
pub(super) fn field_mut<'s>(
    scope: &'s mut v1::Scope,
    field: &str,
) -> Option<&'s mut Option<String>> {
    let fields = [
        &mut scope.user,
        &mut scope.agent,
        &mut scope.app,
        &mut scope.run,
    ];
    let mut fields = SCOPE_FIELDS.into_iter().zip(fields);
    fields.find_map(|(name, value)| (name == field).then_some(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_memory_has_every_field_that_clients_read() {
        let fact = v1::Fact {
            id: "i".into(),
            memory: "likes tea".into(),
            metadata_json: "{\"tag\":\"work\"}".into(),
            created_at: Some(Timestamp {
                seconds: 1_700_000_000,
                nanos: 500_000,
            }),
            expires_at: Some(Timestamp {
                seconds: 1_893_456_000,
                nanos: 0,
            }),
            scope: scope_of("run_id", "r"),
            ..v1::Fact::default()
        };
        let item = memory(&fact).unwrap();
        assert_eq!(item["created_at"], "2023-11-14T22:13:20.000500Z");
        assert_eq!(item["expiration_date"], "2030-01-01");
        assert_eq!(
            (&item["run_id"], &item["session_id"]),
            (&json!("r"), &json!("r"))
        );
        assert_eq!(item["metadata"], json!({"tag": "work"}));
        assert_eq!(item["updated_at"], Value::Null);
        assert_eq!(scope_of("name", "x"), None);
        assert_eq!(short_number(0.7).to_string(), "0.7");
        assert_eq!(short_number(1.0).to_string(), "1.0");
    }
}
