//! A body that ends when the caller of its request loses rights (`ingress::authorization`).

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use axum::Error;
use axum::body::{Body, Bytes, HttpBody};
use http_body::SizeHint;

use super::encoding::{Encoding, EndFunction, FrameResult};
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
    // An answer of headers only is complete.
    if inner.is_end_stream() {
        return inner;
    }
    let end_on = authorization.end_on();
    Body::new(GuardedBody {
        inner,
        ended: Some(Box::pin(
            async move { end(authorization.ended(end_on).await) },
        )),
    })
}

struct GuardedBody {
    inner: Body,
    /// Ready with the last frame; `None` once it has ended.
    ended: Option<Pin<Box<dyn Future<Output = FrameResult> + Send>>>,
}

impl HttpBody for GuardedBody {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<FrameResult>> {
        let this = &mut *self;
        let Some(ended) = &mut this.ended else {
            return Poll::Ready(None);
        };
        if let Poll::Ready(last) = ended.as_mut().poll(cx) {
            this.ended = None;
            // The producer of the body ends as well.
            this.inner = Body::empty();
            return Poll::Ready(Some(last));
        }
        Pin::new(&mut this.inner).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.ended.is_none() || self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        // It may end before the size of `inner`.
        SizeHint::default()
    }
}
