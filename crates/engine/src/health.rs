//! Where the engine reports which brains serve: the daemon's health service, or nothing.

use std::fmt::Debug;
use std::future::ready;
use std::pin::Pin;

/// A report on its way.
pub type Reported<'a> = Pin<Box<dyn Future<Output = ()> + Send + 'a>>;

/// Takes reports of brains that begin or cease to serve.
pub trait BrainHealth: Debug + Send + Sync {
    /// The brain serves, or can't be opened or is being recovered.
    fn report<'a>(&'a self, brain: &'a str, is_serving: bool) -> Reported<'a>;

    /// There is no such brain any more.
    fn forget<'a>(&'a self, brain: &'a str) -> Reported<'a>;
}

/// Drops every report.
impl BrainHealth for () {
    fn report<'a>(&'a self, _brain: &'a str, _is_serving: bool) -> Reported<'a> {
        Box::pin(ready(()))
    }

    fn forget<'a>(&'a self, _brain: &'a str) -> Reported<'a> {
        Box::pin(ready(()))
    }
}
