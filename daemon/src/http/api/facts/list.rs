//! Listing memories, all at once or by numbered pages.
//!
//! FactService has pages with tokens and no total. A numbered page is found, and the total counted, by going through
//! the pages before and behind it, up to `HTTP_COUNTED_MAX` memories; beyond it the total is a lower bound, and the
//! answer says so (`X-Amem-Count: at-least`).

use amem_facts::limits::FACT_PAGE_MAX;
use amem_proto::answer::Code;
use amem_proto::v1;
use prost::Message;
use serde_json::{Value, json};

use super::super::call::RestCall;
use super::super::output::Output;
use super::shapes::memories;
use crate::limits::{HTTP_ANSWER_BYTES_MAX, HTTP_COUNTED_MAX, HTTP_LISTED_MAX};
use crate::refusal::{Refusal, Result};

/// Memories of a page, unless the request says how many.
const PAGE: u32 = 100;

/// A page, with the total and the URLs of its neighbours.
pub(in super::super) async fn page(call: &mut RestCall) -> Result<Output> {
    let (page, size) = asked_page(call)?;
    numbered(call, page.unwrap_or(1), size.unwrap_or(PAGE)).await
}

/// The newest memories; a page if one is asked for.
pub(in super::super) async fn list(call: &mut RestCall) -> Result<Output> {
    let is_bare = call.wants_bare_list()?;
    let (page, size) = asked_page(call)?;
    if page.is_some() || size.is_some() {
        return numbered(call, page.unwrap_or(1), size.unwrap_or(PAGE)).await;
    }
    let limit = call.options.count_of(&["limit", "top_k"])?.unwrap_or(PAGE);
    let request = request(call)?;
    let (facts, _) = first(call, request, limit as usize).await?;
    let results = memories(&facts)?;
    Ok(match is_bare {
        true => Value::from(results).into(),
        false => json!({"results": results}).into(),
    })
}

fn asked_page(call: &mut RestCall) -> Result<(Option<u32>, Option<u32>)> {
    Ok((
        call.options.count("page")?,
        call.options.count("page_size")?,
    ))
}

fn request(call: &mut RestCall) -> Result<v1::ListFactsRequest> {
    Ok(v1::ListFactsRequest {
        brain: call.brain.clone(),
        scope: call.options.scope()?,
        filter_json: call.options.selection()?,
        at: call.options.time("at")?,
        ..v1::ListFactsRequest::default()
    })
}

/// The first memories of a request, at most `limit`, and whether there are more. An error if they are too many for one
/// answer.
pub(super) async fn first(
    call: &RestCall,
    mut request: v1::ListFactsRequest,
    limit: usize,
) -> Result<(Vec<v1::Fact>, bool)> {
    if limit > HTTP_LISTED_MAX {
        let message = format!(
            "{limit} memories are too many for one answer, {HTTP_LISTED_MAX} are the most: ask for pages"
        );
        return Err(Refusal::new(Code::InvalidArgument, "ANSWER_SIZE", message));
    }
    let (mut facts, mut bytes) = (Vec::new(), 0);
    while facts.len() < limit {
        request.page_size = (limit - facts.len()).min(FACT_PAGE_MAX) as u32;
        let answer = call.fact(request.clone()).await?;
        bytes += answer.encoded_len();
        if bytes > HTTP_ANSWER_BYTES_MAX {
            let message = format!(
                "the memories have more than {HTTP_ANSWER_BYTES_MAX} bytes, the limit: ask for pages"
            );
            return Err(Refusal::new(Code::InvalidArgument, "ANSWER_SIZE", message));
        }
        facts.extend(answer.facts);
        if answer.next_page_token.is_empty() {
            return Ok((facts, false));
        }
        request.page_token = answer.next_page_token;
    }
    Ok((facts, true))
}

async fn numbered(call: &mut RestCall, page: u32, size: u32) -> Result<Output> {
    let size = size.min(FACT_PAGE_MAX as u32);
    let mut request = request(call)?;
    request.page_size = FACT_PAGE_MAX as u32;
    let start = u64::from(page - 1) * u64::from(size);
    let wanted = start..start + u64::from(size);
    let (mut facts, mut count, mut is_whole) = (Vec::new(), 0_u64, false);
    while !is_whole && (count < wanted.end || count < HTTP_COUNTED_MAX as u64) {
        let answer = call.fact(request.clone()).await?;
        for fact in answer.facts {
            if wanted.contains(&count) {
                facts.push(fact);
            }
            count += 1;
        }
        is_whole = answer.next_page_token.is_empty();
        request.page_token = answer.next_page_token;
    }
    let has_next = wanted.end < count || !is_whole;
    let answer = json!({
        "count": count,
        "next": has_next.then(|| call.page_url(page + 1)),
        "previous": (page > 1).then(|| call.page_url(page - 1)),
        "results": memories(&facts)?,
    });
    let output = Output::from(answer);
    Ok(match is_whole {
        true => output,
        false => output.with("x-amem-count", "at-least"),
    })
}
