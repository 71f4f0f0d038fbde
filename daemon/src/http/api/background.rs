//! Work that goes on after its request is answered, or its caller is gone.
//!
//! Promises: the work holds the slot of its request to its end, so that a caller has no more of it in progress than
//! requests; once the daemon stops, it has `DRAIN` to end, as a request has; a defect in it is a refusal.

use std::future::Future;

use amem_engine::tasks::{TaskPanic, caught, spawn_part};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::sleep;

use crate::ingress::load::CallSlot;
use crate::limits::DRAIN;
use crate::refusal::{Refusal, Result};

/// Starts such work.
#[derive(Debug)]
pub(super) struct BackgroundWork {
    pub(super) stopping: watch::Receiver<bool>,
    /// What each connection holds, and so each work. This lives as long as the handler of connections: it holds none.
    pub(super) alive: mpsc::WeakSender<()>,
}

impl BackgroundWork {
    /// Starts work. Its outcome is received, or given to `unheard` if nothing waits for it any more.
    pub(super) fn start<T: Send + 'static>(
        &self,
        slot: CallSlot,
        work: impl Future<Output = Result<T>> + Send + 'static,
        unheard: impl FnOnce(Result<T>) + Send + 'static,
    ) -> oneshot::Receiver<Result<T>> {
        let (tell, told) = oneshot::channel();
        let (mut stopping, alive) = (self.stopping.clone(), self.alive.upgrade());
        let run = async move {
            let _held = (slot, alive);
            let late = async {
                // Without a sender the daemon has stopped.
                drop(stopping.wait_for(|stop| *stop).await);
                sleep(DRAIN).await;
            };
            let done = tokio::select! {
                done = caught(work) => done.unwrap_or_else(|TaskPanic| {
                    tracing::error!("a defect stopped an add");
                    Err(Refusal::internal("a defect stopped this request; see the log of amemd"))
                }),
                () = late => return,
            };
            if let Err(done) = tell.send(done) {
                unheard(done);
            }
        };
        spawn_part(run);
        told
    }
}
