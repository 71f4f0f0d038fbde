//! The calls of FactService.

use std::sync::Arc;

use amem_facts::limits::{FACT_PAGE_BYTES, FACT_PAGE_MAX, RECALL_ENTRIES_DEFAULT};
use amem_facts::recall::{Recall, SpokenName};
use amem_facts::search::FactSearch;
use amem_facts::{FactMoment, Facts, KeptAnswer, ListRequest, PendingEntry};
use amem_format::NodeId;
use amem_memory::add::{AddEvent, AddRequest, AssistantPolicy};
use amem_memory::change::UpdateRequest;
use amem_memory::store::MemoryItem;
use amem_memory::{FactScope, bytes_hash};
use amem_proto::answer::{Code, as_of, moment};
use amem_proto::v1;
use amem_query::time_phrase::{Clock, zone_named};
use amem_store::limits::ERASED_EVENTS_MAX;
use prost::Message;

use super::fact_memory::{brain_name, now};
use super::fact_messages::{self as convert, filter, id, metadata, scope, time};
use super::gateway::{Gateway, Handle};
use super::validate::unknown_page_token;
use crate::auth::{Caller, Role};
use crate::limits::FACT_NAMES_MAX;
use crate::refusal::{Refusal, Result};

/// Agent and request id; other options are refused, so that none is ignored in silence.
pub(super) fn options(options: Option<v1::WriteOptions>) -> Result<(String, Option<String>)> {
    let options = options.unwrap_or_default();
    if options.expected_lsn.is_some() || options.expected_head.is_some() {
        let why = "facts have no preconditions but expected_text: leave it out";
        return Err(Refusal::invalid("options", why));
    }
    let id = Some(options.request_id).filter(|id| !id.is_empty());
    if let Some(id) = &id {
        uuid::Uuid::try_parse(id)
            .map_err(|e| Refusal::invalid("request_id", format!("{id:?} is not a UUID: {e}")))?;
    }
    Ok((options.agent, id.map(|id| format!("request:{id}"))))
}

/// The key of a change, and the hash of what it asks for.
fn kept(key: Option<String>, request: &impl Message) -> Option<KeptAnswer> {
    key.map(|key| KeptAnswer {
        key,
        request_hash: bytes_hash(&request.encode_to_vec()),
    })
}

/// The rows of a page for which a request asks; 0 asks for the maximum.
pub(super) fn page_size(asked: u32) -> usize {
    match asked as usize {
        0 => FACT_PAGE_MAX,
        asked => asked.min(FACT_PAGE_MAX),
    }
}

/// Messages as long as an answer has room for them; always the first.
pub(super) fn fitting<M: Message>(messages: impl Iterator<Item = M>) -> Vec<M> {
    let mut bytes = 0;
    let mut out = Vec::new();
    for message in messages {
        bytes += message.encoded_len();
        if bytes > FACT_PAGE_BYTES && !out.is_empty() {
            break;
        }
        out.push(message);
    }
    out
}

/// The event before which a page begins.
pub(super) fn cursor(token: &str) -> Result<Option<u64>> {
    match token {
        "" => Ok(None),
        token => token
            .parse()
            .map(Some)
            .map_err(|_| unknown_page_token(token)),
    }
}

impl Handle for v1::AddFactsRequest {
    type Response = v1::AddFactsResponse;

    async fn handle(
        request: Self::Valid,
        gateway: &Arc<Gateway>,
        caller: &Caller,
    ) -> Result<Self::Response> {
        let (agent, key) = options(request.options)?;
        let now = now();
        let messages = convert::messages(request.messages)?;
        let mut add = AddRequest::new(messages, scope(request.scope), now);
        add.infer = request.infer.unwrap_or(true);
        add.dry_run = request.dry_run;
        add.session = Some(request.session_id).filter(|session| *session != 0);
        add.without_turns = request.without_turns;
        add.marks_conflicts = request.mark_conflicts;
        add.secrets = gateway.memory_secrets();
        add.prompt = Some(request.prompt).filter(|prompt| !prompt.is_empty());
        add.filters = filter(&request.filter_json)?;
        add.metadata = metadata(&request.metadata_json)?;
        add.timestamp = time("timestamp", request.timestamp)?;
        add.expires = time("expires_at", request.expires_at)?;
        add.idempotency_key = Some(request.idempotency_key)
            .filter(|key| !key.is_empty())
            .or(key);
        if request.assistant_facts {
            add.assistant = AssistantPolicy::Facts;
        }
        add.kind = convert::kind_named(&request.kind)?;
        let because = request.because_ids.iter();
        add.because = because.map(|cause| id(cause)).collect::<Result<_>>()?;
        add.validate()?;
        let work = move |facts: &Facts<'_>| {
            facts.check_causes(&add.because, &add.scope)?;
            let (answer, _) = facts.add(&add)?;
            let mut events = Vec::with_capacity(answer.results.len());
            for result in &answer.results {
                let is_there = !add.dry_run && result.event != AddEvent::Delete;
                let event = is_there.then(|| facts.version_of(result.id)).transpose()?;
                events.push(event.flatten());
            }
            Ok((answer, events))
        };
        let (moment, (answer, events)) = gateway
            .change_facts(caller, &request.brain, &agent, work)
            .await?;
        let mut response = convert::added(answer, moment);
        for (result, event) in response.results.iter_mut().zip(events) {
            result.event_id = event.map_or(0, |event| event.0);
        }
        Ok(response)
    }
}

impl Handle for v1::SearchFactsRequest {
    type Response = v1::SearchFactsResponse;

    async fn handle(
        request: Self::Valid,
        gateway: &Arc<Gateway>,
        caller: &Caller,
    ) -> Result<Self::Response> {
        let search = FactSearch {
            question: request.query,
            scope: scope(request.scope),
            filter: filter(&request.filter_json)?,
            limit: match request.limit {
                0 => 10,
                limit => limit as usize,
            },
            threshold: request.threshold,
            at: time("at", request.at)?,
            with_quarantined: false,
            with_graph: request.graph,
            now: now(),
        };
        let (as_of, explain) = (as_of(request.as_of)?, request.explain);
        let work = move |facts: &Facts<'_>, at: &FactMoment| facts.search(&search, at);
        let (moment, ranking) = gateway
            .read_facts(caller, &request.brain, as_of, work)
            .await?;
        let hits = ranking.hits.into_iter();
        Ok(v1::SearchFactsResponse {
            moment: Some(moment),
            hits: hits.map(|hit| convert::hit(hit, explain)).collect(),
            left_off: u32::try_from(ranking.left_off).unwrap_or(u32::MAX),
            words_only: ranking.words_only.unwrap_or_default(),
        })
    }
}

impl Handle for v1::RecallRequest {
    type Response = v1::RecallResponse;

    async fn handle(
        request: Self::Valid,
        gateway: &Arc<Gateway>,
        caller: &Caller,
    ) -> Result<Self::Response> {
        let zone = (!request.zone.is_empty()).then(|| zone_named(&request.zone));
        let recall = Recall {
            question: request.question,
            scope: scope(request.scope),
            filter: filter(&request.filter_json)?,
            limit: match request.limit {
                0 => RECALL_ENTRIES_DEFAULT,
                limit => limit as usize,
            },
            relevance_min: request.relevance_min,
            at: time("at", request.at)?,
            clock: Clock::known(Some(now()), zone.transpose()?),
            now: now(),
            standing_only: request.standing_only,
        };
        let as_of = as_of(request.as_of)?;
        let work = move |facts: &Facts<'_>, at: &FactMoment| facts.recall(&recall, at);
        let (moment, answer) = gateway
            .read_facts(caller, &request.brain, as_of, work)
            .await?;
        Ok(v1::RecallResponse {
            moment: Some(moment),
            entries: answer.entries.into_iter().map(convert::entry).collect(),
            nearest: answer.nearest.into_iter().map(convert::entry).collect(),
            standing: answer.standing.into_iter().map(convert::entry).collect(),
            left_out_relevance: answer.left_out_relevance,
            words_only: answer.words_only.unwrap_or_default(),
        })
    }
}

/// How a request names a memory.
#[derive(Clone, Copy)]
enum FactName {
    Memory(uuid::Uuid),
    Event(NodeId),
}

/// What an id and an event of a request name.
fn fact_name(text: &str, event: Option<u64>) -> Result<FactName> {
    match (event, text) {
        (None, text) => Ok(FactName::Memory(id(text)?)),
        (Some(event), "") => Ok(FactName::Event(NodeId(event))),
        (Some(_), _) => {
            let why = "it is set beside an id: set one of them";
            Err(Refusal::invalid("event_id", why))
        }
    }
}

/// What a name stands for.
struct NamedMemory {
    fact: v1::Fact,
    /// `None` for words that were said or written.
    memory: Option<uuid::Uuid>,
    /// True if the name is that of a turn, and the memory is from it.
    from_turn: bool,
}

/// The memory of a name, the one that is from a turn of that name, or the words of the turn or of another event.
fn named_memory(
    facts: &Facts<'_>,
    name: FactName,
    scope: &FactScope,
    at: &FactMoment,
) -> amem_facts::Result<Option<NamedMemory>> {
    let (id, from_turn, spoken) = match name {
        FactName::Memory(id) => (Some(id), false, SpokenName::Turn(id)),
        FactName::Event(event) => {
            let (id, from_turn) = match facts.memory_of(event, scope, at)? {
                Some(id) => (Some(id), false),
                None => (facts.memory_from(event, scope, at)?, true),
            };
            (id, from_turn, SpokenName::Event(event))
        }
    };
    if let Some(id) = id
        && let Some(item) = facts.get(id, scope, now(), at)?
    {
        return Ok(Some(NamedMemory {
            fact: convert::fact(item),
            memory: Some(id),
            from_turn,
        }));
    }
    let said = facts.spoken(spoken, scope, at)?;
    Ok(said.map(|said| NamedMemory {
        fact: convert::spoken(said),
        memory: None,
        from_turn: false,
    }))
}

impl Handle for v1::GetFactRequest {
    type Response = v1::GetFactResponse;

    async fn handle(
        request: Self::Valid,
        gateway: &Arc<Gateway>,
        caller: &Caller,
    ) -> Result<Self::Response> {
        let (scope, as_of) = (scope(request.scope), as_of(request.as_of)?);
        let count = request.more.len();
        if count > FACT_NAMES_MAX {
            let why =
                format!("{count} further memories are asked for: ask for at most {FACT_NAMES_MAX}");
            return Err(Refusal::new(Code::InvalidArgument, "LIMIT", why));
        }
        let is_list = count > 0 && request.id.is_empty() && request.event_id.is_none();
        let asked = match is_list {
            true => None,
            false => Some(fact_name(&request.id, request.event_id)?),
        };
        let more = request.more.into_iter();
        let more = more
            .map(|name| Ok((fact_name(&name.id, name.event_id)?, name)))
            .collect::<Result<Vec<_>>>()?;
        let light = match asked {
            Some(FactName::Memory(id)) if more.is_empty() => Some(id),
            _ => None,
        };
        let work = move |facts: &Facts<'_>, at: &FactMoment| {
            let mut response = v1::GetFactResponse::default();
            if let Some(name) = asked {
                let named = named_memory(facts, name, &scope, at)?.ok_or_else(|| {
                    let id = match name {
                        FactName::Memory(id) => id.to_string(),
                        FactName::Event(event) => format!("of event {}", event.0),
                    };
                    amem_memory::Error::NotFound { id }
                })?;
                if let Some(id) = named.memory {
                    response.feedback = facts.feedback(id, at)?.map(convert::feedback);
                }
                response.fact = Some(named.fact);
                response.from_turn = named.from_turn;
            }
            for (asked, name) in more {
                if let Some(named) = named_memory(facts, asked, &scope, at)? {
                    response.more.push(v1::NamedFact {
                        name: Some(name),
                        fact: Some(named.fact),
                        from_turn: named.from_turn,
                    });
                }
            }
            Ok(response)
        };
        // A memory without an id is found first, which may wait.
        let is_light = move |facts: &Facts<'_>| light.map_or(Ok(false), |id| facts.is_light(id));
        let (moment, mut response) = gateway
            .read_light(caller, (&request.brain, as_of), is_light, work)
            .await?;
        response.moment = Some(moment);
        Ok(response)
    }
}

impl Handle for v1::ListFactsRequest {
    type Response = v1::ListFactsResponse;

    async fn handle(
        request: Self::Valid,
        gateway: &Arc<Gateway>,
        caller: &Caller,
    ) -> Result<Self::Response> {
        let list = ListRequest {
            scope: scope(request.scope),
            filter: filter(&request.filter_json)?,
            limit: request.page_size as usize,
            before: cursor(&request.page_token)?,
            at: time("at", request.at)?,
            now: now(),
            with_ended: false,
        };
        let as_of = as_of(request.as_of)?;
        let with_said = request.with_said;
        let work = move |facts: &Facts<'_>, at: &FactMoment| {
            let page = facts.list(&list, at)?;
            let mut listed = Vec::with_capacity(page.items.len());
            for item in page.items {
                let said = match with_said {
                    true => facts.said_sentence(&item, at)?,
                    false => None,
                };
                listed.push(v1::Fact {
                    said: said.map(convert::said),
                    ..convert::fact(item)
                });
            }
            Ok((listed, page.next))
        };
        let (moment, (facts, next)) = gateway
            .read_facts(caller, &request.brain, as_of, work)
            .await?;
        Ok(v1::ListFactsResponse {
            moment: Some(moment),
            facts,
            next_page_token: next.map_or(String::new(), |next| next.to_string()),
        })
    }
}

impl Handle for v1::UpdateFactRequest {
    type Response = v1::UpdateFactResponse;

    async fn handle(
        mut request: Self::Valid,
        gateway: &Arc<Gateway>,
        caller: &Caller,
    ) -> Result<Self::Response> {
        let (agent, key) = options(request.options.take())?;
        let kept = kept(key, &request);
        let metadata = request.metadata_json.as_deref().map(metadata).transpose()?;
        let update = UpdateRequest {
            id: id(&request.id)?,
            text: request.text,
            metadata,
            expected: request.expected_text,
            reason: convert::reason(request.reason),
            secrets: gateway.memory_secrets(),
            now: now(),
        };
        update.validate()?;
        let scope = scope(request.scope);
        let work = move |facts: &Facts<'_>| {
            let (item, commit) = facts.update(&update, &scope, kept.as_ref())?;
            let event = facts.version_of(item.id)?;
            Ok((MemoryItem { event, ..item }, commit))
        };
        let (moment, (item, _)) = gateway
            .change_facts(caller, &request.brain, &agent, work)
            .await?;
        Ok(v1::UpdateFactResponse {
            moment: Some(moment),
            fact: Some(convert::fact(item)),
        })
    }
}

impl Handle for v1::DeleteFactRequest {
    type Response = v1::DeleteFactResponse;

    async fn handle(
        mut request: Self::Valid,
        gateway: &Arc<Gateway>,
        caller: &Caller,
    ) -> Result<Self::Response> {
        let (agent, key) = options(request.options.take())?;
        let kept = kept(key, &request);
        let (id, scope, now) = (id(&request.id)?, scope(request.scope), now());
        let reason = convert::reason(request.reason);
        if request.erase {
            return erase_memory(gateway, caller, &request.brain, &agent, (id, scope)).await;
        }
        let work = move |facts: &Facts<'_>| {
            // A turn that a recall shows has an id like a memory.
            let why = (now, reason.as_deref());
            if let Some((said, _)) = facts.forget_turn(id, &scope, why, kept.as_ref())? {
                return Ok(convert::spoken(said));
            }
            let (item, _) = facts.delete(id, &scope, now, reason.as_deref(), kept.as_ref())?;
            Ok(convert::fact(item))
        };
        let (moment, fact) = gateway
            .change_facts(caller, &request.brain, &agent, work)
            .await?;
        Ok(v1::DeleteFactResponse {
            moment: Some(moment),
            fact: Some(fact),
        })
    }
}

impl Handle for v1::DeleteFactsRequest {
    type Response = v1::DeleteFactsResponse;

    async fn handle(
        request: Self::Valid,
        gateway: &Arc<Gateway>,
        caller: &Caller,
    ) -> Result<Self::Response> {
        let (agent, _) = options(request.options)?;
        let (scope, filter) = (scope(request.scope), filter(&request.filter_json)?);
        scope.validate()?;
        let work = move |facts: &Facts<'_>| facts.delete_all(&scope, filter.as_ref(), now());
        let (moment, (deleted, _)) = gateway
            .change_facts(caller, &request.brain, &agent, work)
            .await?;
        Ok(v1::DeleteFactsResponse {
            moment: Some(moment),
            deleted,
        })
    }
}

impl Handle for v1::GetFactHistoryRequest {
    type Response = v1::GetFactHistoryResponse;

    async fn handle(
        request: Self::Valid,
        gateway: &Arc<Gateway>,
        caller: &Caller,
    ) -> Result<Self::Response> {
        let (id, scope) = (id(&request.id)?, scope(request.scope));
        let page = (page_size(request.page_size), cursor(&request.page_token)?);
        let work = move |facts: &Facts<'_>, at: &FactMoment| {
            if let Some(said) = facts.spoken(SpokenName::Turn(id), &scope, at)? {
                return Ok((vec![convert::spoken_record(&said)], false, None));
            }
            if let Some(end) = facts.turn_end(id, &scope, at)? {
                return Ok((vec![convert::turn_end_record(end)], true, None));
            }
            let history = facts.history(id, &scope, page, at)?;
            let records = history.entries.into_iter().map(convert::record).collect();
            Ok((records, history.is_deleted, history.next))
        };
        let is_light = move |facts: &Facts<'_>| facts.is_light(id);
        let (moment, (records, deleted, next)) = gateway
            .read_light(caller, (&request.brain, None), is_light, work)
            .await?;
        Ok(v1::GetFactHistoryResponse {
            moment: Some(moment),
            records,
            deleted,
            next_page_token: next.map_or(String::new(), |next: u64| next.to_string()),
        })
    }
}

impl Handle for v1::ListFactScopesRequest {
    type Response = v1::ListFactScopesResponse;

    async fn handle(
        request: Self::Valid,
        gateway: &Arc<Gateway>,
        caller: &Caller,
    ) -> Result<Self::Response> {
        let (within, size) = (scope(request.scope), page_size(request.page_size));
        let work = move |facts: &Facts<'_>, at: &FactMoment| facts.users(&within, at);
        let (moment, scopes) = gateway
            .read_facts(caller, &request.brain, None, work)
            .await?;
        // They are in order: a token is the last of its page.
        let token = |scope: &v1::FactScopeCount| format!("{}={}", scope.field, scope.value);
        let scopes = scopes.into_iter().map(convert::scope_count);
        let after = |scope: &v1::FactScopeCount| {
            request.page_token.is_empty() || token(scope) > request.page_token
        };
        let mut scopes: Vec<_> = scopes.filter(after).collect();
        let is_more = scopes.len() > size;
        scopes.truncate(size);
        Ok(v1::ListFactScopesResponse {
            moment: Some(moment),
            next_page_token: scopes
                .last()
                .filter(|_| is_more)
                .map_or(String::new(), token),
            scopes,
        })
    }
}

impl Handle for v1::ListPendingFactsRequest {
    type Response = v1::ListPendingFactsResponse;

    async fn handle(
        request: Self::Valid,
        gateway: &Arc<Gateway>,
        caller: &Caller,
    ) -> Result<Self::Response> {
        let (scope, size) = (scope(request.scope), page_size(request.page_size));
        let work = move |facts: &Facts<'_>, at: &FactMoment| facts.pending(&scope, at);
        let (moment, mut entries) = gateway
            .read_facts(caller, &request.brain, None, work)
            .await?;
        // They are in order of time and id: a token is the last of its page.
        let token = |entry: &PendingEntry| format!("{:020}.{}", entry.since.0, entry.id);
        entries.retain(|entry| request.page_token.is_empty() || token(entry) > request.page_token);
        let pending = fitting(entries.iter().take(size).map(convert::pending));
        let last = entries[..pending.len()].last();
        let last = last.filter(|_| pending.len() < entries.len());
        Ok(v1::ListPendingFactsResponse {
            moment: Some(moment),
            next_page_token: last.map_or(String::new(), token),
            pending,
        })
    }
}

impl Handle for v1::ListFactConflictsRequest {
    type Response = v1::ListFactConflictsResponse;

    async fn handle(
        request: Self::Valid,
        gateway: &Arc<Gateway>,
        caller: &Caller,
    ) -> Result<Self::Response> {
        let scope = scope(request.scope);
        scope.validate()?;
        let (size, before) = (page_size(request.page_size), cursor(&request.page_token)?);
        let work = move |facts: &Facts<'_>, at: &FactMoment| {
            facts.review(&scope, (size, before), now(), at)
        };
        let (moment, (conflicts, next)) = gateway
            .read_facts(caller, &request.brain, None, work)
            .await?;
        let conflicts = conflicts.into_iter().map(|conflict| v1::FactConflict {
            fact: Some(convert::fact(conflict.item)),
            others: conflict.others.into_iter().map(convert::fact).collect(),
            rejected: conflict.rejected.unwrap_or_default(),
        });
        Ok(v1::ListFactConflictsResponse {
            moment: Some(moment),
            conflicts: conflicts.collect(),
            next_page_token: next.map_or(String::new(), |next| next.to_string()),
        })
    }
}

impl Handle for v1::RetryPendingFactsRequest {
    type Response = v1::RetryPendingFactsResponse;

    async fn handle(
        request: Self::Valid,
        gateway: &Arc<Gateway>,
        caller: &Caller,
    ) -> Result<Self::Response> {
        let (agent, _) = options(request.options)?;
        let scope = scope(request.scope);
        let work = move |facts: &Facts<'_>| {
            let outcomes = facts.retry(&scope, now(), false)?;
            let done = outcomes.iter().filter(|outcome| outcome.is_done).count();
            let left = facts.pending(&scope, &facts.moment(None)?)?;
            Ok((done as u64, left))
        };
        let (moment, (done, left)) = gateway
            .change_facts(caller, &request.brain, &agent, work)
            .await?;
        Ok(v1::RetryPendingFactsResponse {
            moment: Some(moment),
            done,
            pending: fitting(left.iter().map(convert::pending)),
        })
    }
}

/// Erases a memory and what is of it alone.
async fn erase_memory(
    gateway: &Arc<Gateway>,
    caller: &Caller,
    brain: &str,
    agent: &str,
    (id, scope): (uuid::Uuid, amem_memory::FactScope),
) -> Result<v1::DeleteFactResponse> {
    let brain = gateway.fact_brain(caller, brain).await?;
    let work = move |facts: &Facts<'_>| facts.events_of_memory(id, &scope);
    let (ids, item) = gateway.with_facts(caller, &brain, agent, work).await?;
    erase(gateway, caller, &brain.name, &ids, agent).await?;
    let forget = move |facts: &Facts<'_>| {
        facts.erased();
        Ok(())
    };
    gateway.with_facts(caller, &brain, agent, forget).await?;
    Ok(v1::DeleteFactResponse {
        moment: Some(moment(&brain.view())),
        fact: Some(convert::fact(item)),
    })
}

/// Erases events, of many a part after the other; returns the answer to the last part. An error leaves what a
/// repetition erases.
pub(super) async fn erase(
    gateway: &Arc<Gateway>,
    caller: &Caller,
    brain: &str,
    ids: &[amem_format::NodeId],
    agent: &str,
) -> Result<v1::EraseResponse> {
    let mut last = v1::EraseResponse::default();
    for part in ids.chunks(ERASED_EVENTS_MAX) {
        let change = v1::EraseRequest {
            brain: brain.to_owned(),
            event_ids: part.iter().map(|id| id.0).collect(),
            options: Some(v1::WriteOptions {
                agent: agent.to_owned(),
                ..v1::WriteOptions::default()
            }),
            reader_wait: None,
        };
        last = gateway.write_as(caller, change).await?;
    }
    Ok(last)
}

impl Handle for v1::ResetFactsRequest {
    type Response = v1::ResetFactsResponse;

    async fn handle(
        request: Self::Valid,
        gateway: &Arc<Gateway>,
        caller: &Caller,
    ) -> Result<Self::Response> {
        let (agent, _) = options(request.options)?;
        let scope = scope(request.scope);
        if request.everything {
            // A token with a scope never has the role: what it asks for is not its own.
            caller.check(brain_name(&request.brain), Role::Admin)?;
        }
        if request.everything && scope != Default::default() {
            let why = "it is set beside a scope: set one of them";
            return Err(Refusal::invalid("everything", why));
        }
        if !request.everything {
            scope.validate()?;
        }
        let brain = gateway.fact_brain(caller, &request.brain).await?;
        let work = move |facts: &Facts<'_>| facts.events_of_scope(&scope);
        let ids = gateway.with_facts(caller, &brain, &agent, work).await?;
        let mut response = v1::ResetFactsResponse {
            events: ids.len() as u64,
            ..v1::ResetFactsResponse::default()
        };
        if !ids.is_empty() {
            response.erase = Some(erase(gateway, caller, &brain.name, &ids, &agent).await?);
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

impl Handle for v1::EraseFactSourceRequest {
    type Response = v1::EraseFactSourceResponse;

    async fn handle(
        request: Self::Valid,
        gateway: &Arc<Gateway>,
        caller: &Caller,
    ) -> Result<Self::Response> {
        let (agent, _) = options(request.options)?;
        let (turn, scope) = (id(&request.turn_id)?, scope(request.scope));
        let brain = gateway.fact_brain(caller, &request.brain).await?;
        let work = move |facts: &Facts<'_>| {
            facts.outlast_source(turn, &scope, now())?;
            facts.events_of_source(turn, &scope)
        };
        let (ids, memories) = gateway.with_facts(caller, &brain, &agent, work).await?;
        let erased = erase(gateway, caller, &brain.name, &ids, &agent).await?;
        let forget = move |facts: &Facts<'_>| {
            facts.erased();
            Ok(())
        };
        gateway.with_facts(caller, &brain, &agent, forget).await?;
        Ok(v1::EraseFactSourceResponse {
            moment: Some(moment(&brain.view())),
            fact_ids: memories.iter().map(ToString::to_string).collect(),
            erase: Some(erased),
        })
    }
}
