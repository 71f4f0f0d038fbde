//! Refusals as answers: `{"error", "detail", "code"}` with a status.
//!
//! `error` is a name of the specification (14.1) where it has one, `detail` says what failed and what to do, `code` is
//! the reason for machines, the same as by gRPC. A refused change also has `stored`: `nothing`, or `unknown` if it may
//! still be executed.

use amem_proto::answer::Code;
use hyper::StatusCode;
use hyper::header::{
    ACCEPT_ENCODING, HeaderMap, HeaderName, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE,
};
use serde_json::{Value, json};

use super::coding;
use super::conditions::CONDITION;
use crate::http::status::status;
use crate::ingress::admission::RETRY_MILLIS;
use crate::refusal::Refusal;

/// Reasons with a status or a name of their own.
const REASONS: [(&str, StatusCode, &str); 13] = [
    ("SCOPE", StatusCode::BAD_REQUEST, "ScopeError"),
    (
        "BODY_SIZE",
        StatusCode::PAYLOAD_TOO_LARGE,
        "ValidationError",
    ),
    ("BODY_TIMEOUT", StatusCode::REQUEST_TIMEOUT, "TimeoutError"),
    (
        "MEDIA_TYPE",
        StatusCode::UNSUPPORTED_MEDIA_TYPE,
        "ValidationError",
    ),
    (
        coding::REFUSED,
        StatusCode::UNSUPPORTED_MEDIA_TYPE,
        "ValidationError",
    ),
    (
        "HEAD_SIZE",
        StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
        "ValidationError",
    ),
    ("HOST", StatusCode::MISDIRECTED_REQUEST, "PermissionError"),
    ("ORIGIN", StatusCode::FORBIDDEN, "PermissionError"),
    (
        "METHOD",
        StatusCode::METHOD_NOT_ALLOWED,
        "NotSupportedError",
    ),
    (
        "DISK_FULL",
        StatusCode::INSUFFICIENT_STORAGE,
        "VectorStoreError",
    ),
    (
        "MESSAGE_SIZE",
        StatusCode::PAYLOAD_TOO_LARGE,
        "ValidationError",
    ),
    (
        "ANSWER_SIZE",
        StatusCode::PAYLOAD_TOO_LARGE,
        "ValidationError",
    ),
    ("INTERNAL", StatusCode::INTERNAL_SERVER_ERROR, "MemoryError"),
];

/// The name of an error by its code.
fn name(code: Code) -> &'static str {
    match code {
        Code::NotFound => "NotFoundError",
        Code::Unauthenticated => "AuthenticationError",
        Code::PermissionDenied => "PermissionError",
        Code::InvalidArgument | Code::OutOfRange | Code::FailedPrecondition => "ValidationError",
        Code::Aborted | Code::AlreadyExists => "ConflictError",
        Code::ResourceExhausted => "RateLimitError",
        Code::Unimplemented => "NotSupportedError",
        Code::DeadlineExceeded => "TimeoutError",
        Code::Unavailable | Code::DataLoss => "VectorStoreError",
        Code::Ok | Code::Cancelled | Code::Unknown | Code::Internal => "MemoryError",
    }
}

/// Status and name of a refusal.
fn kind(refusal: &Refusal) -> (StatusCode, &'static str) {
    if refusal.metadata.contains_key(CONDITION) {
        return (StatusCode::PRECONDITION_FAILED, "ConflictError");
    }
    let row = REASONS.iter().find(|row| row.0 == refusal.reason);
    row.map_or_else(
        || (status(refusal.code), name(refusal.code)),
        |row| (row.1, row.2),
    )
}

/// What is stored of a change that was refused.
fn stored(code: Code) -> &'static str {
    match code {
        Code::DeadlineExceeded
        | Code::Unavailable
        | Code::Cancelled
        | Code::Unknown
        | Code::Internal => "unknown",
        _ => "nothing",
    }
}

/// Status and body of a refusal; `has_begun`: the request is a change, and its work had begun.
pub(super) fn error(refusal: &Refusal, is_change: bool, has_begun: bool) -> (StatusCode, Value) {
    let (status, name) = kind(refusal);
    let mut body = json!({
        "error": name,
        "detail": refusal.message,
        "code": &*refusal.reason,
    });
    if is_change {
        let stored = if has_begun {
            stored(refusal.code)
        } else {
            "nothing"
        };
        body["stored"] = stored.into();
    }
    for (detail, value) in &refusal.metadata {
        if let Some(object) = body.as_object_mut() {
            object
                .entry(detail)
                .or_insert_with(|| value.as_str().into());
        }
    }
    (status, body)
}

/// The headers that a refusal has beside its body.
pub(super) fn headers(refusal: &Refusal) -> HeaderMap {
    let mut headers = HeaderMap::new();
    let mut add = |name: HeaderName, value: HeaderValue| headers.insert(name, value);
    match refusal.code {
        Code::ResourceExhausted | Code::Unavailable if refusal.reason != "MESSAGE_SIZE" => {
            let millis = refusal.metadata.get(RETRY_MILLIS);
            let millis: u64 = millis
                .and_then(|millis| millis.parse().ok())
                .unwrap_or(1000);
            add(RETRY_AFTER, millis.div_ceil(1000).max(1).into());
        }
        _ if refusal.reason == coding::REFUSED => {
            add(ACCEPT_ENCODING, coding::CODINGS);
        }
        Code::Unauthenticated => {
            add(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        _ => {}
    }
    headers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_have_the_names_of_the_specification_and_a_status() {
        for (code, reason, wanted, name) in [
            (Code::InvalidArgument, "SCOPE", 400, "ScopeError"),
            (Code::InvalidArgument, "INVALID", 400, "ValidationError"),
            (Code::NotFound, "UNKNOWN_MEMORY", 404, "NotFoundError"),
            (Code::ResourceExhausted, "LOAD", 429, "RateLimitError"),
            (
                Code::ResourceExhausted,
                "DISK_FULL",
                507,
                "VectorStoreError",
            ),
            (Code::Unauthenticated, "TOKEN", 401, "AuthenticationError"),
            (Code::PermissionDenied, "ROLE", 403, "PermissionError"),
            (Code::PermissionDenied, "HOST", 421, "PermissionError"),
            (Code::DeadlineExceeded, "DEADLINE", 504, "TimeoutError"),
            (Code::DeadlineExceeded, "BODY_TIMEOUT", 408, "TimeoutError"),
            (
                Code::Unavailable,
                "OUTCOME_UNKNOWN",
                503,
                "VectorStoreError",
            ),
            (Code::Internal, "INTERNAL", 500, "MemoryError"),
        ] {
            let refusal = Refusal::new(code, reason, "why");
            let (status, body) = error(&refusal, false, false);
            assert_eq!(status, wanted, "{reason}");
            assert_eq!(
                body,
                json!({"error": name, "detail": "why", "code": reason})
            );
        }
    }

    #[test]
    fn a_refused_change_says_what_is_stored_and_a_caller_when_to_retry() {
        let late = Refusal::new(Code::DeadlineExceeded, "DEADLINE", "late");
        assert_eq!(error(&late, true, true).1["stored"], "unknown");
        assert_eq!(error(&late, true, false).1["stored"], "nothing");
        assert_eq!(error(&late, false, true).1.get("stored"), None);
        let busy = Refusal::new(Code::ResourceExhausted, "LOAD", "busy").with(RETRY_MILLIS, 1500);
        assert_eq!(headers(&busy)[RETRY_AFTER], "2");
        let unknown = Refusal::new(Code::Unauthenticated, "TOKEN", "who");
        assert_eq!(headers(&unknown)[WWW_AUTHENTICATE], "Bearer");
        let other = Refusal::new(Code::Aborted, "CONDITION", "changed");
        assert_eq!(error(&other, true, true).0, 409);
        let (status, body) = error(&other.with(CONDITION, "\"a.1\""), true, true);
        assert_eq!(status, 412);
        assert_eq!(
            (&body["code"], &body["stored"]),
            (&json!("CONDITION"), &json!("nothing"))
        );
    }
}
