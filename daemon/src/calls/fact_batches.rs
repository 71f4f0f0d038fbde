//! Changes of many memories by id: one commit of those that can be made, and the reason of each that cannot.

use std::sync::Arc;

use amem_facts::Facts;
use amem_memory::add::SecretPolicy;
use amem_memory::change::{ChangeOutcome, UpdateRequest};
use amem_memory::limits::BATCH_CHANGES_MAX;
use amem_proto::v1;
use uuid::Uuid;

use super::fact_memory::now;
use super::fact_messages::{self as convert, id, metadata, scope};
use super::facts::options;
use super::gateway::{Gateway, Handle};
use crate::auth::Caller;
use crate::refusal::{Refusal, Result};

/// Changes of a request: those that can be tried, and the refusals of the others.
struct BatchItems<T> {
    /// What the request calls each memory, and why it is not tried.
    named: Vec<(String, Option<Refusal>)>,
    tried: Vec<T>,
}

impl<T> BatchItems<T> {
    fn of<I>(
        what: &'static str,
        items: Vec<I>,
        name: impl Fn(&I) -> String,
        parse: impl Fn(I) -> Result<T>,
    ) -> Result<Self> {
        if items.len() > BATCH_CHANGES_MAX {
            let (found, limit) = (items.len() as u64, BATCH_CHANGES_MAX as u64);
            return Err(amem_memory::Error::TooLarge { what, found, limit }.into());
        }
        let (mut named, mut tried) = (Vec::new(), Vec::new());
        for item in items {
            let name = name(&item);
            let refused = match parse(item) {
                Ok(item) => {
                    tried.push(item);
                    None
                }
                Err(refusal) => Some(refusal),
            };
            named.push((name, refused));
        }
        Ok(Self { named, tried })
    }
}

/// The answers of all changes, in order: outcomes are of those that were tried.
fn answers(
    named: Vec<(String, Option<Refusal>)>,
    outcomes: Vec<ChangeOutcome>,
) -> Vec<v1::FactChange> {
    let mut outcomes = outcomes.into_iter();
    let answer = |(name, refused): (String, Option<Refusal>)| {
        let done = match refused {
            Some(refusal) => Err(refusal),
            None => match outcomes.next() {
                Some(outcome) => outcome.done.map_err(Refusal::from),
                None => Err(Refusal::internal("a change of the batch has no outcome")),
            },
        };
        convert::change(name, done)
    };
    named.into_iter().map(answer).collect()
}

fn update(update: v1::FactUpdate, secrets: SecretPolicy) -> Result<UpdateRequest> {
    let metadata = update.metadata_json.as_deref().map(metadata).transpose()?;
    Ok(UpdateRequest {
        id: id(&update.id)?,
        text: update.text,
        metadata,
        expected: update.expected_text,
        reason: None,
        secrets,
        now: now(),
    })
}

impl Handle for v1::BatchUpdateFactsRequest {
    type Response = v1::BatchUpdateFactsResponse;

    async fn handle(
        request: Self::Valid,
        gateway: &Arc<Gateway>,
        caller: &Caller,
    ) -> Result<Self::Response> {
        let (agent, _) = options(request.options)?;
        let scope = scope(request.scope);
        let secrets = gateway.memory_secrets();
        let name = |update: &v1::FactUpdate| update.id.clone();
        let items = BatchItems::of("the number of updates", request.updates, name, |one| {
            update(one, secrets)
        })?;
        let tried = items.tried;
        let work = move |facts: &Facts<'_>| facts.update_many(&tried, &scope);
        let (moment, (outcomes, _)) = gateway
            .change_facts(caller, &request.brain, &agent, work)
            .await?;
        Ok(v1::BatchUpdateFactsResponse {
            moment: Some(moment),
            changes: answers(items.named, outcomes),
        })
    }
}

impl Handle for v1::BatchDeleteFactsRequest {
    type Response = v1::BatchDeleteFactsResponse;

    async fn handle(
        request: Self::Valid,
        gateway: &Arc<Gateway>,
        caller: &Caller,
    ) -> Result<Self::Response> {
        let (agent, _) = options(request.options)?;
        let (scope, now) = (scope(request.scope), now());
        let parse = |text: String| -> Result<Uuid> { id(&text) };
        let items = BatchItems::of("the number of ids", request.ids, String::clone, parse)?;
        let tried = items.tried;
        let work = move |facts: &Facts<'_>| facts.delete_many(&tried, &scope, now);
        let (moment, (outcomes, _)) = gateway
            .change_facts(caller, &request.brain, &agent, work)
            .await?;
        Ok(v1::BatchDeleteFactsResponse {
            moment: Some(moment),
            changes: answers(items.named, outcomes),
        })
    }
}
