//! REST, as the guards of the gateway see it.

use std::sync::Arc;
use std::time::Duration;

use amem_proto::answer::Code;
use axum::Error;
use axum::body::Body;
use http_body::Frame;
use hyper::Response;
use hyper::header::CONTENT_TYPE;
use hyper::http::request::Parts;
use hyper::http::{Extensions, HeaderMap, response};
use tracing::{Span, field};

use super::coding::too_large;
use super::errors;
use super::output::{EVENT_STREAM, Output, OutputBody};
use super::route::{Route, RouteOf};
use super::rpc::{EventBody, failure_event, part_kind};
use crate::config::Limits;
use crate::gateway::{
    BodyCounter, BodyStall, CallProgress, Encoding, EndFunction, PartKind, body_error, refusal_in,
};
use crate::ingress::admission::Protocol;
use crate::ingress::requirement::Requirement;
use crate::refusal::{Refusal, Result};

/// REST.
#[derive(Debug)]
pub(crate) struct Rest;

/// The header with the seconds that the caller gives a request.
const TIMEOUT: &str = "x-amem-timeout";

/// The reason of a refusal, among the extensions of its answer.
#[derive(Debug, Clone)]
struct FailureReason(String);

fn route(head: &Parts) -> Option<&'static Route> {
    head.extensions.get::<RouteOf>().map(|of| of.route)
}

/// Method and path of the route: the path of the request has ids.
fn method_and_path(head: &Parts) -> (&'static str, &'static str) {
    let route = route(head);
    let path = route.and_then(|route| route.paths.first().copied());
    (
        route.map_or("any", |route| route.method),
        path.unwrap_or("other"),
    )
}

impl Output {
    /// The answer, for the guards of the gateway.
    pub(super) fn into_response(self) -> Response<Body> {
        let body = match self.body {
            OutputBody::Whole(bytes) => Body::from(bytes),
            OutputBody::Events(messages) => Body::new(EventBody::new(messages)),
        };
        let mut response = Response::new(body);
        *response.status_mut() = self.status;
        *response.headers_mut() = self.headers;
        response
    }
}

impl Protocol for Rest {
    fn requirement(&self, head: &Parts) -> Result<Requirement> {
        let requirement = route(head).and_then(Route::requirement);
        requirement.ok_or_else(|| Refusal::internal("the request has no route"))
    }

    fn timeout(&self, head: &Parts) -> Result<Option<Duration>> {
        let Some(value) = head.headers.get(TIMEOUT) else {
            return Ok(None);
        };
        let seconds = value.to_str().ok().and_then(|text| text.parse().ok());
        let timeout = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        timeout.map(Some).ok_or_else(|| {
            let why = "the value must be seconds, such as 2.5";
            Refusal::new(
                Code::InvalidArgument,
                "INVALID",
                format!("{TIMEOUT}: {why}"),
            )
        })
    }
}

impl Encoding for Rest {
    fn name(&self, head: &Parts) -> Arc<str> {
        let (method, path) = method_and_path(head);
        format!("{method} {path}").into()
    }

    fn span(&self, head: &Parts, request_id: &str) -> Span {
        let (method, path) = method_and_path(head);
        tracing::error_span!("call", method, path, request_id, principal = field::Empty)
    }

    fn measured<'h>(&self, head: &'h Parts) -> Option<&'h str> {
        route(head).and_then(Route::call)
    }

    fn is_change(&self, head: &Parts) -> bool {
        route(head).is_some_and(Route::is_change)
    }

    fn refused(&self, refusal: Refusal, progress: &CallProgress) -> Response<Body> {
        let (status, value) = errors::error(&refusal, progress.is_change, progress.has_begun());
        let mut output = Output::json(status, &value);
        output.headers.extend(errors::headers(&refusal));
        let mut answer = output.into_response();
        let reason = FailureReason(refusal.0.reason.into());
        answer.extensions_mut().insert(reason);
        answer
    }

    fn end_of(&self, answer: &response::Parts) -> EndFunction {
        match answer.headers.get(CONTENT_TYPE) {
            Some(kind) if *kind == EVENT_STREAM => {
                |refusal| Ok(Frame::data(failure_event(&refusal)))
            }
            // Its head has been sent: the client must not take what it has for all.
            _ => |refusal| Err(body_error(refusal)),
        }
    }

    fn error(&self, refusal: Refusal) -> Error {
        body_error(refusal)
    }

    fn failure(&self, _: &HeaderMap, extensions: &Extensions) -> Option<String> {
        let reason = extensions.get::<FailureReason>();
        reason.map(|FailureReason(reason)| reason.clone())
    }

    fn failure_of(&self, error: &Error) -> String {
        let refusal = refusal_in(error);
        refusal.map_or_else(
            || "UNKNOWN".to_owned(),
            |refusal| refusal.reason.to_string(),
        )
    }

    fn part_kind(&self, data: &[u8]) -> PartKind {
        part_kind(data)
    }

    fn counter(&self, _: &Parts, requirement: &Requirement) -> Box<dyn BodyCounter> {
        Box::new(BodyLength {
            bytes: 0,
            bytes_max: requirement.request_bytes_max,
        })
    }

    fn stall(&self, _: &Parts, limits: &Limits) -> Option<BodyStall> {
        Some(BodyStall {
            max: limits.body_after(),
            refusal: too_slow,
        })
    }
}

fn too_slow(max: Duration) -> Refusal {
    let message = format!(
        "no further part of the body came within {max:?} (limits.body_millis): send it without pauses"
    );
    Refusal::new(Code::DeadlineExceeded, "BODY_TIMEOUT", message)
}

/// Counts a body, which is one message.
struct BodyLength {
    bytes: u64,
    bytes_max: u64,
}

impl BodyCounter for BodyLength {
    fn take(&mut self, data: &[u8]) -> Result<u64> {
        self.bytes = self.bytes.saturating_add(data.len() as u64);
        match self.bytes > self.bytes_max {
            true => Err(too_large(self.bytes_max)),
            false => Ok(self.bytes),
        }
    }

    fn decoded(&self) -> u64 {
        // What the values of JSON take is counted once they are read.
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;
    use std::future::poll_fn;
    use std::pin::Pin;

    use axum::body::HttpBody;
    use hyper::{Method, Request};
    use tower::Service;

    use super::super::routes;
    use crate::gateway::{LatencyGuard, guarded};
    use crate::ingress::latency::Latencies;
    use crate::ingress::methods;

    const SEARCH: &str = "/amem.v1.FactService/SearchFacts";

    #[tokio::test]
    async fn an_answer_counts_when_its_last_part_is_taken_and_one_cut_off_has_failed() {
        let latencies = Latencies::new(methods::all());
        let service = tower::service_fn(|request: Request<Body>| async move {
            let refusal = Refusal::invalid("x", "it must not be");
            let head = &mut request.into_parts().0;
            Ok::<_, Infallible>(match head.uri.path() {
                "/refused" => Rest.refused(refusal, &CallProgress::of(&Rest, head)),
                _ => Response::new(Body::from("{}")),
            })
        });
        let guard = LatencyGuard {
            latencies: latencies.clone(),
            encoding: &Rest,
        };
        let mut service = guarded(guard, service);
        let mut call = async |method, path: &str| {
            let route = routes::all().find(|route| route.call() == Some(SEARCH));
            let of = RouteOf {
                route: route.unwrap(),
                params: Ok(Vec::new()),
            };
            let request = Request::builder().method(method).uri(path).extension(of);
            let request = request.body(Body::empty()).unwrap();
            service.call(request).await.unwrap().into_body()
        };
        let counts = || {
            let rpc = latencies.page("", 1).0.remove(0).1;
            (rpc.micros.len(), rpc.errors, rpc.in_flight)
        };
        let mut read = call(Method::POST, "/").await;
        assert_eq!(counts(), (0, 0, 1));
        let part = poll_fn(|cx| Pin::new(&mut read).poll_frame(cx)).await;
        assert!(part.unwrap().is_ok() && read.is_end_stream());
        assert_eq!(counts(), (1, 0, 0));
        drop(read);
        // The body of an answer to HEAD is never read.
        drop(call(Method::HEAD, "/").await);
        assert_eq!(counts(), (2, 0, 0));
        drop(call(Method::POST, "/").await);
        assert_eq!(counts(), (3, 1, 0));
        drop(call(Method::POST, "/refused").await);
        assert_eq!(counts(), (4, 2, 0));
        let refused = latencies.refused();
        assert_eq!((refused["GONE"], refused["INVALID"]), (1, 1));
    }

    #[test]
    fn a_body_that_grows_beyond_its_limit_is_refused_where_it_does() {
        let mut length = BodyLength {
            bytes: 0,
            bytes_max: 10,
        };
        assert_eq!(length.take(&[0; 6]), Ok(6));
        assert_eq!(length.take(&[0; 4]), Ok(10));
        assert_eq!(length.take(&[0]).unwrap_err().reason, "BODY_SIZE");
    }
}
