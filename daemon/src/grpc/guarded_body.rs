//! A body that ends when the caller of its request loses rights (`ingress::authorization`).

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use http_body::Frame;
use tonic::Status;
use tonic::body::Body;
use tonic::codegen::{Body as HttpBody, Bytes};

use super::status::trailers;
use crate::ingress::authorization::RequestAuthorization;
use crate::refusal::Refusal;

/// The body of the request: it ends in an error.
pub(super) fn guard_request(inner: Body, authorization: &RequestAuthorization) -> Body {
    guard(inner, authorization.clone(), Err)
}

/// The body of the answer to a stream: it ends in trailers with the reason.
pub(super) fn guard_answer(inner: Body, authorization: RequestAuthorization) -> Body {
    guard(inner, authorization, trailers)
}

type FrameResult = Result<Frame<Bytes>, Status>;

fn guard(
    inner: Body,
    mut authorization: RequestAuthorization,
    end: fn(Status) -> FrameResult,
) -> Body {
    // An answer of headers only is complete.
    if inner.is_end_stream() {
        return inner;
    }
    let end_on = authorization.end_on();
    Body::new(GuardedBody {
        inner,
        ended: Some(Box::pin(async move { authorization.ended(end_on).await })),
        end,
    })
}

struct GuardedBody {
    inner: Body,
    /// `None` once it has ended.
    ended: Option<Pin<Box<dyn Future<Output = Refusal> + Send>>>,
    end: fn(Status) -> FrameResult,
}

impl HttpBody for GuardedBody {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        let this = &mut *self;
        let Some(ended) = &mut this.ended else {
            return Poll::Ready(None);
        };
        if let Poll::Ready(refusal) = ended.as_mut().poll(cx) {
            this.ended = None;
            // The producer of the body ends as well.
            this.inner = Body::empty();
            return Poll::Ready(Some((this.end)(refusal.into())));
        }
        Pin::new(&mut this.inner).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.ended.is_none() || self.inner.is_end_stream()
    }

    fn size_hint(&self) -> http_body::SizeHint {
        // It may end before the size of `inner`.
        http_body::SizeHint::default()
    }
}
