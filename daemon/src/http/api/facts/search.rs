//! Searching memories: those that were formed, and what was said, unless one that was found says it.

use amem_mcp::commands::with_said;
use amem_proto::v1;
use serde_json::{Value, json};

use super::super::call::RestCall;
use super::super::output::Output;
use super::shapes::hit;
use crate::calls::caller_memory::CallerMemory;
use crate::refusal::{Refusal, Result};

pub(in super::super) async fn search(call: &mut RestCall) -> Result<Output> {
    let is_bare = call.wants_bare_list()?;
    let query = call.options.text_of(&["query", "q"])?;
    let query =
        query.ok_or_else(|| Refusal::invalid("query", "it is missing: say what to look for"))?;
    let threshold = call.options.number("threshold")?.unwrap_or(0.0);
    let request = v1::SearchFactsRequest {
        brain: call.brain.clone(),
        query,
        scope: call.options.scope()?,
        filter_json: call.options.selection()?,
        limit: call.options.count_of(&["limit", "top_k"])?.unwrap_or(0),
        threshold: threshold as f32,
        at: call.options.time("at")?,
        graph: call.options.switch("enable_graph")?.unwrap_or(false),
        ..v1::SearchFactsRequest::default()
    };
    let hits = call.fact(request.clone()).await?.hits;
    let calls = CallerMemory::new(&call.site.gateway, &call.caller);
    let hits = with_said(&calls, &request, hits).await?;
    let results = hits.iter().map(hit).collect::<Result<Vec<_>>>()?;
    Ok(match is_bare {
        true => Value::from(results).into(),
        false => json!({"results": results}).into(),
    })
}
