//! A body with a function around the polls of another.

use std::pin::Pin;
use std::task::{Context, Poll};

use axum::Error;
use axum::body::{Body, Bytes, HttpBody};
use http_body::SizeHint;

use super::encoding::FrameResult;

/// What a poll of a body gives.
pub(super) type FramePoll = Poll<Option<FrameResult>>;

type PollFunction = Box<dyn FnMut(&mut Body, &mut Context<'_>) -> FramePoll + Send>;

/// The body. Its function ends it by taking the inner one away.
pub(super) struct WatchedBody {
    inner: Body,
    poll: PollFunction,
}

impl WatchedBody {
    /// Lets `poll` stand around the polls of a body. One that is complete, as of an answer of headers only, stays as it
    /// is.
    pub(super) fn wrap(
        inner: Body,
        poll: impl FnMut(&mut Body, &mut Context<'_>) -> FramePoll + Send + 'static,
    ) -> Body {
        if inner.is_end_stream() {
            return inner;
        }
        let poll = Box::new(poll);
        Body::new(Self { inner, poll })
    }
}

impl HttpBody for WatchedBody {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> FramePoll {
        let Self { inner, poll } = &mut *self;
        poll(inner, cx)
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}
