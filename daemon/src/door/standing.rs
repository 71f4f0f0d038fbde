//! Calls that go on: whoever makes them is judged again whenever what is in force changes.
//!
//! Promises: once a change is in force that takes something from a caller, or gives it something, no request of it is
//! executed that was not here before, nothing more is taken from its streams and nothing more is given to them: they
//! end, and a new call is judged anew.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use http_body::Frame;
use tonic::body::Body;
use tonic::codegen::http::HeaderMap;
use tonic::codegen::{Body as HttpBody, Bytes};
use tonic::{Code, Status};

use super::caller::Shown;
use crate::access::Caller;
use crate::control::{Control, Live};
use crate::refusal::{Refusal, Result};

/// Who makes a call, and what it was let in with.
#[derive(Debug, Clone)]
pub(super) struct Standing {
    control: Control,
    /// What was in force when it was.
    live: Arc<Live>,
    shown: Shown,
    caller: Caller,
}

impl Standing {
    pub(super) fn new(control: Control, live: Arc<Live>, shown: Shown, caller: Caller) -> Self {
        Self {
            control,
            live,
            shown,
            caller,
        }
    }

    fn check(&self, live: &Live) -> Result<()> {
        let caller = self.shown.caller(live)?;
        if caller == self.caller {
            return Ok(());
        }
        let message = format!(
            "what {} may do has changed since the call began: call again",
            self.caller.principal
        );
        Err(Refusal::new(Code::Unavailable, "ACCESS_CHANGED", message))
    }

    /// Ready with the reason once the call has to end.
    async fn ended(mut self) -> Refusal {
        let mut changes = self.control.changes();
        loop {
            let live = self.control.live();
            if !Arc::ptr_eq(&live, &self.live) {
                if let Err(refusal) = self.check(&live) {
                    tracing::info!(
                        principal = self.caller.principal,
                        reason = &*refusal.reason,
                        "a call is ended"
                    );
                    return refusal;
                }
                self.live = live;
            }
            // We hold the sender.
            drop(changes.changed().await);
        }
    }

    /// What the caller sends.
    pub(super) fn request(&self, inner: Body) -> Body {
        self.clone().guard(inner, Err)
    }

    /// What it is sent.
    pub(super) fn answer(&self, inner: Body) -> Body {
        self.clone().guard(inner, |status| {
            let mut trailers = HeaderMap::new();
            status.add_header(&mut trailers)?;
            Ok(Frame::trailers(trailers))
        })
    }

    fn guard(self, inner: Body, end: fn(Status) -> Part) -> Body {
        // An answer that is only a head has been given.
        if inner.is_end_stream() {
            return inner;
        }
        Body::new(Guarded {
            inner,
            ended: Some(Box::pin(self.ended())),
            end,
        })
    }
}

/// A part of a body.
type Part = Result<Frame<Bytes>, Status>;

/// A body that ends when its caller may not go on.
struct Guarded {
    inner: Body,
    /// `None` once it has.
    ended: Option<Pin<Box<dyn Future<Output = Refusal> + Send>>>,
    end: fn(Status) -> Part,
}

impl HttpBody for Guarded {
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
            // What is behind it ends as well.
            this.inner = Body::empty();
            return Poll::Ready(Some((this.end)(refusal.into())));
        }
        Pin::new(&mut this.inner).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.ended.is_none() || self.inner.is_end_stream()
    }

    fn size_hint(&self) -> http_body::SizeHint {
        // It may end before that.
        http_body::SizeHint::default()
    }
}
