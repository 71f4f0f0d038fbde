//! The engine's blocking pool for work of calls, which may be refused.

use amem_engine::tasks::{AnyAnswer, typed};
use amem_engine::{BlockingPool, CallerPool};

use crate::auth::Caller;
use crate::refusal::Result;

/// A blocking pool for calls.
#[derive(Debug, Clone)]
pub(crate) struct CallPool(pub(crate) BlockingPool);

/// A blocking pool on behalf of one caller.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CallPoolOf<'a>(CallerPool<'a>);

/// Work that may be refused, without its type.
type CallWork = Box<dyn FnOnce() -> Result<AnyAnswer> + Send>;

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
    pub(crate) fn run<T: Send + 'static>(
        self,
        work: impl FnOnce() -> Result<T> + Send + 'static,
    ) -> impl Future<Output = Result<T>> + Send {
        let work: CallWork = Box::new(move || Ok(Box::new(work()?)));
        async move { Ok(typed(self.run_untyped(work).await?)?) }
    }

    async fn run_untyped(self, work: CallWork) -> Result<AnyAnswer> {
        self.0.run(work).await?
    }
}
