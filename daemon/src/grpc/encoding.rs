//! gRPC, as the guards of the gateway see it.

use std::sync::Arc;
use std::time::Duration;

use amem_proto::answer::Code;
use amem_proto::calls;
use axum::Error;
use axum::body::Body;
use hyper::Response;
use hyper::http::request::Parts;
use hyper::http::{Extensions, HeaderMap, response};
use tonic::Status;
use tonic_types::StatusExt;
use tracing::{Span, field};

use super::messages::{HEAD_BYTES, Messages};
use super::status::trailers;
use super::timeout;
use crate::config::Limits;
use crate::gateway::{BodyCounter, BodyStall, CallProgress, Encoding, EndFunction, PartKind};
use crate::ingress::admission::Protocol;
use crate::ingress::requirement::Requirement;
use crate::limits::REQUEST_AFTER;
use crate::refusal::{Refusal, Result};

/// gRPC.
#[derive(Debug)]
pub(crate) struct Grpc;

impl Protocol for Grpc {
    fn requirement(&self, head: &Parts) -> Result<Requirement> {
        let path = head.uri.path();
        let mut requirement = Requirement::of_call(path).ok_or_else(|| {
            let message = format!("unknown call {path:?}: server reflection lists the calls");
            Refusal::new(Code::Unimplemented, "UNKNOWN_CALL", message)
        })?;
        requirement.request_bytes_max += HEAD_BYTES as u64;
        Ok(requirement)
    }

    fn timeout(&self, head: &Parts) -> Result<Option<Duration>> {
        timeout::asked(&head.headers)
    }
}

impl Encoding for Grpc {
    fn name(&self, head: &Parts) -> Arc<str> {
        head.uri.path().into()
    }

    fn span(&self, head: &Parts, request_id: &str) -> Span {
        let method = head.uri.path();
        tracing::error_span!("call", method, request_id, principal = field::Empty)
    }

    fn measured<'h>(&self, head: &'h Parts) -> Option<&'h str> {
        Some(head.uri.path())
    }

    fn is_change(&self, _: &Parts) -> bool {
        // A status says by its code what may be stored.
        false
    }

    fn refused(&self, refusal: Refusal, _: &CallProgress) -> Response<Body> {
        Status::from(refusal).into_http()
    }

    fn end_of(&self, _: &response::Parts) -> EndFunction {
        |refusal| trailers(refusal.into()).map_err(Error::new)
    }

    fn error(&self, refusal: Refusal) -> Error {
        // Where a request ends so, tonic answers with the status.
        Error::new(Status::from(refusal))
    }

    fn failure(&self, headers: &HeaderMap, _: &Extensions) -> Option<String> {
        let status = Status::from_header_map(headers)?;
        (status.code() != tonic::Code::Ok).then(|| reason(&status))
    }

    fn failure_of(&self, error: &Error) -> String {
        let mut next: Option<&(dyn std::error::Error + 'static)> = Some(error);
        while let Some(error) = next {
            if let Some(status) = error.downcast_ref() {
                return reason(status);
            }
            next = error.source();
        }
        code_name(tonic::Code::Unknown)
    }

    fn part_kind(&self, _: &[u8]) -> PartKind {
        PartKind::Message
    }

    fn counter(&self, head: &Parts, requirement: &Requirement) -> Box<dyn BodyCounter> {
        let bytes_max = (requirement.request_bytes_max as usize).saturating_sub(HEAD_BYTES);
        Box::new(Messages::of(head.uri.path(), bytes_max))
    }

    fn stall(&self, head: &Parts, _: &Limits) -> Option<BodyStall> {
        let path = head.uri.path();
        let sends_stream = match calls::call(path) {
            Some(call) => call.sends_stream,
            None => path.starts_with(REFLECTION),
        };
        (!sends_stream).then_some(BodyStall {
            max: REQUEST_AFTER,
            refusal: too_slow,
        })
    }
}

/// The beginning of the paths of server reflection, whose requests are streams.
const REFLECTION: &str = "/grpc.reflection.";

fn too_slow(max: Duration) -> Refusal {
    let message = format!(
        "no part of the request arrived for {} s: send it again",
        max.as_secs()
    );
    Refusal::new(Code::DeadlineExceeded, "SLOW_SENDER", message)
}

/// The reason by which a failure is counted.
fn reason(status: &Status) -> String {
    match status.get_details_error_info() {
        Some(info) if !info.reason.is_empty() => info.reason,
        _ => code_name(status.code()),
    }
}

/// The name of a code as gRPC writes it, such as `NOT_FOUND`.
fn code_name(code: tonic::Code) -> String {
    let mut name = String::new();
    for letter in format!("{code:?}").chars() {
        if letter.is_ascii_uppercase() && !name.is_empty() {
            name.push('_');
        }
        name.push(letter.to_ascii_uppercase());
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyper::Request;

    #[test]
    fn a_failure_has_its_reason_else_the_name_of_its_code() {
        let refusal = Refusal::new(Code::Aborted, "CONDITION", "no");
        assert_eq!(reason(&refusal.clone().into()), "CONDITION");
        assert_eq!(
            code_name(tonic::Code::DeadlineExceeded),
            "DEADLINE_EXCEEDED"
        );
        let error = Error::new(Grpc.error(refusal));
        assert_eq!(Grpc.failure_of(&error), "CONDITION");
        assert_eq!(Grpc.failure_of(&Error::new("gone")), "UNKNOWN");
    }

    #[test]
    fn only_a_stream_of_requests_may_stall_also_where_answers_are_a_stream() {
        for (path, may_stall) in [
            ("/amem.v1.MemoryService/IngestStream", true),
            ("/amem.v1.BrainService/ImportBrain", true),
            (
                "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
                true,
            ),
            ("/amem.v1.MemoryService/Subscribe", false),
            ("/amem.v1.BrainService/ExportBrain", false),
            ("/grpc.health.v1.Health/Watch", false),
            ("/amem.v1.QueryService/Search", false),
        ] {
            let (head, ()) = Request::builder().uri(path).body(()).unwrap().into_parts();
            let stall = Grpc.stall(&head, &Limits::default());
            assert_eq!(stall.is_none(), may_stall, "{path}");
        }
    }
}
