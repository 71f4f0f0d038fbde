//! Calls that go on: whoever makes them is judged again whenever what is in force changes.
//!
//! Promises: once a change is in force that takes something from a caller, no request of it is executed that was not
//! here before, and a call of it that has no answer yet ends without one: a question or a write that waits is not
//! begun any more, and where something may be done all the same, as work is that goes on without its caller, that is
//! told. Nothing more is taken from its streams and nothing more is given to them: they end, and so they do if the
//! change gives it something; a new call is judged anew. Whose calls go on is known to its connection as before.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};

use http_body::Frame;
use tonic::body::Body;
use tonic::codegen::{Body as HttpBody, Bytes};
use tonic::{Code, Status};

use super::credentials::Shown;
use super::session::Fate;
use crate::access::{Needs, Pace};
use crate::auth::{Caller, Role};
use crate::control::{Control, Live};
use crate::refusal::{Refusal, Result, trailers};

/// Who makes a call, and what it was let in with.
#[derive(Debug, Clone)]
pub(crate) struct Standing {
    control: Control,
    /// What was in force when it was.
    live: Arc<Live>,
    shown: Shown,
    caller: Caller,
    needs: Needs,
    /// That of its connection.
    fate: Arc<Fate>,
}

/// What ends a call.
#[derive(Debug, Clone, Copy)]
enum EndsAt {
    /// Its caller was given something, or loses something.
    Change,
    /// Its caller loses something.
    Loss,
}

impl Standing {
    pub(crate) fn new(
        control: Control,
        live: Arc<Live>,
        shown: Shown,
        caller: Caller,
        needs: Needs,
        fate: Arc<Fate>,
    ) -> Self {
        Self {
            control,
            live,
            shown,
            caller,
            needs,
            fate,
        }
    }

    fn check(&self, live: &Live, ends_at: EndsAt) -> Result<()> {
        let caller = self.shown.caller(live)?;
        let (before, now) = (&self.caller, &caller);
        let goes_on = match ends_at {
            EndsAt::Change => now == before,
            EndsAt::Loss => {
                now.principal == before.principal && before.rights.are_within(&now.rights)
            }
        };
        if goes_on {
            return Ok(());
        }
        let message = format!(
            "what {} may do has changed since the call began: call again",
            self.caller.principal
        );
        Err(Refusal::new(Code::Unavailable, "ACCESS_CHANGED", message))
    }

    /// Ready with the reason once the call has to end.
    async fn ended(&mut self, ends_at: EndsAt) -> Refusal {
        let mut changes = self.control.changes();
        loop {
            let live = self.control.live();
            if !Arc::ptr_eq(&live, &self.live) {
                if let Err(refusal) = self.check(&live, ends_at) {
                    tracing::info!(
                        principal = self.caller.principal,
                        reason = &*refusal.reason,
                        "a call is ended"
                    );
                    return refusal;
                }
                self.fate.let_in(&live, || Box::new(self.shown.clone()));
                self.live = live;
            }
            // We hold the sender.
            drop(changes.changed().await);
        }
    }

    /// What a service answers, or why its caller is not given that any more.
    pub(crate) async fn answered<T>(&mut self, answer: impl Future<Output = T>) -> Result<T> {
        if self.needs.changes_access {
            return Ok(answer.await);
        }
        let answered = {
            let (mut answer, mut ended) = (pin!(answer), pin!(self.ended(EndsAt::Loss)));
            let mut is_new = true;
            poll_fn(|cx| {
                // It was let in just now; later the change comes first, whatever else came.
                if !is_new && let Poll::Ready(refusal) = ended.as_mut().poll(cx) {
                    return Poll::Ready(Err(refusal));
                }
                if let Poll::Ready(answer) = answer.as_mut().poll(cx) {
                    return Poll::Ready(Ok(answer));
                }
                match std::mem::take(&mut is_new) {
                    true => ended.as_mut().poll(cx).map(Err),
                    false => Poll::Pending,
                }
            })
            .await
        };
        answered.map_err(|refusal| self.begun(refusal))
    }

    /// The refusal of a call that may have begun.
    fn begun(&self, mut refusal: Refusal) -> Refusal {
        refusal.0.message += match (self.needs.is_repeatable, self.needs.role) {
            (true, _) => "; what it writes may still be done: retry with the same request_id",
            (false, Role::Read) => "",
            (false, _) => "; what it does may still be done",
        };
        refusal
    }

    /// What the caller sends.
    pub(crate) fn request(&self, inner: Body) -> Body {
        self.clone().guard(inner, Err)
    }

    /// What it is sent by a stream.
    pub(crate) fn answer(self, inner: Body) -> Body {
        self.guard(inner, trailers)
    }

    fn guard(mut self, inner: Body, end: fn(Status) -> Part) -> Body {
        // An answer that is only a head has been given.
        if inner.is_end_stream() {
            return inner;
        }
        let ends_at = match self.needs.pace {
            Pace::Stream => EndsAt::Change,
            Pace::Call | Pace::Long => EndsAt::Loss,
        };
        Body::new(Guarded {
            inner,
            ended: Some(Box::pin(async move { self.ended(ends_at).await })),
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
