//! One request that was admitted, from its head to its answer.
//!
//! In this order: its body, its options, the handler. Promises: every answer is typed. Not here: how connections are
//! served, and what stands around each request (`gateway`, `head_guard`), what handlers do (`facts`).

use std::sync::Arc;

use amem_proto::answer::Code;
use axum::body::Body;
use hyper::header::{HeaderName, HeaderValue};
use hyper::http::request::Parts;
use hyper::{Request, Response};
use serde_json::Map;

use super::body::{receive, waiting};
use super::call::{RestCall, RestInput, RestSite};
use super::encoding::Rest;
use super::hooks;
use super::json;
use super::mcp;
use super::options::Options;
use super::output::{Output, OutputBody};
use super::route::{RouteInput, RouteOf};
use crate::auth::Caller;
use crate::calls::AnswerLease;
use crate::gateway::{CallProgress, ConnectionInfo, Encoding};
use crate::ingress::Peer;
use crate::ingress::load::CallSlot;
use crate::limits::{
    HTTP_ANSWER_BYTES_MAX, HTTP_IGNORED_NAMES_MAX, HTTP_JSON_BYTES_AT_ONCE, HTTP_JSON_VALUE_BYTES,
};
use crate::refusal::{Refusal, Result};

/// What the guards of the gateway give a request.
struct RestAdmission {
    of: RouteOf,
    caller: Caller,
    slot: CallSlot,
    is_tls: bool,
}

impl RestAdmission {
    fn of(head: &Parts) -> Option<Self> {
        let get = &head.extensions;
        let peer = &get.get::<ConnectionInfo>()?.peer;
        Some(Self {
            of: get.get::<RouteOf>()?.clone(),
            caller: get.get::<Caller>()?.clone(),
            slot: get.get::<CallSlot>()?.clone(),
            is_tls: matches!(peer, Peer::Tcp { tls: true, .. }),
        })
    }
}

/// The header that names the options that were ignored.
const IGNORED: HeaderName = HeaderName::from_static("x-amem-ignored");

/// Answers a request.
pub(super) async fn respond(site: Arc<RestSite>, request: Request<Body>) -> Response<Body> {
    let (mut head, body) = request.into_parts();
    let progress = CallProgress::of(&Rest, &mut head);
    let Some(admitted) = RestAdmission::of(&head) else {
        let refusal = Refusal::internal("the request did not pass ingress");
        return Rest.refused(refusal, &progress);
    };
    let caller = admitted.caller.clone();
    let mut names = Vec::new();
    let done = run(&site, admitted, (&head, body), &progress, &mut names).await;
    let done = done.and_then(|output| fitted(&site, &caller, &progress, output));
    let mut answer = match done {
        Ok((output, lease)) => {
            let mut answer = output.packed(&head.headers).await.into_response();
            if let Some(lease) = lease {
                answer.extensions_mut().insert(lease);
            }
            answer
        }
        Err(refusal) => {
            tracing::debug!(reason = &*refusal.reason, "refused a request");
            Rest.refused(refusal, &progress)
        }
    };
    if let Some(names) = ignored(&names) {
        answer.headers_mut().insert(IGNORED, names);
    }
    answer
}

/// Reads a request, and executes it; `ignored` gets the names of the options that it does not know.
async fn run(
    site: &Arc<RestSite>,
    admitted: RestAdmission,
    (head, body): (&Parts, Body),
    progress: &CallProgress,
    ignored: &mut Vec<String>,
) -> Result<Output> {
    let RestAdmission {
        of: RouteOf { route, params },
        caller,
        slot,
        is_tls,
    } = admitted;
    let held = slot.bytes().clone();
    let mut bytes = receive(&head.headers, body, &held).await?;
    let (object, values) = match bytes.is_empty() {
        true => Default::default(),
        false if bytes.len() < HTTP_JSON_BYTES_AT_ONCE => json::object(&bytes)?,
        // A large one would keep a thread from other callers.
        false => {
            let (read, whole) = waiting(move || (json::object(&bytes), bytes)).await?;
            bytes = whole;
            read?
        }
    };
    held.hold((bytes.len() + values * HTTP_JSON_VALUE_BYTES) as u64)?;
    if route.is_mcp() {
        progress.begin();
        return mcp::answer(&site.gateway, &caller, head, &params?, bytes.into()).await;
    }
    if route.is_hook() {
        progress.begin();
        let params = params?;
        return hooks::answer(&site.gateway, &caller, head, params.first(), &object).await;
    }
    let (options, body) = match route.input {
        RouteInput::Options(_) => (Options::new(&head.uri, object)?, Map::new()),
        RouteInput::Message(_) => (Options::new(&head.uri, Map::new())?, object),
    };
    let input = RestInput {
        params: params?,
        options,
        body,
        slot,
    };
    let mut call = RestCall::new(site, caller, head, input, (route.form, is_tls))?;
    if matches!(route.input, RouteInput::Options(_)) && progress.is_change {
        let instead = "changes of memories have no such condition: send expected_text";
        call.conditions.check_unmatched(instead)?;
    }
    progress.begin();
    let output = (route.run)(&mut call).await;
    *ignored = call.options.into_names();
    output
}

/// Counts the bytes of an answer as it is before it is packed; an error if it is too large, or there is no room for it.
/// A change that was executed is answered in any case.
fn fitted(
    site: &RestSite,
    caller: &Caller,
    progress: &CallProgress,
    output: Output,
) -> Result<(Output, Option<AnswerLease>)> {
    let OutputBody::Whole(body) = &output.body else {
        // The messages of a stream are counted one by one.
        return Ok((output, None));
    };
    let bytes = body.len();
    if progress.is_change {
        return Ok((output, None));
    }
    if bytes > HTTP_ANSWER_BYTES_MAX {
        let message = format!(
            "the answer has {bytes} bytes, {HTTP_ANSWER_BYTES_MAX} are the most: ask for fewer memories"
        );
        return Err(Refusal::new(Code::InvalidArgument, "ANSWER_SIZE", message));
    }
    let lease = site.gateway.answers_to(caller).lease_bytes(bytes)?;
    Ok((output, lease))
}

/// The names of ignored options as a header, as far as a header can have them.
fn ignored(names: &[String]) -> Option<HeaderValue> {
    let is_plain = |name: &&String| {
        let good = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
        !name.is_empty() && name.len() <= 64 && name.chars().all(good)
    };
    let names: Vec<_> = names
        .iter()
        .filter(is_plain)
        .take(HTTP_IGNORED_NAMES_MAX)
        .cloned()
        .collect();
    if names.is_empty() {
        return None;
    }
    HeaderValue::from_str(&names.join(", ")).ok()
}
