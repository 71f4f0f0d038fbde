//! Requests of web pages: refused, unless `http.origins` names the page's origin. Then the browser learns so.

use hyper::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_REQUEST_METHOD, HeaderMap, HeaderValue, ORIGIN,
    VARY,
};
use hyper::http::request::Parts;
use hyper::{Method, StatusCode};

use super::output::Output;
use crate::config::Origins;

/// The methods of all routes.
const METHODS: HeaderValue = HeaderValue::from_static("GET, POST, PUT, PATCH, DELETE");

/// The headers that a page may send.
const HEADERS: HeaderValue = HeaderValue::from_static(
    "authorization, content-encoding, content-type, idempotency-key, if-match, if-none-match, last-event-id, \
     x-api-key, x-amem-agent, x-amem-brain, x-amem-timeout, x-request-id",
);

/// The headers that a page may read.
const EXPOSED: HeaderValue =
    HeaderValue::from_static("etag, x-amem-ignored, x-amem-count, x-request-id, retry-after");

/// Tells the browser that a page of a configured origin may read the answer.
pub(super) fn allow(origins: &Origins, asked: Option<&HeaderValue>, answer: &mut HeaderMap) {
    let Some(origin) = asked.filter(|origin| origins.allow(origin.as_bytes())) else {
        return;
    };
    answer.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
    answer.insert(ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED);
    answer.append(VARY, HeaderValue::from_static("origin"));
}

/// True if a browser asks what a page may send.
pub(super) fn is_preflight(head: &Parts) -> bool {
    let has = |name| head.headers.contains_key(name);
    head.method == Method::OPTIONS && has(ORIGIN) && has(ACCESS_CONTROL_REQUEST_METHOD)
}

/// The answer to that; `allow` adds for whom it is.
pub(super) fn preflight() -> Output {
    let mut output = Output::empty(StatusCode::NO_CONTENT);
    output.headers.extend([
        (Some(ACCESS_CONTROL_ALLOW_METHODS), METHODS),
        (Some(ACCESS_CONTROL_ALLOW_HEADERS), HEADERS),
    ]);
    output
}
