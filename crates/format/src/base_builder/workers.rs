//! Who does the parts of a fold that can be done side by side.
//!
//! Not here: threads. Whoever has some brings them.

use crate::error::{Error, Result};

/// Does two pieces of work, perhaps at once.
pub trait Workers: Sync {
    /// Both are done when this returns; `here` on the caller's thread.
    fn join<'w>(&self, beside: Box<dyn FnOnce() + Send + 'w>, here: Box<dyn FnOnce() + 'w>);
}

/// What two pieces of work give; a broken promise of the workers is an error.
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
        .ok_or_else(|| Error::invalid("workers", "they left work undone"))
}

/// One after the other.
#[derive(Debug, Clone, Copy)]
pub struct Inline;

impl Workers for Inline {
    fn join<'w>(&self, beside: Box<dyn FnOnce() + Send + 'w>, here: Box<dyn FnOnce() + 'w>) {
        here();
        beside();
    }
}
