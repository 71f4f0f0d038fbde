//! One request from its head to its answer.
//!
//! In this order: what a web page or a hostile proxy may have done to it, admission (`ingress`), its body, its options,
//! the handler. Promises: every answer to a request whose head hyper could read is typed; a refused request is answered
//! before its body is read; a request holds its slot until its answer is read; a defect in a handler is an answer.
//! Not here: how connections are served (`server`), what handlers do (`facts`).

use std::sync::Arc;
use std::time::Instant;

use amem_engine::tasks::{TaskPanic, caught};
use amem_proto::answer::Code;
use axum::body::Body;
use hyper::header::{HeaderName, HeaderValue, ORIGIN};
use hyper::http::request::Parts;
use hyper::{Request, Response};
use serde_json::Map;
use tracing::{Instrument, field};

use super::body::{AnswerBody, AnswerHold, UnreadAnswers, receive, waiting};
use super::call::{RestCall, RestInput, RestSite};
use super::cors;
use super::errors;
use super::framing::{LengthLines, too_large};
use super::hooks;
use super::json;
use super::mcp;
use super::options::Options;
use super::output::{Output, OutputBody};
use super::route::{Rest, Route, RouteInput, RouteOf};
use super::rpc::EventBody;
use crate::auth::Caller;
use crate::grpc::{REQUEST_NAME, request_name};
use crate::ingress::Peer;
use crate::ingress::admission::{Admission, AdmittedRequest};
use crate::ingress::authorization::RequestAuthorization;
use crate::ingress::deadline::Deadline;
use crate::ingress::latency::CallTimer;
use crate::ingress::session::SessionState;
use crate::limits::{
    HTTP_ANSWER_BYTES_MAX, HTTP_HEADERS_MAX, HTTP_IGNORED_NAMES_MAX, HTTP_JSON_BYTES_AT_ONCE,
    HTTP_JSON_VALUE_BYTES,
};
use crate::refusal::{Refusal, Result};

/// What every request of a connection carries among its extensions.
#[derive(Debug, Clone)]
pub(super) struct RestPeer {
    pub(super) peer: Peer,
    pub(super) session: Arc<SessionState>,
    pub(super) source: u64,
    /// Of a connection of HTTP/1.
    pub(super) lines: Option<Arc<LengthLines>>,
    pub(super) answers: Arc<UnreadAnswers>,
}

/// Serves requests.
#[derive(Debug, Clone)]
pub(super) struct RestService {
    pub(super) site: Arc<RestSite>,
    pub(super) admission: Admission,
}

/// What a request has come to when it is answered.
#[derive(Debug, Default)]
struct Progress {
    /// Once it is admitted.
    caller: Option<Caller>,
    is_change: bool,
    /// True once the handler runs.
    has_begun: bool,
    ignored: Vec<String>,
    hold: AnswerHold,
    /// What ends its answer, if that is a stream.
    ends: Option<(RequestAuthorization, Option<Deadline>)>,
}

/// The header that names the options that were ignored.
const IGNORED: HeaderName = HeaderName::from_static("x-amem-ignored");

impl RestService {
    /// Answers a request of this route.
    pub(super) async fn serve(
        self,
        route: &'static Route,
        params: Result<Vec<String>>,
        request: Request<Body>,
    ) -> Response<Body> {
        let name = request_name(request.headers());
        let (method, path) = (
            route.method,
            route.paths.first().copied().unwrap_or("other"),
        );
        let request_id = name.to_str().unwrap_or_default();
        // Admission records the principal. The path is that of the route: the one of the request has ids.
        let span = tracing::error_span!("call", method, path, request_id, principal = field::Empty);
        let (mut head, body) = request.into_parts();
        head.extensions.insert(RouteOf(route));
        let began = Instant::now();
        let answered = async move {
            let mut answer = self.answer(route, params, &head, body).await;
            tracing::debug!(status = answer.status().as_u16(), took = ?began.elapsed(), "answered");
            answer.headers_mut().insert(REQUEST_NAME, name);
            let live = self.site.gateway.control.live();
            cors::allow(&live.origins, &head.headers, answer.headers_mut());
            answer
        };
        amem_engine::polls::named(format!("{method} {path}"), answered.instrument(span)).await
    }

    async fn answer(
        &self,
        route: &'static Route,
        params: Result<Vec<String>>,
        head: &Parts,
        body: Body,
    ) -> Response<Body> {
        let Some(peer) = head.extensions.get::<RestPeer>() else {
            let refusal = Refusal::internal("the request did not pass ingress");
            let (status, value) = errors::error(&refusal, false, false);
            return Output::json(status, &value)
                .into_response(Progress::default(), &Arc::default());
        };
        let mut timer = route
            .call()
            .map(|call| CallTimer::begin(&self.site.sources.latencies, call));
        let mut progress = Progress {
            is_change: route.is_change(),
            ..Progress::default()
        };
        let work = self.run(route, params, (head, body), peer, &mut progress);
        let done = caught(work).await.unwrap_or_else(|TaskPanic| {
            tracing::error!(path = route.paths.first(), "a defect stopped a request");
            let why = "a defect stopped this request; see the log of amemd";
            Err(Refusal::internal(why))
        });
        let done = done.and_then(|output| self.fitted(output, &mut progress));
        let mut output = match done {
            Ok(output) => {
                progress.hold.timer = timer;
                output.packed(&head.headers).await
            }
            Err(refusal) => {
                tracing::debug!(reason = &*refusal.reason, "refused a request");
                if let Some(timer) = &mut timer {
                    timer.end(Some(&refusal.reason));
                }
                let (status, value) =
                    errors::error(&refusal, progress.is_change, progress.has_begun);
                let mut output = Output::json(status, &value);
                output.headers.extend(errors::headers(&refusal));
                output
            }
        };
        if let Some(names) = ignored(&progress.ignored) {
            output.headers.insert(IGNORED, names);
        }
        output.into_response(progress, &peer.answers)
    }

    /// Checks, admits and reads a request, and executes it.
    async fn run(
        &self,
        route: &'static Route,
        params: Result<Vec<String>>,
        (head, body): (&Parts, Body),
        peer: &RestPeer,
        progress: &mut Progress,
    ) -> Result<Output> {
        self.check_head(head, peer)?;
        if cors::is_preflight(head) {
            return Ok(cors::preflight());
        }
        let mut admitted =
            self.admission
                .admit::<Rest>(head, &peer.peer, Some(peer.source), &peer.session)?;
        let AdmittedRequest {
            caller,
            requirement,
            ..
        } = &admitted;
        let (caller, bytes_max) = (caller.clone(), requirement.request_bytes_max);
        progress.caller = Some(caller.clone());
        let slot = admitted.slot.clone();
        let held = slot.bytes().clone();
        let wait = self.site.gateway.control.live().limits.body_after();
        let work = async {
            let mut bytes = receive(&head.headers, body, bytes_max, &held, wait).await?;
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
                progress.has_begun = true;
                return mcp::answer(&self.site.gateway, &caller, head, &params?, bytes.into())
                    .await;
            }
            if route.is_hook() {
                progress.has_begun = true;
                let params = params?;
                return hooks::answer(&self.site.gateway, &caller, head, params.first(), &object)
                    .await;
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
            let is_tls = matches!(peer.peer, Peer::Tcp { tls: true, .. });
            let form = (route.form, is_tls);
            let mut call = RestCall::new(&self.site, caller, head, input, form)?;
            if matches!(route.input, RouteInput::Options(_)) && progress.is_change {
                let instead = "changes of memories have no such condition: send expected_text";
                call.conditions.check_unmatched(instead)?;
            }
            progress.has_begun = true;
            let output = (route.run)(&mut call).await;
            progress.ignored = call.options.into_names();
            output
        };
        let done = admitted.run(work).await;
        progress.hold.slot = Some(admitted.slot);
        progress.ends = Some((admitted.authorization, admitted.deadline));
        done?
    }

    /// Refuses a head that is too large, requests of foreign web pages, and a body whose length is in doubt.
    fn check_head(&self, head: &Parts, peer: &RestPeer) -> Result<()> {
        if head.headers.len() > HTTP_HEADERS_MAX {
            return Err(Refusal::new(
                Code::InvalidArgument,
                "HEAD_SIZE",
                too_large(),
            ));
        }
        let lines = peer.lines.as_ref();
        if lines.is_some_and(|lines| !lines.is_clear(&head.headers)) {
            let message = "the request has content-length and transfer-encoding: send one of them";
            return Err(Refusal::new(Code::InvalidArgument, "FRAMING", message));
        }
        let live = self.site.gateway.control.live();
        match head.headers.get(ORIGIN) {
            Some(origin) if !live.origins.allow(origin.as_bytes()) => {
                let message = "a web page of another origin makes this request: add its origin to http.origins, or call \
                               from a program";
                Err(Refusal::new(Code::PermissionDenied, "ORIGIN", message))
            }
            _ => Ok(()),
        }
    }

    /// Counts the bytes of an answer as it is before it is packed; an error if it is too large, or there is no room for
    /// it. A change that was executed is answered in any case.
    fn fitted(&self, output: Output, progress: &mut Progress) -> Result<Output> {
        let OutputBody::Whole(body) = &output.body else {
            // The messages of a stream are counted one by one.
            return Ok(output);
        };
        let bytes = body.len();
        let Some(caller) = progress.caller.as_ref().filter(|_| !progress.is_change) else {
            return Ok(output);
        };
        if bytes > HTTP_ANSWER_BYTES_MAX {
            let message = format!(
                "the answer has {bytes} bytes, {HTTP_ANSWER_BYTES_MAX} are the most: ask for fewer memories"
            );
            return Err(Refusal::new(Code::InvalidArgument, "ANSWER_SIZE", message));
        }
        let budget = self.site.gateway.answers_to(caller);
        progress.hold.lease = budget.lease_bytes(bytes)?;
        Ok(output)
    }
}

impl Output {
    fn into_response(self, progress: Progress, answers: &Arc<UnreadAnswers>) -> Response<Body> {
        let Progress { hold, ends, .. } = progress;
        let answers = answers.clone();
        let body = match (self.body, ends) {
            (OutputBody::Whole(bytes), _) => Body::new(AnswerBody::new(bytes, hold, answers)),
            (OutputBody::Events(messages), Some((authorization, deadline))) => {
                let body = EventBody::new(messages, authorization, deadline, hold, answers);
                Body::new(body)
            }
            // Only a request that was admitted has a subscription.
            (OutputBody::Events(_), None) => Body::empty(),
        };
        let mut response = Response::new(body);
        *response.status_mut() = self.status;
        *response.headers_mut() = self.headers;
        response
    }
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
