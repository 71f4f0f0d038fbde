//! Where calls run: the event loop of the caller, or one thread of our own.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::time::Duration;

use tokio::runtime::{Builder, Handle, Runtime};
use tokio::time::timeout;

use crate::error::Result;

/// Runs calls for threads that wait.
#[derive(Debug, Clone)]
pub struct ModelRuntime(Arc<RuntimeOwner>);

#[derive(Debug)]
enum RuntimeOwner {
    Caller(Handle),
    Own(Option<Runtime>),
}

impl Drop for RuntimeOwner {
    fn drop(&mut self) {
        if let Self::Own(runtime) = self
            && let Some(runtime) = runtime.take()
        {
            // Also where the last owner is a task, which may not wait for a runtime.
            runtime.shutdown_background();
        }
    }
}

/// Why there is no result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WaitFailure {
    Timeout,
    /// The runtime has ended.
    Ended,
}

impl ModelRuntime {
    /// Starts a thread that runs calls.
    ///
    /// # Errors
    /// If the system has no thread or no descriptors left.
    pub fn start() -> Result<Self> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("amem-models")
            .enable_all()
            .build()?;
        Ok(Self(Arc::new(RuntimeOwner::Own(Some(runtime)))))
    }

    /// Runs calls on a runtime of the caller, which has its timers and sockets enabled. A thread that waits for a call
    /// must not be the only one of that runtime.
    pub fn of(handle: Handle) -> Self {
        Self(Arc::new(RuntimeOwner::Caller(handle)))
    }

    fn handle(&self) -> Option<&Handle> {
        match &*self.0 {
            RuntimeOwner::Caller(handle) => Some(handle),
            RuntimeOwner::Own(runtime) => runtime.as_ref().map(Runtime::handle),
        }
    }

    /// Starts a task that nothing waits for.
    pub(crate) fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        if let Some(handle) = self.handle() {
            // One type for all tasks: tokio compiles what runs a task for each type.
            let work: Pin<Box<dyn Future<Output = ()> + Send>> = Box::pin(work);
            handle.spawn(work);
        }
    }

    /// Waits for the result of work on the runtime.
    pub(crate) fn wait<T: Send + 'static>(
        &self,
        limit: Duration,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Result<T, WaitFailure> {
        let (sender, receiver) = sync_channel(1);
        self.spawn(async move {
            let done = timeout(limit, work).await;
            // A caller that waits no longer needs no result.
            _ = sender.send(done.map_err(|_| WaitFailure::Timeout));
        });
        receiver.recv().unwrap_or(Err(WaitFailure::Ended))
    }
}
