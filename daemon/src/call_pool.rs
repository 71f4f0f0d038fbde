//! The engine's blocking pool for work of calls, which may be refused.

use amem_engine::{BlockingPool, CallerPool};

use crate::auth::Caller;
use crate::refusal::Result;

/// A blocking pool for calls.
#[derive(Debug, Clone)]
pub(crate) struct CallPool(pub(crate) BlockingPool);

/// A blocking pool on behalf of one caller.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CallPoolOf<'a>(CallerPool<'a>);

impl CallPool {
    /// The pool on behalf of a caller, by its principal.
    pub(crate) fn of<'a>(&'a self, caller: &'a str) -> CallPoolOf<'a> {
        CallPoolOf(self.0.of(caller))
    }
}

impl CallPool {
    /// The pool on behalf of the process that calls.
    pub(crate) fn of_process<'a>(&'a self, caller: &'a Caller) -> CallPoolOf<'a> {
        CallPoolOf(
            self.0
                .of_source(&caller.principal, caller.source.unwrap_or(0)),
        )
    }
}

impl CallPoolOf<'_> {
    /// Runs work when it is the caller's turn.
    pub(crate) async fn run<T: Send + 'static>(
        self,
        work: impl FnOnce() -> Result<T> + Send + 'static,
    ) -> Result<T> {
        self.0.run(work).await?
    }
}
