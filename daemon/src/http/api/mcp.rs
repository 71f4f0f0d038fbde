//! The Model Context Protocol on `/mcp` and `/mcp/{brain}`: streamable HTTP, each request by itself.
//!
//! A request has passed admission and its body the reader of JSON, like every other; each call of fact memory that a
//! tool makes is authorized again, with the role that the call needs. Not here: tools and their answers (`amem_mcp`).

use std::sync::Arc;

use amem_host::project::{Project, user_of};
use amem_mcp::rmcp::model::Extensions;
use amem_mcp::{
    CompatSet, MemoryPlace, MemoryServer, MemorySource, OpenMemory, ProjectName, answer_http,
};
use axum::body::{Body, Bytes, to_bytes};
use hyper::Request;
use hyper::http::request::Parts;

use super::call::RestCall;
use super::output::{Output, OutputBody};
use super::route::Route;
use crate::auth::Caller;
use crate::brains::blocking;
use crate::calls::Gateway;
use crate::calls::caller_memory::CallerMemory;
use crate::limits::{HTTP_ANSWER_BYTES_MAX, HTTP_BODY_BYTES_MAX};
use crate::refusal::{Refusal, Result};

/// The paths.
pub(super) const PATHS: &[&str] = &["/mcp", "/mcp/{brain}"];
/// The header that names the project; without it only the user's memory is there.
const PROJECT: &str = "x-amem-project";
/// What a caller does who named no project.
const NAMING: &str = "send the header X-Amem-Project, such as \"X-Amem-Project: acme/shop\" (\"amemctl project show\" prints \
                      a folder's)";
/// The header that names the user, for callers whose token has none.
const USER: &str = "x-amem-user";
/// The header that names the brain, if the path does not.
const BRAIN: &str = "x-amem-brain";
/// The option of the URL that adds the tools of other servers.
const COMPAT: &str = "compat";

impl Route {
    /// True if the body is a message of the protocol.
    pub(super) fn is_mcp(&self) -> bool {
        self.paths == PATHS
    }
}

/// The row needs a handler; `answer` is called instead, with the bytes of the body.
pub(super) async fn unread(_call: &mut RestCall) -> Result<Output> {
    Err(Refusal::internal(
        "a message of MCP came to the handler of options",
    ))
}

/// Answers a message.
pub(super) async fn answer(
    gateway: &Arc<Gateway>,
    caller: &Caller,
    head: &Parts,
    params: &[String],
    bytes: Bytes,
) -> Result<Output> {
    let place = place(gateway, caller, head, params.first()).await?;
    let compat = compat(head.uri.query().unwrap_or_default())?;
    let source = DoorSource {
        gateway: gateway.clone(),
        caller: caller.clone(),
        place,
    };
    let server = move || {
        let (source, compat) = (source.clone(), compat.clone());
        MemoryServer::new(source, compat, env!("CARGO_PKG_VERSION"))
    };
    let mut request = Request::new(Body::from(bytes));
    *request.method_mut() = head.method.clone();
    *request.uri_mut() = head.uri.clone();
    *request.headers_mut() = head.headers.clone();
    // Host and Origin are checked by the door, for all routes alike.
    let answer = answer_http(Box::new(server), HTTP_BODY_BYTES_MAX, request).await;
    let (head, body) = answer.into_parts();
    let body = to_bytes(body, HTTP_ANSWER_BYTES_MAX).await;
    let body =
        body.map_err(|why| Refusal::internal(format!("the answer cannot be read: {why}")))?;
    Ok(Output {
        status: head.status,
        headers: head.headers,
        body: OutputBody::Whole(body),
    })
}

/// Whose memory a request is about, by its headers and its caller.
pub(super) async fn place(
    gateway: &Gateway,
    caller: &Caller,
    head: &Parts,
    path_brain: Option<&String>,
) -> Result<MemoryPlace> {
    let header = |name: &str| {
        let value = head.headers.get(name).map(|value| value.to_str());
        let value = value.transpose();
        let value = value.map_err(|_| Refusal::invalid(name, "it must be text in ASCII"))?;
        Ok::<_, Refusal>(
            value
                .map(str::trim)
                .filter(|value| !value.is_empty())
                .map(str::to_owned),
        )
    };
    let brain = match (path_brain, header(BRAIN)?) {
        (Some(path), Some(named)) if *path != named => {
            return Err(Refusal::invalid(BRAIN, "the path names another: name one"));
        }
        (Some(path), _) => path.clone(),
        (None, named) => named.unwrap_or_default(),
    };
    let project = header(PROJECT)?
        .map(|name| Project::named(&name))
        .transpose();
    let project = project.map_err(|why| Refusal::invalid(PROJECT, why))?;
    let of_token = caller.scope.as_ref().and_then(|scope| scope.user.clone());
    let uid = caller
        .user
        .map_or_else(|| rustix::process::geteuid().as_raw(), |(uid, _)| uid);
    let user = match of_token.or(header(USER)?) {
        Some(user) => user,
        None => blocking(move || user_of(uid)).await?,
    };
    Ok(MemoryPlace {
        brain,
        project: project.map(|project| ProjectName {
            id: project.id,
            earlier_ids: project.earlier_ids,
            label: project.label,
        }),
        user,
        zone: gateway.control.live().zone.clone(),
        naming: Some(NAMING),
        notice: None,
    })
}

fn compat(query: &str) -> Result<Vec<CompatSet>> {
    let option = query
        .split('&')
        .find_map(|option| option.strip_prefix(COMPAT)?.strip_prefix('='));
    let names = option
        .unwrap_or_default()
        .split(',')
        .filter(|name| !name.is_empty());
    let set = |name: &str| {
        let found = CompatSet::NAMES.iter().find(|(known, _)| *known == name);
        found.map(|(_, set)| *set).ok_or_else(|| {
            Refusal::invalid(
                COMPAT,
                format!("unknown tools {name:?}: use mem0, memory or openai"),
            )
        })
    };
    names.map(set).collect()
}

/// The memory of one request.
#[derive(Debug, Clone)]
struct DoorSource {
    gateway: Arc<Gateway>,
    caller: Caller,
    place: MemoryPlace,
}

impl MemorySource for DoorSource {
    type Calls = CallerMemory;

    async fn open(
        &self,
        _extensions: &Extensions,
    ) -> std::result::Result<OpenMemory<CallerMemory>, String> {
        Ok(OpenMemory {
            calls: CallerMemory::new(&self.gateway, &self.caller),
            place: self.place.clone(),
        })
    }
}
