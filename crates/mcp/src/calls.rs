//! The calls of fact memory that tools make: by gRPC from another process, or directly in the daemon.

use std::pin::Pin;

use amem_proto::answer::Refusal;
use amem_proto::v1;

/// The answer to a call, or why it is refused.
pub type CallResult<T> = Result<T, Refusal>;

/// Calls without their type: what a server does with them is compiled once, in this crate.
pub(crate) struct AnyCalls(Box<dyn BoxedCalls>);

impl AnyCalls {
    pub(crate) fn new(calls: impl MemoryCalls + 'static) -> Self {
        Self(Box::new(calls))
    }
}

type BoxedCall<'c, T> = Pin<Box<dyn Future<Output = CallResult<T>> + Send + 'c>>;

macro_rules! memory_calls {
    ($($(#[$doc:meta])* $call:ident $request:ident $response:ident;)*) => {
        /// The calls, each as in FactService. A refusal with the code Unavailable means that no daemon answers.
        pub trait MemoryCalls: Send + Sync {
            $($(#[$doc])*
            fn $call(
                &self,
                request: v1::$request,
            ) -> impl Future<Output = CallResult<v1::$response>> + Send;)*
        }

        trait BoxedCalls: Send + Sync {
            $(fn $call(&self, request: v1::$request) -> BoxedCall<'_, v1::$response>;)*
        }

        impl<C: MemoryCalls> BoxedCalls for C {
            $(fn $call(&self, request: v1::$request) -> BoxedCall<'_, v1::$response> {
                Box::pin(MemoryCalls::$call(self, request))
            })*
        }

        impl MemoryCalls for AnyCalls {
            $(async fn $call(&self, request: v1::$request) -> CallResult<v1::$response> {
                BoxedCalls::$call(&*self.0, request).await
            })*
        }
    };
}

memory_calls! {
    /// Stores memories.
    add_facts AddFactsRequest AddFactsResponse;
    /// Answers a question from everything that is known.
    recall RecallRequest RecallResponse;
    /// Finds memories.
    search_facts SearchFactsRequest SearchFactsResponse;
    /// Reads a memory.
    get_fact GetFactRequest GetFactResponse;
    /// Lists memories.
    list_facts ListFactsRequest ListFactsResponse;
    /// Gives a memory a new text.
    update_fact UpdateFactRequest UpdateFactResponse;
    /// Ends a memory, or erases it.
    delete_fact DeleteFactRequest DeleteFactResponse;
    /// Reads the history of a memory.
    get_fact_history GetFactHistoryRequest GetFactHistoryResponse;
}
