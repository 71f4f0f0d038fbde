//! Subscribing to the commits of a brain as server-sent events.
//!
//! The id of an event is its LSN, so that a browser that connects again says where it was. Without `instance`, an LSN
//! is taken to be one of the brain that has the name now.

use amem_proto::v1;
use serde_json::Value;

use super::super::call::RestCall;
use super::super::output::Output;
use super::super::route::RouteCall;
use super::request::request_of_query;
use crate::calls::subscribe::follow;
use crate::refusal::{Refusal, Result};

/// The field of the request that says where to begin.
const AFTER_LSN: &str = "after_lsn";

pub(super) async fn subscribe(call: &mut RestCall, rpc: &RouteCall) -> Result<Output> {
    let after = after(call)?;
    let mut request: v1::SubscribeRequest = request_of_query(call, rpc).await?;
    if after.is_some() {
        request.after_lsn = after;
    }
    if request.instance.is_empty() && request.after_lsn.unwrap_or(0) > 0 {
        let gateway = &call.site.gateway;
        let brain = gateway.brains.get(&call.caller, &request.brain).await?;
        request.instance = brain.view().instance().to_string();
    }
    let answers = follow(&call.site.gateway, &call.caller, request).await?;
    Ok(Output::events(answers))
}

/// The LSN after which to begin, by the event that came last or by the option `after`. A client that connects again
/// repeats its URL: the event is the newer one.
fn after(call: &mut RestCall) -> Result<Option<u64>> {
    let parsed = |name: &str, text: &str| {
        let lsn = text.parse::<u64>();
        lsn.map_err(|_| Refusal::invalid(name, "it must be an LSN, the id of an event"))
    };
    let asked = match call.options.any("after") {
        None => None,
        Some(Value::String(text)) => Some(parsed("after", &text)?),
        Some(_) => return Err(Refusal::invalid("after", "it is there twice: send it once")),
    };
    if asked.is_some() && call.options.has(AFTER_LSN) {
        return Err(Refusal::invalid(AFTER_LSN, "after says the same: send one"));
    }
    match call.conditions.last_event.as_deref() {
        None | Some("") => Ok(asked),
        Some(last) => Ok(Some(parsed("last-event-id", last)?)),
    }
}
