//! A brain: one generation as it is held in memory, and how commits are applied to it.

mod apply;
mod generation;
mod link;
mod scope_cache;

pub use generation::{Brain, ReplayEnd};
pub use scope_cache::ScopeList;
