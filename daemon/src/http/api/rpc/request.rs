//! The request of a call: its body, the brain of its path, and what headers say of a change.

use amem_proto::calls;
use amem_proto::v1::Permission;
use prost::{DecodeError, Message};
use prost_reflect::{DynamicMessage, ReflectMessage, Value as Field};

use super::super::body::waiting;
use super::super::call::RestCall;
use super::super::output::Output;
use super::super::route::{RouteCall, RouteTarget};
use super::message::{self, body_of_query, set_text};
use crate::calls::dispatch::{CallError, execute};
use crate::limits::HTTP_JSON_BYTES_AT_ONCE;
use crate::refusal::{Refusal, Result};

/// Executes a call by the request in the body.
pub(super) async fn executed(call: &mut RestCall, rpc: &RouteCall) -> Result<Output> {
    if let Some(option) = call.options.first_name() {
        let why = "this route has no options: send fields in the body";
        return Err(Refusal::invalid(option, why));
    }
    let request = read(call, rpc).await?;
    let done = execute(rpc.path, &call.site.gateway, &call.caller, request.into()).await;
    let answer = done.map_err(|error| match error {
        CallError::Malformed(why) => malformed(rpc, &why),
        CallError::Refused(refusal) => call.conditions.explained(refusal),
    })?;
    answered(rpc, answer.encode()).await
}

fn malformed(rpc: &RouteCall, why: &DecodeError) -> Refusal {
    Refusal::internal(format!("{}: {why}", rpc.request))
}

/// Reads the request of a call whose fields are the options of the query.
pub(super) async fn request_of_query<M: Message + Default>(
    call: &mut RestCall,
    rpc: &RouteCall,
) -> Result<M> {
    if let Some(name) = call.body.keys().next() {
        let why = "this route has no body: send fields as options of the query";
        return Err(Refusal::invalid(name, why));
    }
    call.body = body_of_query(rpc.request, call.options.take_all())?;
    let bytes = read(call, rpc).await?;
    M::decode(&bytes[..]).map_err(|why| malformed(rpc, &why))
}

/// The message, as bytes.
async fn read(call: &mut RestCall, rpc: &RouteCall) -> Result<Vec<u8>> {
    let brain = brain(call, rpc.place)?;
    let required = call.conditions.required()?;
    if let (Some((instance, _)), Some(brain)) = (required, &brain) {
        let opened = call.site.gateway.brains.get(&call.caller, brain).await?;
        if opened.view().instance() != instance {
            return Err(call.conditions.foreign());
        }
    }
    let body = std::mem::take(&mut call.body);
    message::read(rpc.request, body, call.slot.bytes(), &|message| {
        if let Some(brain) = &brain {
            set_text(message, "brain", brain, "the path")?;
        }
        let lsn = required.map(|(_, lsn)| lsn);
        set_options(call, rpc, message, lsn)
    })
}

/// The brain in the path; `None` if the path has none. An error if the request names another.
fn brain(call: &RestCall, place: RouteTarget) -> Result<Option<String>> {
    let named = call.named_brain.as_deref();
    match place {
        RouteTarget::Brain => {
            let brain = call.param(0)?;
            if named.is_some_and(|named| named != brain) {
                let why = "the path names another: name it in the path alone";
                return Err(Refusal::invalid("brain", why));
            }
            Ok(Some(brain.to_owned()))
        }
        RouteTarget::Daemon if named.is_some() => {
            let why =
                "this route is about the daemon: name a brain in the body, if the call has one";
            Err(Refusal::invalid("brain", why))
        }
        RouteTarget::Daemon => Ok(None),
    }
}

/// What the headers say of a change: who makes it, `Idempotency-Key`, and the LSN of `If-Match`.
fn set_options(
    call: &RestCall,
    rpc: &RouteCall,
    message: &mut DynamicMessage,
    lsn: Option<u64>,
) -> Result<()> {
    let has_own_key = message.descriptor().get_field_by_name("idempotency_key");
    let given = call.repeatable();
    let (agent, mut request_id) = (given.agent, given.request_id);
    if let (Some(_), Some(key)) = (has_own_key, &call.key) {
        set_text(message, "idempotency_key", key, "Idempotency-Key")?;
        request_id.clear();
    }
    let Some(field) = message.descriptor().get_field_by_name("options") else {
        call.conditions
            .check_unmatched("this call has no such condition: leave it out")?;
        let permission = calls::call(rpc.path).map(|call| call.permission);
        if !request_id.is_empty() && permission != Some(Permission::Read) {
            let why = "this call is executed each time that it is sent: leave it out";
            return Err(Refusal::invalid("idempotency-key", why));
        }
        return Ok(());
    };
    if agent.is_empty() && request_id.is_empty() && lsn.is_none() {
        return Ok(());
    }
    let Field::Message(mut options) = message.get_field(&field).into_owned() else {
        return Err(Refusal::internal("the options are no message"));
    };
    for (field, text, header) in [
        ("agent", agent, "x-amem-agent"),
        ("request_id", request_id, "idempotency-key"),
    ] {
        if !text.is_empty() {
            set_text(&mut options, field, &text, header)?;
        }
    }
    if let Some(lsn) = lsn {
        options.set_field_by_name("expected_lsn", Field::U64(lsn));
    }
    message.set_field(&field, Field::Message(options));
    Ok(())
}

/// The answer of a call, whose message has these bytes. A large one is made on a thread that may wait: it would keep
/// one from other callers.
pub(super) async fn answered(rpc: &RouteCall, bytes: Vec<u8>) -> Result<Output> {
    let name = rpc.response;
    let json = match bytes.len() < HTTP_JSON_BYTES_AT_ONCE {
        true => message::encoded(name, &bytes)?,
        false => waiting(move || message::encoded(name, &bytes)).await??,
    };
    Ok(Output::json_bytes(json))
}
