//! Authorization of requests in progress: each is checked again whenever the configuration in force changes.
//!
//! Promises, once a change is in force: a caller that lost rights gets no answer to an earlier request, and nothing
//! that still waits begins; the refusal says so if work may complete all the same. A stream ends at any change of its
//! caller's rights, a gain included; the caller calls again under its new rights. The connection stays authorized by
//! the callers whose requests are in progress.
//! Not here: how a body is cut off (`gateway::guarded_body`).

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use amem_proto::answer::Code;

use super::credentials::Credentials;
use super::requirement::{Pace, Requirement};
use super::session::SessionState;
use crate::auth::{Caller, Role};
use crate::control::{Control, LiveConfig};
use crate::refusal::{Refusal, Result};

/// The caller of a request, and the configuration that admitted it.
#[derive(Debug, Clone)]
pub(crate) struct RequestAuthorization {
    control: Control,
    live: Arc<LiveConfig>,
    credentials: Credentials,
    caller: Caller,
    requirement: Requirement,
    /// Of the connection.
    session: Arc<SessionState>,
}

/// The changes of a caller's rights that end a request.
#[derive(Debug, Clone, Copy)]
pub(crate) enum EndOn {
    /// Any change.
    Change,
    /// A loss.
    Loss,
}

impl RequestAuthorization {
    pub(super) fn new(
        control: Control,
        live: Arc<LiveConfig>,
        credentials: Credentials,
        caller: Caller,
        requirement: Requirement,
        session: Arc<SessionState>,
    ) -> Self {
        Self {
            control,
            live,
            credentials,
            caller,
            requirement,
            session,
        }
    }

    /// The change that ends the body of the request, and of the answer to a stream.
    pub(crate) fn end_on(&self) -> EndOn {
        match self.requirement.pace {
            Pace::Stream => EndOn::Change,
            Pace::Call | Pace::Long => EndOn::Loss,
        }
    }

    fn check(&self, live: &LiveConfig, end_on: EndOn) -> Result<()> {
        let now = self.credentials.caller(live)?;
        let before = &self.caller;
        let goes_on = match end_on {
            EndOn::Change => {
                (&now.principal, &now.rights, &now.scope, now.user)
                    == (
                        &before.principal,
                        &before.rights,
                        &before.scope,
                        before.user,
                    )
            }
            EndOn::Loss => {
                let is_within = now.scope.is_none() || now.scope == before.scope;
                now.principal == before.principal
                    && before.rights.are_within(&now.rights)
                    && is_within
            }
        };
        if goes_on {
            return Ok(());
        }
        let message = format!(
            "the rights of {} have changed since the call began: call again",
            before.principal
        );
        Err(Refusal::new(Code::Unavailable, "ACCESS_CHANGED", message))
    }

    /// Ready with the reason when the request must end.
    pub(crate) async fn ended(&mut self, end_on: EndOn) -> Refusal {
        let mut changes = self.control.changes();
        loop {
            let live = self.control.live();
            if !Arc::ptr_eq(&live, &self.live) {
                if let Err(refusal) = self.check(&live, end_on) {
                    tracing::info!(
                        principal = self.caller.principal,
                        reason = &*refusal.reason,
                        "ended a call"
                    );
                    return refusal;
                }
                let credentials = || Box::new(self.credentials.clone()) as _;
                self.session.authorize(&live, credentials);
                self.live = live;
            }
            // `self.control` owns the sender.
            drop(changes.changed().await);
        }
    }

    /// Runs the work of the request; an error if the caller loses rights first. Then the work is dropped.
    pub(super) async fn run<T>(&mut self, work: impl Future<Output = T>) -> Result<T> {
        if self.requirement.changes_access {
            return Ok(work.await);
        }
        let done = {
            let (mut work, mut ended) = (pin!(work), pin!(self.ended(EndOn::Loss)));
            let mut is_first = true;
            poll_fn(|cx| {
                // The first poll follows the admission. In later ones a change comes before an answer.
                if !is_first && let Poll::Ready(refusal) = ended.as_mut().poll(cx) {
                    return Poll::Ready(Err(refusal));
                }
                if let Poll::Ready(done) = work.as_mut().poll(cx) {
                    return Poll::Ready(Ok(done));
                }
                if std::mem::take(&mut is_first) {
                    ended.as_mut().poll(cx).map(Err)
                } else {
                    Poll::Pending
                }
            })
            .await
        };
        done.map_err(|refusal| self.begun(refusal))
    }

    /// The refusal of a request whose work may have begun.
    fn begun(&self, mut refusal: Refusal) -> Refusal {
        refusal.0.message += match (self.requirement.is_repeatable, self.requirement.role) {
            (true, _) => "; its change may still be executed: retry with the same request_id",
            (false, None | Some((Role::Read, _))) => "",
            (false, _) => "; its work may still be completed",
        };
        refusal
    }
}
