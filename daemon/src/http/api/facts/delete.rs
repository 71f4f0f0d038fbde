//! Deleting the memories of scopes, and erasing everything.

use amem_memory::SCOPE_FIELDS;
use amem_proto::v1;
use serde_json::json;

use super::super::call::RestCall;
use super::super::output::Output;
use super::super::recent::RecentEvent;
use super::shapes::field_mut;
use crate::refusal::Result;

/// The value of a field that means every value of it.
const EVERY: &str = "*";

/// Ends the memories of a scope; of every scope that a field with `*` means, for administrators.
pub(in super::super) async fn delete_all(call: &mut RestCall) -> Result<Output> {
    let scope = call.options.scope()?;
    let filters = call.options.filters()?;
    let (event, mut deleted) = (RecentEvent::begin("DELETE"), 0);
    for scope in scopes(call, scope).await? {
        let request = v1::DeleteFactsRequest {
            brain: call.brain.clone(),
            scope,
            filter_json: filters.clone(),
            options: Some(call.once()),
        };
        deleted += call.fact(request).await?.deleted;
    }
    let event = event.end("SUCCEEDED");
    let answer = json!({
        "message": "Memories deleted successfully!",
        "deleted": deleted,
        "event_id": event.id,
    });
    call.site
        .events
        .put(&call.caller.principal, &call.brain, event);
    Ok(answer.into())
}

/// The scopes that a scope with `*` means; the scope itself without one.
async fn scopes(call: &RestCall, scope: Option<v1::Scope>) -> Result<Vec<Option<v1::Scope>>> {
    let mut rest = scope.clone().unwrap_or_default();
    let mut every = Vec::new();
    for field in SCOPE_FIELDS {
        let value = field_mut(&mut rest, field);
        if let Some(value) = value.filter(|value| value.as_deref() == Some(EVERY)) {
            *value = None;
            every.push(field);
        }
    }
    if every.is_empty() {
        return Ok(vec![scope]);
    }
    call.check_admin()?;
    let mut scopes = Vec::new();
    for found in counted(call, (rest != v1::Scope::default()).then(|| rest.clone())).await? {
        if !every.contains(&found.field.as_str()) {
            continue;
        }
        let mut scope = rest.clone();
        if let Some(value) = field_mut(&mut scope, &found.field) {
            *value = Some(found.value);
            scopes.push(Some(scope));
        }
    }
    Ok(scopes)
}

/// Every user, agent, app and run of a scope.
pub(super) async fn counted(
    call: &RestCall,
    scope: Option<v1::Scope>,
) -> Result<Vec<v1::FactScopeCount>> {
    let mut request = v1::ListFactScopesRequest {
        brain: call.brain.clone(),
        scope,
        ..v1::ListFactScopesRequest::default()
    };
    let mut scopes = Vec::new();
    loop {
        let answer = call.fact(request.clone()).await?;
        scopes.extend(answer.scopes);
        if answer.next_page_token.is_empty() {
            return Ok(scopes);
        }
        request.page_token = answer.next_page_token;
    }
}

/// Erases everything of a scope; without a scope everything of fact memory in the brain, for administrators.
pub(in super::super) async fn reset(call: &mut RestCall) -> Result<Output> {
    let scope = call.options.scope()?;
    let request = v1::ResetFactsRequest {
        brain: call.brain.clone(),
        everything: scope.is_none() && call.caller.scope.is_none(),
        scope,
        options: Some(call.repeatable()),
    };
    let events = call.fact(request).await?.events;
    Ok(json!({"message": "All memories reset", "erased_events": events}).into())
}
