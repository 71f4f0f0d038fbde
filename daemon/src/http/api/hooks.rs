//! Hooks of agents that post them: `/hooks/{client}`, with the JSON that the client sends to its hooks.
//!
//! What is said is taken from the requests alone: no transcript is read for a caller, who may be on another machine.
//! The project is that of a header, as for MCP. The folder that a request names is not looked into: a caller could name
//! any folder, and what is in it would be read with the rights of the daemon.

use std::sync::Arc;

use amem_format::Micros;
use amem_hooks::{HookClient, HookInput, HookMoment, HookRun, HookTurn, answer_json};
use amem_proto::answer::timestamp;
use hyper::StatusCode;
use hyper::http::request::Parts;
use serde_json::{Map, Value};

use super::call::RestCall;
use super::mcp;
use super::output::Output;
use super::route::Route;
use crate::auth::Caller;
use crate::calls::Gateway;
use crate::calls::fact_memory::now;
use crate::refusal::{Refusal, Result};

/// The path.
pub(super) const PATHS: &[&str] = &["/hooks/{client}"];

impl Route {
    /// True if the body is the input of a hook.
    pub(super) fn is_hook(&self) -> bool {
        self.paths == PATHS
    }
}

/// The row needs a handler; `answer` is called instead, with the bytes of the body.
pub(super) async fn unread(_call: &mut RestCall) -> Result<Output> {
    Err(Refusal::internal(
        "the input of a hook came to the handler of options",
    ))
}

/// Answers a hook with the JSON that its client reads; without a body if there is nothing to give.
pub(super) async fn answer(
    gateway: &Arc<Gateway>,
    caller: &Caller,
    head: &Parts,
    client: Option<&String>,
    object: &Map<String, Value>,
) -> Result<Output> {
    let name = client.map(String::as_str).unwrap_or_default();
    let client = HookClient::named(name).ok_or_else(|| {
        let known: Vec<_> = HookClient::names().collect();
        let why = format!("unknown client {name:?}: use {}", known.join(", "));
        Refusal::invalid("client", why)
    })?;
    let input = HookInput::of(object, None, Some(client))?;
    let mut place = mcp::place(gateway, caller, head, None).await?;
    let brain = gateway.hook_brain(caller, &place.brain).await?;
    place.brain.clone_from(&brain.name);
    let hook = HookRun {
        client: client.name().to_owned(),
        session: input.session.clone(),
        moment: input.moment,
        place,
        turns: turns(&input, now()),
        prompt: input.prompt,
        is_cleared: input.is_cleared,
        now: now().0,
    };
    let done = gateway.run_hook(caller, hook).await?;
    let answer = answer_json(client, &input.event, &done.context);
    Ok(answer.map_or_else(
        || Output::empty(StatusCode::NO_CONTENT),
        |json| Output::json_bytes(json.into_bytes()),
    ))
}

/// What this moment says: the prompt, or the answer. Messages that the client sends along have both.
fn turns(input: &HookInput, now: Micros) -> Vec<HookTurn> {
    if !input.messages.is_empty() {
        let of = |message: &amem_hooks::HookMessage| HookTurn {
            id: message.id.clone(),
            is_agents: message.is_agents,
            text: message.text.clone(),
            time: message.time.map(|time| timestamp(Micros(time))),
        };
        return input.messages.iter().map(of).collect();
    }
    let (is_agents, text) = match input.moment {
        HookMoment::Prompt => (false, Some(input.prompt.as_str())),
        HookMoment::Answer => (true, input.answer.as_deref()),
        _ => (false, None),
    };
    let Some(text) = text.filter(|text| !text.trim().is_empty()) else {
        return Vec::new();
    };
    // The same prompt a second time is said again: only a repetition of the request is none.
    let turn = HookTurn {
        id: input.turn.clone().unwrap_or_default(),
        is_agents,
        text: text.to_owned(),
        time: Some(timestamp(now)),
    };
    vec![HookTurn {
        id: match turn.id.is_empty() {
            true => String::new(),
            false => format!("{}:{is_agents}", turn.id),
        },
        ..turn
    }]
}
