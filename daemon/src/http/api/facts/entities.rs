//! Users, agents, apps and runs.

use amem_memory::SCOPE_FIELDS;
use amem_proto::answer::Code;
use amem_proto::v1;
use serde_json::json;

use super::super::call::RestCall;
use super::super::output::Output;
use super::delete::counted;
use super::shapes::{entity, scope_of};
use crate::refusal::{Refusal, Result};

/// Those that have memories.
pub(in super::super) async fn list(call: &mut RestCall) -> Result<Output> {
    let scope = call.options.scope()?;
    let page = call.options.count("page")?.unwrap_or(1);
    let size = call.options.count("page_size")?;
    let found = counted(call, scope).await?;
    let users = found
        .iter()
        .filter(|scope| scope.field == "user_id")
        .count();
    let count = found.len();
    let size = size.map_or(count.max(1), |size| size as usize);
    let start = (page as usize - 1).saturating_mul(size);
    let results = found.iter().skip(start).take(size).map(entity);
    let has_next = start.saturating_add(size) < count;
    Ok(json!({
        "count": count,
        "next": has_next.then(|| call.page_url(page + 1)),
        "previous": (page > 1).then(|| call.page_url(page - 1)),
        "results": results.collect::<Result<Vec<_>>>()?,
        "total_users": users,
    })
    .into())
}

/// Erases everything of one of them.
pub(in super::super) async fn delete(call: &mut RestCall) -> Result<Output> {
    let (kind, name) = (call.param(0)?, call.param(1)?);
    let scope = scope_of(&format!("{kind}_id"), name).ok_or_else(|| {
        let known = SCOPE_FIELDS
            .map(|field| field.trim_end_matches("_id"))
            .join(", ");
        Refusal::invalid("type", format!("{kind:?} is none: {known} are"))
    })?;
    let request = v1::ResetFactsRequest {
        brain: call.brain.clone(),
        scope: Some(scope),
        everything: false,
        options: Some(call.repeatable()),
    };
    let events = call.fact(request).await?.events;
    Ok(json!({"message": "Entity deleted successfully!", "erased_events": events}).into())
}

/// The specification's graph of entities, which fact memory does not have.
pub(in super::super) async fn graph(_: &mut RestCall) -> Result<Output> {
    let message = "amemd has no graph of entities: search memories instead, or follow edges of events by gRPC";
    Err(Refusal::new(Code::Unimplemented, "NO_GRAPH", message))
}
