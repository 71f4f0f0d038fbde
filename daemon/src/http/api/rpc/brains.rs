//! Brains by GET.

use amem_proto::v1;
use prost::Message;

use super::super::call::RestCall;
use super::super::conditions::brain_tag;
use super::super::output::Output;
use super::super::route::RouteCall;
use super::request::{answered, request_of_query};
use crate::refusal::Result;

/// A page of the brains.
pub(super) async fn list(call: &mut RestCall, rpc: &RouteCall) -> Result<Output> {
    let request: v1::ListBrainsRequest = request_of_query(call, rpc).await?;
    let answer = call.site.gateway.call_as(&call.caller, request).await?;
    answered(rpc, answer.encode_to_vec()).await
}

/// A brain, with the tag of its state.
pub(super) async fn get(call: &mut RestCall, rpc: &RouteCall) -> Result<Output> {
    let request: v1::GetBrainRequest = request_of_query(call, rpc).await?;
    let answer = call.site.gateway.call_as(&call.caller, request).await?;
    let output = answered(rpc, answer.encode_to_vec()).await?;
    Ok(match &answer.moment {
        Some(moment) => call.conditions.tagged(output, &brain_tag(moment)),
        None => output,
    })
}
