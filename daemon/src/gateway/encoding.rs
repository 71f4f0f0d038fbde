//! What the guards ask a protocol: how it names a request, measures it, refuses it, and ends its answer early.

use std::error::Error as StdError;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::Error;
use axum::body::{Body, Bytes};
use http_body::Frame;
use hyper::Response;
use hyper::http::request::Parts;
use hyper::http::{Extensions, HeaderMap, response};
use tracing::Span;

use crate::config::Limits;
use crate::ingress::admission::Protocol;
use crate::ingress::requirement::Requirement;
use crate::refusal::{Refusal, Result};

/// A part of a body, or the error that ends it.
pub(crate) type FrameResult = Result<Frame<Bytes>, Error>;

/// How a body ends of which a part may have been sent.
pub(crate) type EndFunction = fn(Refusal) -> FrameResult;

/// How a protocol encodes calls.
pub(crate) trait Encoding: Protocol + fmt::Debug {
    /// The request in reports: without ids and secrets of its caller.
    fn name(&self, head: &Parts) -> Arc<str>;

    /// The span of the request, of the highest level, with an empty field `principal`: every filter keeps it.
    fn span(&self, head: &Parts, request_id: &str) -> Span;

    /// The call as which the request is measured; `None` if it is not.
    fn measured<'h>(&self, head: &'h Parts) -> Option<&'h str>;

    /// True if the request changes memories.
    fn is_change(&self, head: &Parts) -> bool;

    /// The answer to a request that was refused.
    fn refused(&self, refusal: Refusal, progress: &CallProgress) -> Response<Body>;

    /// How this answer ends early.
    fn end_of(&self, answer: &response::Parts) -> EndFunction;

    /// The error with which a body ends.
    fn error(&self, refusal: Refusal) -> Error;

    /// Why a request failed, by what the head or the trailers of its answer say; `None` if it did not.
    fn failure(&self, headers: &HeaderMap, extensions: &Extensions) -> Option<String>;

    /// Why a request failed whose answer ends with this error.
    fn failure_of(&self, error: &Error) -> String;

    /// What a part of an answer is.
    fn part_kind(&self, data: &[u8]) -> PartKind;

    /// What counts the bytes of a body.
    fn counter(&self, head: &Parts, requirement: &Requirement) -> Box<dyn BodyCounter>;

    /// How long the body of the request may stall; `None` if it is a stream of messages, whose call waits for each.
    fn stall(&self, head: &Parts, limits: &Limits) -> Option<BodyStall>;
}

/// What a part of an answer is to the one that measures it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PartKind {
    /// A message, or a piece of one.
    Message,
    /// Nothing but a sign that the connection is alive.
    SignOfLife,
    /// The end, with its reason.
    Failure(String),
}

/// Counts a body as it arrives.
pub(crate) trait BodyCounter: Send {
    /// Advances by `data`; returns how many bytes have arrived of the message that is not whole yet. An error if the
    /// body is larger than it may be.
    fn take(&mut self, data: &[u8]) -> Result<u64>;

    /// Bytes of memory of the newest message once it is decoded, as far as it has arrived.
    fn decoded(&self) -> u64;
}

/// How long a body may stall, and what the sender is answered then.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BodyStall {
    pub(crate) max: Duration,
    pub(crate) refusal: fn(Duration) -> Refusal,
}

/// What a request is and has come to, as one of its extensions.
#[derive(Debug, Clone)]
pub(crate) struct CallProgress {
    /// Its name in reports.
    pub(crate) name: Arc<str>,
    pub(crate) is_change: bool,
    has_begun: Arc<AtomicBool>,
}

impl CallProgress {
    /// That of a request: the outermost guard that asks makes it.
    pub(crate) fn of(encoding: &dyn Encoding, head: &mut Parts) -> Self {
        if let Some(known) = head.extensions.get::<Self>() {
            return known.clone();
        }
        let progress = Self {
            name: encoding.name(head),
            is_change: encoding.is_change(head),
            has_begun: Arc::default(),
        };
        head.extensions.insert(progress.clone());
        progress
    }

    /// Its work begins.
    pub(crate) fn begin(&self) {
        self.has_begun.store(true, Ordering::Release);
    }

    /// True once its work has begun.
    pub(crate) fn has_begun(&self) -> bool {
        self.has_begun.load(Ordering::Acquire)
    }
}

/// A refusal as the error of a body.
#[derive(Debug, thiserror::Error)]
#[error("{}", .0.message)]
struct BodyRefusal(Refusal);

/// The error with which a body ends, for `refusal_in`.
pub(crate) fn body_error(refusal: Refusal) -> Error {
    Error::new(BodyRefusal(refusal))
}

/// The refusal with which a guard ended a body.
pub(crate) fn refusal_in(error: &Error) -> Option<&Refusal> {
    let mut next: Option<&(dyn StdError + 'static)> = Some(error);
    while let Some(error) = next {
        if let Some(BodyRefusal(refusal)) = error.downcast_ref() {
            return Some(refusal);
        }
        next = error.source();
    }
    None
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// gRPC and REST: what holds for the calls of one holds for those of the other.
    pub(crate) const ENCODINGS: [&dyn Encoding; 2] = [&crate::grpc::Grpc, &crate::http::Rest];

    #[test]
    fn a_refusal_is_found_in_the_error_of_a_body_however_often_it_is_wrapped() {
        let refusal = Refusal::invalid("x", "it must not be");
        let error = Error::new(Error::new(body_error(refusal.clone())));
        assert_eq!(refusal_in(&error), Some(&refusal));
        assert_eq!(refusal_in(&Error::new("a broken connection")), None);
    }
}
