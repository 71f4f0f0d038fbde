//! The interface through which the engine reports the health of brains.

use std::fmt::Debug;
use std::future::ready;
use std::pin::Pin;

/// The future of a report.
pub type HealthFuture<'a> = Pin<Box<dyn Future<Output = ()> + Send + 'a>>;

/// Receives reports of brains that start or stop serving.
pub trait BrainHealth: Debug + Send + Sync {
    /// The brain serves, or can't be opened or is being recovered.
    fn report<'a>(&'a self, brain: &'a str, is_serving: bool) -> HealthFuture<'a>;

    /// There is no such brain any more.
    fn forget<'a>(&'a self, brain: &'a str) -> HealthFuture<'a>;
}

/// Drops every report.
impl BrainHealth for () {
    fn report<'a>(&'a self, _brain: &'a str, _is_serving: bool) -> HealthFuture<'a> {
        Box::pin(ready(()))
    }

    fn forget<'a>(&'a self, _brain: &'a str) -> HealthFuture<'a> {
        Box::pin(ready(()))
    }
}
