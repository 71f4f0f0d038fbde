//! Fact memory as tools and hooks call it, with the rights of their caller.

use std::sync::Arc;

use amem_hooks::HookCalls;
use amem_mcp::{CallResult, MemoryCalls};
use amem_proto::v1;

use super::gateway::{Gateway, Handle, ScopedRequest};
use crate::auth::{Caller, Role};

/// Calls of fact memory by a caller.
pub(crate) struct CallerMemory {
    gateway: Arc<Gateway>,
    caller: Caller,
}

impl CallerMemory {
    pub(crate) fn new(gateway: &Arc<Gateway>, caller: &Caller) -> Self {
        Self {
            gateway: gateway.clone(),
            caller: caller.clone(),
        }
    }

    /// The caller for a call that needs a role: the request that makes it was admitted for less.
    fn caller_for(&self, needs: Role) -> CallResult<Caller> {
        let mut caller = self.caller.clone();
        caller.needs = needs;
        caller.check_any(needs).map_err(|refusal| refusal.0)?;
        Ok(caller)
    }

    async fn call<C: Handle + ScopedRequest>(
        &self,
        needs: Role,
        request: C,
    ) -> CallResult<C::Response> {
        let caller = self.caller_for(needs)?;
        // Boxed, so that what calls it does not hold the call itself.
        let answer = Box::pin(self.gateway.fact_as(&caller, request)).await;
        answer.map_err(|refusal| refusal.0)
    }
}

macro_rules! in_the_daemon {
    ($($call:ident $request:ident $response:ident $needs:ident;)*) => {
        impl MemoryCalls for CallerMemory {
            $(async fn $call(&self, request: v1::$request) -> CallResult<v1::$response> {
                self.call(Role::$needs, request).await
            })*
        }
    };
}

in_the_daemon! {
    add_facts AddFactsRequest AddFactsResponse Write;
    recall RecallRequest RecallResponse Read;
    search_facts SearchFactsRequest SearchFactsResponse Read;
    get_fact GetFactRequest GetFactResponse Read;
    list_facts ListFactsRequest ListFactsResponse Read;
    update_fact UpdateFactRequest UpdateFactResponse Write;
    delete_fact DeleteFactRequest DeleteFactResponse Write;
    get_fact_history GetFactHistoryRequest GetFactHistoryResponse Read;
}

impl HookCalls for CallerMemory {
    async fn open_session(
        &self,
        request: v1::OpenSessionRequest,
    ) -> CallResult<v1::OpenSessionResponse> {
        let caller = self.caller_for(Role::Write)?;
        let answer = self.gateway.write_as(&caller, request).await;
        answer.map_err(|refusal| refusal.0)
    }

    async fn close_session(
        &self,
        request: v1::CloseSessionRequest,
    ) -> CallResult<v1::CloseSessionResponse> {
        let caller = self.caller_for(Role::Write)?;
        let answer = self.gateway.write_as(&caller, request).await;
        answer.map_err(|refusal| refusal.0)
    }
}
