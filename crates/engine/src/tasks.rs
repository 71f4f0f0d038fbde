//! Work beside the calls: blocking work, work that must not end half done, and work whose panics are caught.

use std::any::Any;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::Poll;

use tokio::task::{JoinHandle, spawn_blocking};
use tracing::Instrument;

use crate::error::{Error, Result};
use crate::polls::{current_name, named};

/// The name of work that no call began.
const OWN_WORK: &str = "work of the daemon";

/// A panic ended one call.
pub(crate) const DEFECT: Error = Error::Defect("this call");

/// What work answers, without its type.
pub type AnyAnswer = Box<dyn Any + Send>;

/// Blocking work without its type. tokio compiles some sixty functions for each type of task that it runs: so it sees
/// one type of all blocking work, and one of all tasks with the same answer.
pub type AnyWork = Box<dyn FnOnce() -> AnyAnswer + Send>;

/// A future without its type.
pub type AnyFuture<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// Takes the types off work; [`typed`] gives its answer the type again.
pub fn untyped<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> AnyWork {
    Box::new(move || Box::new(work()))
}

/// The answer of work that was [`untyped`].
///
/// # Errors
/// `Defect` if it is of another type.
pub fn typed<T: 'static>(answer: AnyAnswer) -> Result<T> {
    match answer.downcast() {
        Ok(answer) => Ok(*answer),
        Err(_) => Err(DEFECT),
    }
}

/// Starts a task for a part of what this thread polls: it has the same span, and its polls have the same name.
pub fn spawn_part<T: Send + 'static>(
    work: impl Future<Output = T> + Send + 'static,
) -> JoinHandle<T> {
    spawn_boxed(Box::pin(work))
}

fn spawn_boxed<T: Send + 'static>(work: AnyFuture<T>) -> JoinHandle<T> {
    let name = current_name().unwrap_or_else(|| OWN_WORK.into());
    tokio::spawn(named(name, work.in_current_span()))
}

/// [`spawn_part`] for one type of answers, so that it is compiled here and not where it is called.
fn spawn_untyped(work: AnyFuture<AnyAnswer>) -> JoinHandle<AnyAnswer> {
    spawn_boxed(work)
}

/// Starts a task whose polls have this name.
pub fn spawn_named(name: &'static str, work: AnyFuture<()>) -> JoinHandle<()> {
    tokio::spawn(named(name, work))
}

/// Runs work to its end, even if the caller stops waiting for it.
///
/// # Errors
/// `Defect` if it panics.
pub fn run_to_end<T: Send + 'static>(
    work: impl Future<Output = T> + Send + 'static,
) -> impl Future<Output = Result<T>> + Send {
    let work: AnyFuture<AnyAnswer> = Box::pin(async move { Box::new(work.await) as AnyAnswer });
    // The task starts when the caller waits for it: not earlier.
    async move {
        let ended = spawn_untyped(work).await;
        typed(ended.map_err(|_| DEFECT)?)
    }
}

/// Runs blocking work beside the calls, within the caller's span.
///
/// # Errors
/// `Defect` if it panics.
pub fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> impl Future<Output = Result<T>> + Send {
    let work = untyped(work);
    async move { typed(blocking_untyped(work).await?) }
}

async fn blocking_untyped(work: AnyWork) -> Result<AnyAnswer> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn work_without_its_type_answers_with_it_again() {
        assert_eq!(blocking(|| "read").await.unwrap(), "read");
        assert_eq!(run_to_end(async { vec![1, 2] }).await.unwrap(), [1, 2]);
        let answer = untyped(|| 7_u32)();
        assert!(matches!(typed::<u64>(answer), Err(Error::Defect(_))));
        let panic = blocking(|| -> u32 { panic!("a defect of a test") }).await;
        assert!(matches!(panic, Err(Error::Defect(_))));
        let panic = run_to_end(async { assert!(current_name().is_none(), "another") }).await;
        assert!(matches!(panic, Err(Error::Defect(_))));
    }

    #[tokio::test]
    async fn work_that_nobody_waits_for_does_not_start() {
        let (begun, mut begins) = tokio::sync::mpsc::unbounded_channel();
        let also = begun.clone();
        drop(blocking(move || begun.send(1)));
        drop(run_to_end(async move { also.send(2) }));
        assert_eq!(begins.recv().await, None);
    }
}
