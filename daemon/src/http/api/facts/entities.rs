//! Users, agents, apps and runs; and the entities that memories name.

use amem_memory::SCOPE_FIELDS;
use amem_proto::v1;
use serde_json::{Value, json};

use super::super::call::RestCall;
use super::super::output::Output;
use super::delete::counted;
use super::shapes::{entity, memory, scope_of, time};
use crate::refusal::{Refusal, Result};

/// Entities of a page, unless the request says how many.
const PAGE: u32 = 100;

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
        Refusal::invalid("type", format!("unknown type {kind:?}: use {known}"))
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

/// Who and what the memories of a scope name.
pub(in super::super) async fn named(call: &mut RestCall) -> Result<Output> {
    let page = call.options.count("page")?.unwrap_or(1);
    let size = call.options.count("page_size")?.unwrap_or(PAGE);
    let skipped = u64::from(page - 1) * u64::from(size);
    let request = v1::ListEntitiesRequest {
        brain: call.brain.clone(),
        scope: call.options.scope()?,
        query: call.options.text_of(&["query", "q"])?.unwrap_or_default(),
        kind: call.options.text_of(&["type", "kind"])?.unwrap_or_default(),
        page_size: size,
        page_token: match skipped {
            0 => String::new(),
            skipped => skipped.to_string(),
        },
        at: call.options.time("at")?,
        ..v1::ListEntitiesRequest::default()
    };
    let answer = call.fact(request).await?;
    let results = answer.entities.iter().map(named_entity);
    let has_next = !answer.next_page_token.is_empty();
    Ok(json!({
        "next": has_next.then(|| call.page_url(page + 1)),
        "previous": (page > 1).then(|| call.page_url(page - 1)),
        "results": results.collect::<Result<Vec<_>>>()?,
    })
    .into())
}

/// An entity, its relations, and the memories that name it.
pub(in super::super) async fn relations(call: &mut RestCall) -> Result<Output> {
    let request = v1::GetEntityRequest {
        brain: call.brain.clone(),
        scope: call.options.scope()?,
        name: call.param(0)?.to_owned(),
        at: call.options.time("at")?,
        page_size: call.options.count_of(&["limit", "page_size"])?.unwrap_or(0),
        page_token: call.options.text("page_token")?.unwrap_or_default(),
        ..v1::GetEntityRequest::default()
    };
    let answer = call.fact(request).await?;
    let entity = answer.entity.unwrap_or_default();
    let relations = answer.relations.iter().map(relation);
    let facts = answer.facts.iter().filter_map(|fact| fact.fact.as_ref());
    Ok(json!({
        "entity": named_entity(&entity)?,
        "relations": relations.collect::<Result<Vec<_>>>()?,
        "memories": facts.map(memory).collect::<Result<Vec<_>>>()?,
        "next_page_token": answer.next_page_token,
    })
    .into())
}

fn named_entity(entity: &v1::KnownEntity) -> Result<Value> {
    Ok(json!({
        "name": entity.name,
        "aliases": entity.aliases,
        "type": match entity.kind.as_str() {
            "" => "concept",
            kind => kind,
        },
        "description": entity.description,
        "memories": entity.facts,
        "first_said": time(entity.first_said)?,
        "last_said": time(entity.last_said)?,
    }))
}

fn relation(known: &v1::KnownRelation) -> Result<Value> {
    let relation = known.relation.clone().unwrap_or_default();
    Ok(json!({
        "source": relation.source,
        "relation": relation.relation,
        "relationship": relation.relation,
        "target": relation.target,
        "memory_id": known.fact_id,
        "memory": known.memory,
        "since": time(known.since)?,
        "until": time(known.until)?,
    }))
}
