//! One memory: its state, its changes, its history.

use amem_proto::answer::Code;
use amem_proto::v1;
use prost::Message;
use serde_json::json;

use super::super::call::RestCall;
use super::super::conditions::memory_tag;
use super::super::output::Output;
use super::shapes;
use crate::limits::HTTP_ANSWER_BYTES_MAX;
use crate::refusal::{Refusal, Result};

pub(in super::super) async fn get(call: &mut RestCall) -> Result<Output> {
    let request = v1::GetFactRequest {
        brain: call.brain.clone(),
        id: call.param(0)?.to_owned(),
        scope: call.options.scope()?,
        as_of: None,
        ..Default::default()
    };
    let fact = call.fact(request).await?.fact.unwrap_or_default();
    let output = Output::from(shapes::memory(&fact)?);
    Ok(call.conditions.tagged(output, &memory_tag(&fact)))
}

pub(in super::super) async fn update(call: &mut RestCall) -> Result<Output> {
    let metadata = call.options.object("metadata")?;
    let text = call.options.text_of(&["text", "data", "memory"])?;
    if text.is_none() && metadata.is_none() {
        let why = "there is nothing to change: send text, metadata or both";
        return Err(Refusal::invalid("text", why));
    }
    let request = v1::UpdateFactRequest {
        brain: call.brain.clone(),
        id: call.param(0)?.to_owned(),
        scope: call.options.scope()?,
        text,
        metadata_json: metadata.map(|metadata| metadata.to_string()),
        expected_text: call.options.text("expected_text")?,
        options: Some(call.repeatable()),
        ..Default::default()
    };
    let fact = call.fact(request).await?.fact.unwrap_or_default();
    let mut item = shapes::memory(&fact)?;
    item["message"] = "Memory updated successfully!".into();
    Ok(item.into())
}

pub(in super::super) async fn delete(call: &mut RestCall) -> Result<Output> {
    let request = v1::DeleteFactRequest {
        brain: call.brain.clone(),
        id: call.param(0)?.to_owned(),
        scope: call.options.scope()?,
        options: Some(call.repeatable()),
        ..Default::default()
    };
    call.fact(request).await?;
    Ok(json!({"message": "Memory deleted successfully!"}).into())
}

pub(in super::super) async fn history(call: &mut RestCall) -> Result<Output> {
    let (id, scope) = (call.param(0)?.to_owned(), call.options.scope()?);
    let mut request = v1::GetFactHistoryRequest {
        brain: call.brain.clone(),
        id: id.clone(),
        scope: scope.clone(),
        ..v1::GetFactHistoryRequest::default()
    };
    let (mut records, mut bytes) = (Vec::new(), 0);
    loop {
        let page = call.fact(request.clone()).await?;
        bytes += page.encoded_len();
        if bytes > HTTP_ANSWER_BYTES_MAX {
            let message = format!(
                "the history has more than {HTTP_ANSWER_BYTES_MAX} bytes, the limit: read it with `amemctl fact history`"
            );
            return Err(Refusal::new(Code::InvalidArgument, "ANSWER_SIZE", message));
        }
        records.extend(page.records);
        if page.next_page_token.is_empty() {
            break;
        }
        request.page_token = page.next_page_token;
    }
    // Records do not say whose they are. A memory that ended has no state to ask.
    let get = v1::GetFactRequest {
        brain: call.brain.clone(),
        id: id.clone(),
        scope,
        as_of: None,
        ..Default::default()
    };
    let user = match call.fact(get).await {
        Ok(answer) => answer.fact.and_then(|fact| fact.scope?.user),
        Err(refusal) if refusal.reason == "DELETED" || refusal.reason == "UNKNOWN_MEMORY" => None,
        Err(refusal) => return Err(refusal),
    };
    // Feedback changes no text: clients know three events.
    let versions = records
        .iter()
        .filter(|record| record.event() != v1::FactEvent::Feedback);
    let versions = versions.map(|record| shapes::record(record, &id, user.as_deref()));
    Ok(json!(versions.collect::<Result<Vec<_>>>()?).into())
}
