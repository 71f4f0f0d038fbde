//! Adding memories.

use amem_memory::{ContentPart, Message, Role, messages_from_json};
use amem_proto::answer::timestamp;
use amem_proto::v1;
use hyper::StatusCode;
use serde_json::{Map, Value, json};
use tokio::time::timeout;

use super::super::call::RestCall;
use super::super::output::Output;
use super::super::recent::RecentEvent;
use super::shapes::{event_name, metadata, short_number, time};
use crate::refusal::{Refusal, Result};

pub(in super::super) async fn add(call: &mut RestCall) -> Result<Output> {
    let is_bare = call.wants_bare_list()?;
    let messages = call.options.any("messages");
    let messages = messages.ok_or_else(|| {
        let why = "it is missing: send a text, a message, or a list of messages";
        Refusal::invalid("messages", why)
    })?;
    let messages = messages_from_json(&messages)?;
    let not_text = skipped(&messages);
    let event = RecentEvent::begin("ADD");
    let request = request(call, messages)?;
    call.options.check_left()?;
    let (of_each, is_dry) = (metadata(&request.metadata_json), request.dry_run);
    let Some(answer) = added(call, request, &event).await? else {
        return Ok(unfinished(&event, is_bare));
    };
    let results = answer.results.iter();
    let results: Vec<_> = results.map(|one| result(one, &of_each)).collect();
    let event = ended(event, &answer);
    let mut output = answer_object(&answer, results, &event, not_text)?;
    if is_dry {
        output["event_id"] = Value::Null;
    } else {
        call.site
            .events
            .put(&call.caller.principal, &call.brain, event);
    }
    if is_bare {
        output = output["results"].take();
    }
    Ok(output.into())
}

/// Executes an add; `None` if it takes longer than `limits.add_wait_millis`. Then it goes on, and its event says so.
async fn added(
    call: &RestCall,
    request: v1::AddFactsRequest,
    event: &RecentEvent,
) -> Result<Option<v1::AddFactsResponse>> {
    let (site, caller) = (call.site.clone(), call.caller.clone());
    let is_dry = request.dry_run;
    let work = async move { site.gateway.fact_as(&caller, request).await };
    let (site, caller, brain) = (
        call.site.clone(),
        call.caller.principal.clone(),
        call.brain.clone(),
    );
    let unheard = {
        let event = event.clone();
        move |done: Result<v1::AddFactsResponse>| {
            if is_dry {
                return;
            }
            let event = match &done {
                Ok(answer) => ended(event, answer),
                Err(refusal) => {
                    tracing::debug!(reason = &*refusal.reason, "refused an add");
                    event.fail(&refusal.reason)
                }
            };
            site.events.put(&caller, &brain, event);
        }
    };
    let slot = call.slot.clone();
    let mut told = call.site.background.start(slot, work, unheard);
    let stopped = |_| Refusal::internal("the daemon stopped before the add ended");
    if is_dry {
        // There is no event to ask.
        return told.await.map_err(stopped)?.map(Some);
    }
    let wait = call.site.gateway.control.live().limits.add_after();
    if let Ok(done) = timeout(wait, &mut told).await {
        return done.map_err(stopped)?.map(Some);
    }
    // From here on there is an event, and then nothing is received.
    let (caller, brain) = (&call.caller.principal, &call.brain);
    call.site.events.put(caller, brain, event.clone());
    told.close();
    match told.try_recv() {
        Ok(Ok(answer)) => Ok(Some(answer)),
        Ok(Err(refusal)) => {
            let event = event.clone().fail(&refusal.reason);
            call.site.events.put(caller, brain, event);
            Err(refusal)
        }
        Err(_) => Ok(None),
    }
}

/// The event of an add that ended.
fn ended(mut event: RecentEvent, answer: &v1::AddFactsResponse) -> RecentEvent {
    let named = |one: &v1::FactResult| (one.id.clone(), event_name(one.event()));
    event.results = answer.results.iter().map(named).collect();
    event.end(match answer.pending.is_empty() {
        true => "SUCCEEDED",
        false => "PENDING",
    })
}

/// The answer to an add that goes on.
fn unfinished(event: &RecentEvent, is_bare: bool) -> Output {
    let mut body = json!({
        "message": format!("the add goes on: GET /v1/event/{}/ says what became of it", event.id),
        "status": event.status,
        "event_id": event.id,
    });
    match is_bare {
        true => body = json!([body]),
        false => body["results"] = json!([]),
    }
    Output::json(StatusCode::ACCEPTED, &body)
}

fn request(call: &mut RestCall, messages: Vec<Message>) -> Result<v1::AddFactsRequest> {
    let mut options = call.once();
    let of_body = call.options.text("idempotency_key")?;
    if let Some(agent) = call.options.text("agent")? {
        options.agent = agent;
    }
    let metadata = call.options.object("metadata")?;
    Ok(v1::AddFactsRequest {
        brain: call.brain.clone(),
        messages: messages.into_iter().map(message).collect(),
        scope: call.options.scope()?,
        infer: call.options.switch("infer")?,
        dry_run: call.options.switch("dry_run")?.unwrap_or(false),
        prompt: call.options.text("prompt")?.unwrap_or_default(),
        filter_json: call.options.filters()?,
        metadata_json: metadata.map_or(String::new(), |metadata| metadata.to_string()),
        timestamp: call.options.said_at()?,
        expires_at: call.options.time("expiration_date")?,
        idempotency_key: call.key.clone().or(of_body).unwrap_or_default(),
        assistant_facts: call.options.switch("assistant_facts")?.unwrap_or(false),
        options: Some(options),
        ..Default::default()
    })
}

fn message(message: Message) -> v1::FactMessage {
    let role = match message.role {
        Role::System => v1::FactRole::System,
        Role::User => v1::FactRole::User,
        Role::Assistant => v1::FactRole::Assistant,
        Role::Tool => v1::FactRole::Tool,
    };
    let texts = message.content.into_iter().filter_map(|part| match part {
        ContentPart::Text(text) => Some(text),
        ContentPart::Other(_) => None,
    });
    v1::FactMessage {
        role: role.into(),
        text: texts.collect::<Vec<_>>().join("\n"),
        name: message.name.unwrap_or_default(),
        time: message.time.map(timestamp),
    }
}

/// The parts of messages that are no text: messages of FactService have only that.
fn skipped(messages: &[Message]) -> Vec<Value> {
    let mut skipped = Vec::new();
    for (index, message) in messages.iter().enumerate() {
        for part in &message.content {
            if let ContentPart::Other(what) = part {
                skipped.push(json!({"index": index, "what": what, "why": "it is no text"}));
            }
        }
    }
    skipped
}

/// What became of a fact.
fn result(result: &v1::FactResult, metadata: &Value) -> Value {
    let ended = result.event() == v1::FactEvent::Delete;
    let why = result.why.clone().unwrap_or_default();
    json!({
        "id": result.id,
        "event": event_name(result.event()),
        "memory": result.memory,
        "new_memory": (!ended).then_some(&result.memory),
        "old_memory": result.old_memory,
        "data": {"memory": result.memory},
        "metadata": metadata,
        "why": {"by": why.by, "confidence": short_number(why.confidence), "source_turns": why.source_ids},
    })
}

fn answer_object(
    answer: &v1::AddFactsResponse,
    results: Vec<Value>,
    event: &RecentEvent,
    not_text: Vec<Value>,
) -> Result<Value> {
    let mut pending = Vec::new();
    for work in &answer.pending {
        pending.push(json!({
            "reason": work.reason,
            "detail": work.detail,
            "next_try": time(work.next_try)?,
        }));
    }
    let rejected = answer.rejected.iter();
    let rejected = rejected.map(|fact| json!({"text": fact.text, "why": fact.why}));
    let skipped = answer.skipped.iter();
    let skipped =
        skipped.map(|part| json!({"index": part.index, "what": part.what, "why": part.why}));
    let usage = answer.usage.unwrap_or_default();
    let mut object = Map::new();
    for (name, value) in [
        ("results", results.into()),
        ("relations", json!([])),
        ("status", event.status.into()),
        ("event_id", event.id.as_str().into()),
        ("message", "ok".into()),
        ("pending", pending.into()),
        ("rejected", rejected.collect::<Vec<_>>().into()),
        (
            "skipped",
            not_text
                .into_iter()
                .chain(skipped)
                .collect::<Vec<_>>()
                .into(),
        ),
        (
            "usage",
            json!({"calls": usage.calls, "tokens_in": usage.tokens_in, "tokens_out": usage.tokens_out}),
        ),
    ] {
        object.insert(name.to_owned(), value);
    }
    Ok(object.into())
}
