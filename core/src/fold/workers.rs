//! Who does the parts of a fold that can be done side by side.
//!
//! Not here: threads. Whoever has some brings them.

/// Does two pieces of work, perhaps at once.
pub trait Workers {
    /// Both are done when this returns; `here` on the caller's thread.
    fn join<'w>(&self, beside: Box<dyn FnOnce() + Send + 'w>, here: Box<dyn FnOnce() + 'w>);
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
