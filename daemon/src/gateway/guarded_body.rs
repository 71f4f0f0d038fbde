//! A body that ends when the caller of its request loses rights (`ingress::authorization`).

use std::future::Future;
use std::pin::Pin;
use std::task::Poll;

use axum::body::{Body, HttpBody};

use super::encoding::{Encoding, EndFunction, FrameResult};
use super::watched_body::WatchedBody;
use crate::ingress::authorization::RequestAuthorization;
use crate::refusal::Refusal;

/// The body of the request: it ends in an error.
pub(super) fn guard_request(
    inner: Body,
    authorization: &RequestAuthorization,
    encoding: &'static dyn Encoding,
) -> Body {
    guard(inner, authorization.clone(), move |refusal| {
        Err(encoding.error(refusal))
    })
}

/// The body of the answer to a stream: its end has the reason.
pub(super) fn guard_answer(
    inner: Body,
    authorization: RequestAuthorization,
    end: EndFunction,
) -> Body {
    // One whose length is known is no stream.
    if inner.size_hint().exact().is_some() {
        return inner;
    }
    guard(inner, authorization, end)
}

fn guard(
    inner: Body,
    mut authorization: RequestAuthorization,
    end: impl FnOnce(Refusal) -> FrameResult + Send + 'static,
) -> Body {
    let end_on = authorization.end_on();
    let ended = async move { end(authorization.ended(end_on).await) };
    // `None` once it has ended.
    let mut ended = Some(Box::pin(ended));
    WatchedBody::wrap(inner, move |inner, cx| {
        if let Some(Poll::Ready(last)) = ended.as_mut().map(|ended| ended.as_mut().poll(cx)) {
            ended = None;
            // The producer of the body ends as well.
            *inner = Body::empty();
            return Poll::Ready(Some(last));
        }
        Pin::new(inner).poll_frame(cx)
    })
}
