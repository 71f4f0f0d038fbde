//! The guard that admits every call (`ingress::admission`) and watches its bodies.
//!
//! Promises: a call holds its slot until its answer has been sent; a refused call is answered before its body is read.

use std::future::Future;
use std::sync::Arc;

use axum::body::Body;
use hyper::http::request::Parts;
use hyper::{Request, Response};

use super::answers::{AnswerEnd, AnswerHold, PendingAnswers};
use super::encoding::{CallProgress, Encoding};
use super::guard::{AnswerFuture, Guard, InnerCall};
use super::guarded_body::{guard_answer, guard_request};
use super::latency_guard::SharedCallTimer;
use super::request_body::RequestBody;
use super::server::ConnectionInfo;
use super::unsent_bytes::UnsentBytes;
use crate::calls::AnswerLease;
use crate::ingress::admission::{Admission, AdmittedRequest};
use crate::ingress::credentials::unidentified;
use crate::ingress::requirement::Pace;
use crate::refusal::Result;

/// The guard. The calls of all protocols share what may be in progress, and what may wait to be read.
#[derive(Debug, Clone)]
pub(crate) struct AdmissionGuard {
    admission: Admission,
    answers: Arc<PendingAnswers>,
    encoding: &'static dyn Encoding,
}

impl AdmissionGuard {
    pub(crate) fn new(admission: Admission, encoding: &'static dyn Encoding) -> Self {
        Self {
            admission,
            answers: Arc::default(),
            encoding,
        }
    }

    /// The same for the calls of another protocol.
    pub(crate) fn of(&self, encoding: &'static dyn Encoding) -> Self {
        Self {
            encoding,
            ..self.clone()
        }
    }

    /// Gives up answers that are not read, for as long as it is polled.
    pub(crate) fn watch(&self) -> impl Future<Output = ()> + Send + 'static {
        let answers = self.answers.clone();
        async move { answers.watch().await }
    }

    /// Admits a request; its bodies are watched from now on.
    fn admit(&self, head: &mut Parts, body: Body) -> Result<(Body, AdmittedCall)> {
        let encoding = self.encoding;
        let info = head.extensions.get::<ConnectionInfo>();
        let info = info.ok_or_else(unidentified)?;
        let source = Some(info.source);
        let admitted = (self.admission).admit(encoding, head, &info.peer, source, &info.session)?;
        let unsent = info.unsent.clone();
        let timer = head.extensions.get::<SharedCallTimer>().cloned();
        let counter = encoding.counter(head, &admitted.requirement);
        let stall = encoding.stall(head, &self.admission.limits());
        let held = admitted.slot.bytes().clone();
        let body = RequestBody::wrap(body, held, counter, stall, encoding);
        let body = guard_request(body, &admitted.authorization, encoding);
        head.extensions.insert(admitted.caller.clone());
        head.extensions.insert(admitted.slot.clone());
        let call = AdmittedCall {
            admitted,
            unsent,
            timer,
        };
        Ok((body, call))
    }

    /// The answer as it is sent: the call holds what it holds until the last of it.
    fn send(&self, answer: Response<Body>, call: AdmittedCall) -> Response<Body> {
        let AdmittedCall {
            admitted,
            unsent,
            timer,
        } = call;
        let (mut head, mut body) = answer.into_parts();
        let end = self.encoding.end_of(&head);
        if admitted.requirement.pace == Pace::Stream {
            body = guard_answer(body, admitted.authorization, end);
        }
        let lease = head.extensions.remove::<AnswerLease>();
        let hold = AnswerHold { lease, timer };
        let end = AnswerEnd {
            end,
            encoding: self.encoding,
        };
        // A refusal is sent after the deadline, too: it may say that there was one.
        let is_refused = (self.encoding)
            .failure(&head.headers, &head.extensions)
            .is_some();
        let deadline = admitted.deadline.filter(|_| !is_refused);
        let slot = admitted.slot;
        let body = (self.answers).send(body, slot, deadline, (unsent, end), hold);
        Response::from_parts(head, body)
    }
}

struct AdmittedCall {
    admitted: AdmittedRequest,
    /// Of its connection.
    unsent: Arc<UnsentBytes>,
    timer: Option<SharedCallTimer>,
}

impl Guard for AdmissionGuard {
    fn answer(&self, request: Request<Body>, inner: InnerCall) -> AnswerFuture {
        let (mut head, body) = request.into_parts();
        let progress = CallProgress::of(self.encoding, &mut head);
        let (body, mut call) = match self.admit(&mut head, body) {
            Ok(admitted) => admitted,
            Err(refusal) => {
                tracing::debug!(reason = &*refusal.reason, "refused a call");
                let answer = self.encoding.refused(refusal, &progress);
                return Box::pin(std::future::ready(answer));
            }
        };
        let answer = inner(Request::from_parts(head, body));
        let guard = self.clone();
        Box::pin(async move {
            let answer = call.admitted.run(answer).await;
            let answer =
                answer.unwrap_or_else(|refusal| guard.encoding.refused(refusal, &progress));
            guard.send(answer, call)
        })
    }
}

#[cfg(test)]
mod tests;
