//! Adds and deletions, while they run and afterwards. The memories of an add are read when they are asked for, so that
//! what was deleted since is not shown.

use amem_proto::answer::{Code, timestamp};
use amem_proto::v1;
use serde_json::{Value, json};

use super::super::call::RestCall;
use super::super::output::Output;
use super::super::recent::RecentEvent;
use super::shapes::time;
use crate::refusal::{Refusal, Result};

/// Events of a page, unless the request says how many.
const PAGE: u32 = 50;

/// The caller's own, the newest first.
pub(in super::super) async fn list(call: &mut RestCall) -> Result<Output> {
    let page = call.options.count("page")?.unwrap_or(1);
    let size = call.options.count("page_size")?.unwrap_or(PAGE);
    let events = call.site.events.of(&call.caller.principal, &call.brain);
    let start = (page as usize - 1).saturating_mul(size as usize);
    let mut results = Vec::new();
    for event in events.iter().skip(start).take(size as usize) {
        results.push(object(call, event).await?);
    }
    let has_next = start + results.len() < events.len();
    Ok(json!({
        "count": events.len(),
        "next": has_next.then(|| call.page_url(page + 1)),
        "previous": (page > 1).then(|| call.page_url(page - 1)),
        "results": results,
    })
    .into())
}

pub(in super::super) async fn get(call: &mut RestCall) -> Result<Output> {
    let id = call.param(0)?;
    uuid::Uuid::try_parse(id)
        .map_err(|e| Refusal::invalid("id", format!("{id:?} is not a UUID: {e}")))?;
    let events = call.site.events.of(&call.caller.principal, &call.brain);
    let event = events.iter().find(|event| event.id == id);
    let event = event.ok_or_else(|| {
        let message = format!(
            "there is no event {id}: amemd lists the newest adds and deletions since its start"
        );
        Refusal::new(Code::NotFound, "UNKNOWN_EVENT", message)
    })?;
    Ok(object(call, event).await?.into())
}

async fn object(call: &RestCall, event: &RecentEvent) -> Result<Value> {
    let mut results = Vec::new();
    for (id, name) in &event.results {
        let request = v1::GetFactRequest {
            brain: call.brain.clone(),
            id: id.clone(),
            ..v1::GetFactRequest::default()
        };
        let memory = match call.fact(request).await {
            Ok(answer) => answer.fact.map(|fact| fact.memory),
            Err(refusal) if refusal.code == Code::NotFound => None,
            Err(refusal) => return Err(refusal),
        };
        results.push(json!({
            "id": id,
            "event": name,
            "memory": memory,
            "new_memory": memory,
            "old_memory": null,
            "data": {"memory": memory},
        }));
    }
    let (began, ended) = (
        time(Some(timestamp(event.began)))?,
        time(event.ended.map(timestamp))?,
    );
    let micros = event.ended.map(|ended| ended.0 - event.began.0);
    Ok(json!({
        "id": event.id,
        "event_type": event.kind,
        "status": event.status,
        "results": results,
        "error": event.failed,
        "created_at": began,
        "started_at": began,
        "completed_at": ended,
        "updated_at": if ended.is_null() { began } else { ended },
        "latency": micros.map(|micros| micros as f64 / 1000.0),
    }))
}
