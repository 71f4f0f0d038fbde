//! The guard of REST alone: what a web page or a hostile proxy may have done to a request.
//!
//! A head that is too large, a body whose length is in doubt, and requests of foreign web pages are refused before the
//! caller is identified; pages of configured origins learn that they may read the answer (`cors`).

use amem_proto::answer::Code;
use axum::body::Body;
use hyper::Request;
use hyper::header::ORIGIN;
use hyper::http::request::Parts;

use super::cors;
use super::encoding::Rest;
use crate::config::Origins;
use crate::control::Control;
use crate::gateway::{
    AnswerFuture, CallProgress, ConnectionInfo, Encoding, Guard, InnerCall, too_large,
};
use crate::limits::HTTP_HEADERS_MAX;
use crate::refusal::{Refusal, Result};

/// The guard.
#[derive(Debug, Clone)]
pub(super) struct HeadGuard(pub(super) Control);

impl Guard for HeadGuard {
    fn answer(&self, request: Request<Body>, inner: InnerCall) -> AnswerFuture {
        let (mut head, body) = request.into_parts();
        let asked = head.headers.get(ORIGIN).cloned();
        let progress = CallProgress::of(&Rest, &mut head);
        let control = self.0.clone();
        Box::pin(async move {
            let mut answer = match check(&control.live().origins, &head) {
                Err(refusal) => {
                    tracing::debug!(reason = &*refusal.reason, "refused a request");
                    Rest.refused(refusal, &progress)
                }
                Ok(()) if cors::is_preflight(&head) => cors::preflight().into_response(),
                Ok(()) => inner(Request::from_parts(head, body)).await,
            };
            let live = control.live();
            cors::allow(&live.origins, asked.as_ref(), answer.headers_mut());
            answer
        })
    }
}

fn check(origins: &Origins, head: &Parts) -> Result<()> {
    if head.headers.len() > HTTP_HEADERS_MAX {
        return Err(Refusal::new(
            Code::InvalidArgument,
            "HEAD_SIZE",
            too_large(),
        ));
    }
    let info = head.extensions.get::<ConnectionInfo>();
    let lines = info.and_then(|info| info.lines.as_ref());
    if lines.is_some_and(|lines| !lines.is_clear(&head.headers)) {
        let message = "the request has content-length and transfer-encoding: send one of them";
        return Err(Refusal::new(Code::InvalidArgument, "FRAMING", message));
    }
    match head.headers.get(ORIGIN) {
        Some(origin) if !origins.allow(origin.as_bytes()) => {
            let message = "a web page of another origin makes this request: add its origin to http.origins, or call \
                           from a program";
            Err(Refusal::new(Code::PermissionDenied, "ORIGIN", message))
        }
        _ => Ok(()),
    }
}
