//! The calls on the entity graph of fact memory.

use std::sync::Arc;

use amem_facts::entities::{Entity, EntityChange, EntityFact, EntityRequest, KnownRelation};
use amem_facts::{EntityStatementRequest, FactMoment, Facts};
use amem_memory::graph::EntityKind;
use amem_proto::answer::{as_of, moment, timestamp};
use amem_proto::v1;

use super::fact_memory::now;
use super::fact_messages::{self as convert, entity_kind, scope, time};
use super::facts::{cursor, erase, fitting, options};
use super::gateway::{Gateway, Handle};
use crate::auth::Caller;
use crate::refusal::{Refusal, Result};

/// The kind that a request names.
fn kind_of(name: &str) -> Result<Option<EntityKind>> {
    if name.is_empty() {
        return Ok(None);
    }
    EntityKind::of_name(name).map(Some).ok_or_else(|| {
        let known = EntityKind::ALL.map(EntityKind::name).join(", ");
        Refusal::invalid("kind", format!("unknown kind {name:?}: use {known}"))
    })
}

fn entity(entity: Entity) -> v1::KnownEntity {
    v1::KnownEntity {
        kind: entity_kind(entity.kind),
        name: entity.name,
        aliases: entity.aliases,
        description: entity.description,
        facts: entity.facts,
        first_said: entity.first_said.map(timestamp),
        last_said: entity.last_said.map(timestamp),
    }
}

fn relation(known: KnownRelation) -> v1::KnownRelation {
    v1::KnownRelation {
        relation: Some(convert::relation(known.relation)),
        fact_id: known.memory.to_string(),
        memory: known.text,
        since: Some(timestamp(known.since)),
        until: known.until.map(timestamp),
    }
}

fn fact(fact: EntityFact) -> v1::EntityFact {
    v1::EntityFact {
        fact: Some(convert::fact(fact.item)),
        sources: fact.turns.into_iter().map(convert::source).collect(),
    }
}

fn change(change: EntityChange) -> v1::EntityChange {
    v1::EntityChange {
        time: Some(timestamp(change.at)),
        name: change.name,
        aliases: change.aliases,
        kind: entity_kind(change.kind),
        description: change.description,
    }
}

fn token(next: Option<u64>) -> String {
    next.map_or(String::new(), |next| next.to_string())
}

impl Handle for v1::ListEntitiesRequest {
    type Response = v1::ListEntitiesResponse;

    async fn handle(
        request: Self::Valid,
        gateway: &Arc<Gateway>,
        caller: &Caller,
    ) -> Result<Self::Response> {
        let asked = EntityRequest {
            scope: scope(request.scope),
            at: time("at", request.at)?,
            now: now(),
            limit: request.page_size as usize,
            before: cursor(&request.page_token)?,
        };
        let (query, kind) = (request.query, kind_of(&request.kind)?);
        let work =
            move |facts: &Facts<'_>, at: &FactMoment| facts.entities(&asked, (&query, kind), at);
        let as_of = as_of(request.as_of)?;
        let (moment, (entities, next)) = gateway
            .read_facts(caller, &request.brain, as_of, work)
            .await?;
        Ok(v1::ListEntitiesResponse {
            moment: Some(moment),
            entities: entities.into_iter().map(entity).collect(),
            next_page_token: token(next),
        })
    }
}

impl Handle for v1::GetEntityRequest {
    type Response = v1::GetEntityResponse;

    async fn handle(
        request: Self::Valid,
        gateway: &Arc<Gateway>,
        caller: &Caller,
    ) -> Result<Self::Response> {
        let asked = EntityRequest {
            scope: scope(request.scope),
            at: time("at", request.at)?,
            now: now(),
            limit: request.page_size as usize,
            before: cursor(&request.page_token)?,
        };
        let name = request.name;
        let (scope, named) = (asked.scope.clone(), name.clone());
        let is_light = move |facts: &Facts<'_>| facts.is_light_entity(&scope, &named);
        let work = move |facts: &Facts<'_>, at: &FactMoment| facts.entity(&asked, &name, at);
        let as_of = as_of(request.as_of)?;
        let (moment, page) = gateway
            .read_light(caller, (&request.brain, as_of), is_light, work)
            .await?;
        Ok(v1::GetEntityResponse {
            moment: Some(moment),
            entity: Some(entity(page.entity)),
            relations: page.relations.into_iter().map(relation).collect(),
            facts: page.facts.into_iter().map(fact).collect(),
            changes: page.changes.into_iter().map(change).collect(),
            next_page_token: token(page.next),
        })
    }
}

impl Handle for v1::ListRelationsRequest {
    type Response = v1::ListRelationsResponse;

    async fn handle(
        request: Self::Valid,
        gateway: &Arc<Gateway>,
        caller: &Caller,
    ) -> Result<Self::Response> {
        let asked = EntityRequest {
            scope: scope(request.scope),
            at: time("at", request.at)?,
            now: now(),
            limit: request.page_size as usize,
            before: cursor(&request.page_token)?,
        };
        let (name, only) = (request.name, request.relation);
        let work =
            move |facts: &Facts<'_>, at: &FactMoment| facts.relations(&asked, (&name, &only), at);
        let as_of = as_of(request.as_of)?;
        let (moment, (relations, next)) = gateway
            .read_facts(caller, &request.brain, as_of, work)
            .await?;
        Ok(v1::ListRelationsResponse {
            moment: Some(moment),
            relations: relations.into_iter().map(relation).collect(),
            next_page_token: token(next),
        })
    }
}

impl Handle for v1::SetEntityRequest {
    type Response = v1::SetEntityResponse;

    async fn handle(
        request: Self::Valid,
        gateway: &Arc<Gateway>,
        caller: &Caller,
    ) -> Result<Self::Response> {
        let (agent, _) = options(request.options)?;
        let statement = EntityStatementRequest {
            name: request.name,
            new_name: request.new_name,
            kind: kind_of(&request.kind)?,
            description: request.description,
            aliases: request.aliases,
            removed_aliases: request.removed_aliases,
        };
        let now = now();
        let asked = EntityRequest {
            scope: scope(request.scope),
            now,
            limit: 1,
            ..EntityRequest::default()
        };
        let work = move |facts: &Facts<'_>| {
            facts.state_entity(&asked.scope, &statement, now)?;
            let name = statement.new_name.as_deref().unwrap_or(&statement.name);
            Ok(facts.entity(&asked, name, &facts.moment(None)?)?.entity)
        };
        let (moment, known) = gateway
            .change_facts(caller, &request.brain, &agent, work)
            .await?;
        Ok(v1::SetEntityResponse {
            moment: Some(moment),
            entity: Some(entity(known)),
        })
    }
}

impl Handle for v1::EraseEntityRequest {
    type Response = v1::EraseEntityResponse;

    async fn handle(
        request: Self::Valid,
        gateway: &Arc<Gateway>,
        caller: &Caller,
    ) -> Result<Self::Response> {
        let (agent, _) = options(request.options)?;
        let (scope, name) = (scope(request.scope), request.name);
        let brain = gateway.fact_brain(caller, &request.brain).await?;
        let work = move |facts: &Facts<'_>| facts.events_of_entity(&scope, &name, now());
        let found = gateway.with_facts(caller, &brain, &agent, work).await?;
        let erased = found.memories.iter().map(|erased| v1::ErasedFact {
            id: erased.id.to_string(),
            memory: erased.text.clone(),
            about: erased.about.clone(),
        });
        let mut response = v1::EraseEntityResponse {
            facts: fitting(erased),
            fact_count: found.memories.len() as u64,
            events: found.events.len() as u64,
            mention_count: found.mention_count,
            mentions: found
                .mentions
                .into_iter()
                .map(|(event, text)| v1::EntityNaming {
                    event_id: event.0,
                    text,
                })
                .collect(),
            names: found.names,
            ..v1::EraseEntityResponse::default()
        };
        if !request.dry_run {
            response.erase =
                Some(erase(gateway, caller, &brain.name, &found.events, &agent).await?);
            let forget = move |facts: &Facts<'_>| {
                facts.erased();
                Ok(())
            };
            gateway.with_facts(caller, &brain, &agent, forget).await?;
        }
        response.moment = Some(moment(&brain.view()));
        Ok(response)
    }
}
