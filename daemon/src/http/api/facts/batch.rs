//! Changes of many memories by id.

use amem_memory::limits::BATCH_CHANGES_MAX;
use amem_proto::answer::Code;
use amem_proto::v1;
use serde_json::{Map, Value, json};

use super::super::call::RestCall;
use super::super::output::Output;
use super::shapes::event_name;
use crate::refusal::{Refusal, Result};

pub(in super::super) async fn update(call: &mut RestCall) -> Result<Output> {
    let scope = call.options.scope()?;
    let memories = memories(call)?;
    let one = |(at, memory): (usize, Value)| -> Result<v1::FactUpdate> {
        let mut fields = object(at, memory)?;
        let metadata = fields
            .remove("metadata")
            .filter(|metadata| !metadata.is_null());
        Ok(v1::FactUpdate {
            id: id(at, &mut fields)?,
            text: text(at, &mut fields, "text")?,
            metadata_json: metadata.map(|metadata| metadata.to_string()),
            expected_text: text(at, &mut fields, "expected_text")?,
        })
    };
    let updates = memories
        .into_iter()
        .enumerate()
        .map(one)
        .collect::<Result<_>>()?;
    let request = v1::BatchUpdateFactsRequest {
        brain: call.brain.clone(),
        scope,
        updates,
        options: Some(call.repeatable()),
    };
    let answer = call.fact(request).await?;
    answered("updated", &answer.changes)
}

pub(in super::super) async fn delete(call: &mut RestCall) -> Result<Output> {
    let scope = call.options.scope()?;
    let memories = memories(call)?;
    let one = |(at, memory): (usize, Value)| match memory {
        Value::String(id) => Ok(id),
        memory => id(at, &mut object(at, memory)?),
    };
    let ids = memories
        .into_iter()
        .enumerate()
        .map(one)
        .collect::<Result<_>>()?;
    let request = v1::BatchDeleteFactsRequest {
        brain: call.brain.clone(),
        scope,
        ids,
        options: Some(call.repeatable()),
    };
    let answer = call.fact(request).await?;
    answered("deleted", &answer.changes)
}

/// `memories` of the body: a list of objects with `memory_id`.
fn memories(call: &mut RestCall) -> Result<Vec<Value>> {
    match call.options.any("memories") {
        Some(Value::Array(memories)) if !memories.is_empty() => Ok(memories),
        _ => {
            let why =
                format!("it must be a list of 1 to {BATCH_CHANGES_MAX} objects with memory_id");
            Err(Refusal::invalid("memories", why))
        }
    }
}

fn place(at: usize, name: &str) -> String {
    format!("memories[{at}].{name}")
}

fn object(at: usize, memory: Value) -> Result<Map<String, Value>> {
    match memory {
        Value::Object(fields) => Ok(fields),
        _ => Err(Refusal::invalid(
            &place(at, "memory_id"),
            "it must be an object",
        )),
    }
}

fn text(at: usize, fields: &mut Map<String, Value>, name: &str) -> Result<Option<String>> {
    match fields.remove(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(Refusal::invalid(&place(at, name), "it must be a text")),
    }
}

fn id(at: usize, fields: &mut Map<String, Value>) -> Result<String> {
    let found = match text(at, fields, "memory_id")? {
        Some(id) => Some(id),
        None => text(at, fields, "memoryId")?,
    };
    found.ok_or_else(|| Refusal::invalid(&place(at, "memory_id"), "it is missing"))
}

/// Answers what became of each; if none could be changed, with the reason of the first.
fn answered(done: &str, changes: &[v1::FactChange]) -> Result<Output> {
    let results: Vec<_> = changes.iter().map(change).collect();
    let failed: Vec<_> = changes
        .iter()
        .filter(|change| !change.reason.is_empty())
        .collect();
    let (all, good) = (changes.len(), changes.len() - failed.len());
    if let (Some(first), 0) = (failed.first(), good) {
        let code = match first.reason.as_str() {
            "UNKNOWN_MEMORY" | "DELETED" => Code::NotFound,
            "CONDITION" => Code::Aborted,
            _ => Code::InvalidArgument,
        };
        let message = format!(
            "none of {all} memories was {done}; the first: {}",
            first.message
        );
        let mut refusal = Refusal::new(code, "BATCH", message);
        refusal.0.reason = first.reason.clone().into();
        return Err(refusal);
    }
    let message = match failed.is_empty() {
        true => format!("Successfully {done} {good} memories"),
        false => {
            format!("{done} {good} of {all} memories; results has the reason of each other one")
        }
    };
    Ok(json!({"message": message, "results": results}).into())
}

fn change(change: &v1::FactChange) -> Value {
    match change.reason.is_empty() {
        true => json!({"memory_id": change.id, "event": event_name(change.event())}),
        false => json!({"memory_id": change.id, "code": change.reason, "detail": change.message}),
    }
}
