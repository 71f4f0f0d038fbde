//! Work beside the calls: blocking work, work that must not end half done, and work whose panics are caught.

use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::task::Poll;

use tokio::task::{JoinHandle, spawn_blocking};
use tracing::Instrument;

use crate::error::{Error, Result};
use crate::polls::{current_name, named};

/// The name of work that no call began.
const OWN_WORK: &str = "work of the daemon";

/// A panic ended one call.
pub(crate) const DEFECT: Error = Error::Defect("this call");

/// Starts a task for a part of what this thread polls: it has the same span, and its polls have the same name.
pub fn spawn_part<T: Send + 'static>(
    work: impl Future<Output = T> + Send + 'static,
) -> JoinHandle<T> {
    let name = current_name().unwrap_or_else(|| OWN_WORK.into());
    tokio::spawn(named(name, work.in_current_span()))
}

/// Runs work to its end, even if the caller stops waiting for it.
///
/// # Errors
/// `Defect` if it panics.
pub async fn run_to_end<T: Send + 'static>(
    work: impl Future<Output = T> + Send + 'static,
) -> Result<T> {
    let ended = spawn_part(work).await;
    ended.map_err(|_| DEFECT)
}

/// Runs blocking work beside the calls, within the caller's span.
///
/// # Errors
/// `Defect` if it panics.
pub async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T> {
    let span = tracing::Span::current();
    let ended = spawn_blocking(move || span.in_scope(work)).await;
    ended.map_err(|_| DEFECT)
}

/// A future panicked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TaskPanic;

/// Polls a future; a panic ends it.
pub fn caught<T>(work: impl Future<Output = T>) -> impl Future<Output = Result<T, TaskPanic>> {
    let mut work = Box::pin(work);
    poll_fn(
        move |cx| match catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(cx))) {
            Ok(poll) => poll.map(Ok),
            Err(_) => Poll::Ready(Err(TaskPanic)),
        },
    )
}
