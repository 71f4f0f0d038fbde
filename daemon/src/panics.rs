//! Work that may panic without taking the daemon with it.

use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::task::Poll;

/// The work panicked; the panic hook has logged it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Panicked;

/// Runs work until it ends or panics. The caller must check state that the work shares before using it again.
pub(crate) fn caught<T>(
    work: impl Future<Output = T>,
) -> impl Future<Output = Result<T, Panicked>> {
    let mut work = Box::pin(work);
    poll_fn(
        move |cx| match catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(cx))) {
            Ok(poll) => poll.map(Ok),
            Err(_) => Poll::Ready(Err(Panicked)),
        },
    )
}
