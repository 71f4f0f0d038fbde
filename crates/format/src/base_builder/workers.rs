//! Runs parts of a checkpoint in parallel.
//!
//! Not here: threads. The caller of a build brings them.

use crate::error::{Error, Result};

/// Runs two tasks, in parallel or one after the other.
pub trait Workers: Sync {
    /// Returns when both tasks are done; `here` runs on the caller's thread.
    fn join<'w>(&self, beside: Box<dyn FnOnce() + Send + 'w>, here: Box<dyn FnOnce() + 'w>);
}

/// The results of two tasks; an error if `workers` did not run both.
pub(super) fn both<A: Send, B>(
    workers: &dyn Workers,
    beside: impl FnOnce() -> A + Send,
    here: impl FnOnce() -> B,
) -> Result<(A, B)> {
    let (mut a, mut b) = (None, None);
    workers.join(
        Box::new(|| a = Some(beside())),
        Box::new(|| b = Some(here())),
    );
    a.zip(b)
        .ok_or_else(|| Error::invalid("workers", "a task did not run"))
}

/// Runs both tasks on the caller's thread.
#[derive(Debug, Clone, Copy)]
pub struct Inline;

impl Workers for Inline {
    fn join<'w>(&self, beside: Box<dyn FnOnce() + Send + 'w>, here: Box<dyn FnOnce() + 'w>) {
        here();
        beside();
    }
}
