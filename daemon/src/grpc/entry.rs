//! The layer of gRPC that admits every call (`ingress::admission`) and watches its bodies.
//!
//! Promises: a call holds its slot until its answer has been sent; a refused call is answered before its body is read.

use std::future::Future;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use amem_proto::answer::Code;
use tonic::Status;
use tonic::body::Body;
use tonic::codegen::http::request::Parts;
use tonic::codegen::http::{Request, Response};
use tower::{Layer, Service};

use super::answers::{AnswerHold, PendingAnswers};
use super::connection::ConnectionInfo;
use super::guarded_body::{guard_answer, guard_request};
use super::latency_layer::SharedCallTimer;
use super::messages::{HEAD_BYTES, Messages};
use super::request_body::RequestBody;
use super::response_future::ResponseFuture;
use super::timeout;
use super::unsent_bytes::UnsentBytes;
use crate::calls::AnswerLease;
use crate::ingress::admission::{Admission, AdmittedRequest, Protocol};
use crate::ingress::credentials::unidentified;
use crate::ingress::requirement::{Pace, Requirement};
use crate::refusal::{Refusal, Result};

/// gRPC, as admission sees it.
enum Grpc {}

impl Protocol for Grpc {
    fn requirement(head: &Parts) -> Result<Requirement> {
        let path = head.uri.path();
        let mut requirement = Requirement::of_call(path).ok_or_else(|| {
            let message = format!("unknown call {path:?}: server reflection lists the calls");
            Refusal::new(Code::Unimplemented, "UNKNOWN_CALL", message)
        })?;
        requirement.request_bytes_max += HEAD_BYTES as u64;
        Ok(requirement)
    }

    fn timeout(head: &Parts) -> Result<Option<Duration>> {
        timeout::asked(&head.headers)
    }
}

/// Wraps every service.
#[derive(Debug, Clone)]
pub(crate) struct AdmissionLayer {
    admission: Admission,
    answers: Arc<PendingAnswers>,
}

impl AdmissionLayer {
    pub(crate) fn new(admission: Admission) -> Self {
        Self {
            admission,
            answers: Arc::default(),
        }
    }

    /// Gives up answers that are not read, for as long as it is polled.
    pub(crate) fn watch(&self) -> impl Future<Output = ()> + Send + 'static {
        let answers = self.answers.clone();
        async move { answers.watch().await }
    }

    fn admit(&self, request: Request<Body>) -> Result<(Request<Body>, AdmittedCall)> {
        let (mut head, body) = request.into_parts();
        let info = head.extensions.get::<ConnectionInfo>();
        let info = info.ok_or_else(unidentified)?;
        let admitted =
            self.admission
                .admit::<Grpc>(&head, &info.peer, Some(info.source), &info.session)?;
        let unsent = info.unsent.clone();
        let timer = head.extensions.remove::<SharedCallTimer>();
        let requirement = &admitted.requirement;
        let is_stream = requirement.pace == Pace::Stream;
        let message_bytes_max = requirement.request_bytes_max as usize - HEAD_BYTES;
        let messages = Messages::of(head.uri.path(), message_bytes_max);
        let held = admitted.slot.bytes().clone();
        let body = RequestBody::wrap(body, held, is_stream, messages);
        let body = guard_request(body, &admitted.authorization);
        head.extensions.insert(admitted.caller.clone());
        let call = AdmittedCall {
            admitted,
            is_stream,
            unsent,
            timer,
        };
        Ok((Request::from_parts(head, body), call))
    }
}

struct AdmittedCall {
    admitted: AdmittedRequest,
    is_stream: bool,
    /// Of its connection.
    unsent: Arc<UnsentBytes>,
    timer: Option<SharedCallTimer>,
}

impl<S> Layer<S> for AdmissionLayer {
    type Service = AdmissionService<S>;

    fn layer(&self, inner: S) -> AdmissionService<S> {
        let layer = self.clone();
        AdmissionService { layer, inner }
    }
}

/// A service whose calls are admitted.
#[derive(Debug, Clone)]
pub(crate) struct AdmissionService<S> {
    layer: AdmissionLayer,
    inner: S,
}

impl<S> Service<Request<Body>> for AdmissionService<S>
where
    S: Service<Request<Body>, Response = Response<Body>>,
    S::Future: Send + 'static,
    S::Error: Send + 'static,
{
    type Response = Response<Body>;
    type Error = S::Error;
    type Future = ResponseFuture<S::Error>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let (request, call) = match self.layer.admit(request) {
            Ok(admitted) => admitted,
            Err(refusal) => {
                tracing::debug!(reason = &*refusal.reason, "refused a call");
                let answer = Status::from(refusal).into_http();
                return Box::pin(std::future::ready(Ok(answer)));
            }
        };
        let answers = self.layer.answers.clone();
        let answer = self.inner.call(request);
        Box::pin(async move {
            let AdmittedCall {
                mut admitted,
                is_stream,
                unsent,
                timer,
            } = call;
            let mut answer = match admitted.run(answer).await {
                Ok(answer) => answer?,
                Err(refusal) => Status::from(refusal).into_http(),
            };
            let AdmittedRequest {
                authorization,
                deadline,
                slot,
                ..
            } = admitted;
            let lease = answer.extensions_mut().remove::<AnswerLease>();
            let hold = AnswerHold { lease, timer };
            Ok(answer.map(|body| {
                let body = if is_stream {
                    guard_answer(body, authorization)
                } else {
                    body
                };
                answers.send(body, slot, deadline, unsent, hold)
            }))
        })
    }
}

#[cfg(test)]
mod tests;
