//! The calls of tools, by gRPC.

use amem_client::{Client, Code, Refusal, v1};
use amem_mcp::{CallResult, MemoryCalls};
use tonic::{Response, Status};

use super::daemon_link::DaemonLink;

/// The calls of one request.
pub(crate) struct DaemonCalls {
    /// `None` for a command, which makes no second connection.
    pub(super) link: Option<&'static DaemonLink>,
    pub(super) client: Client,
}

impl DaemonCalls {
    /// The calls of a command on its own connection.
    pub(crate) fn of_command(client: Client) -> Self {
        Self { link: None, client }
    }

    /// Makes a call, and once more on a new connection if the daemon is gone: writes have a request id.
    async fn call<R, T, F>(&self, request: R, make: impl Fn(Client, R) -> F) -> CallResult<T>
    where
        R: Clone,
        F: Future<Output = Result<Response<T>, Status>>,
    {
        let refusal = match make(self.client.clone(), request.clone()).await {
            Ok(answer) => return Ok(answer.into_inner()),
            Err(status) => Refusal::from(status),
        };
        // A daemon that refuses for its load says why; one that is gone cannot.
        let is_gone = refusal.code == Code::Unavailable && refusal.reason.is_empty()
            || refusal.code == Code::Unknown;
        let Some(link) = self.link.filter(|_| is_gone) else {
            return Err(refusal);
        };
        link.lost().await;
        let unavailable = |why| Refusal::new(Code::Unavailable, "NO_DAEMON", why);
        let client = link.client().await.map_err(unavailable)?;
        let answer = make(client, request).await;
        answer.map(Response::into_inner).map_err(Refusal::from)
    }
}

macro_rules! by_grpc {
    ($($call:ident $request:ident $response:ident;)*) => {
        impl MemoryCalls for DaemonCalls {
            $(async fn $call(&self, request: v1::$request) -> CallResult<v1::$response> {
                self.call(request, |client, request| async move {
                    client.facts().$call(request).await
                })
                .await
            })*
        }
    };
}

by_grpc! {
    add_facts AddFactsRequest AddFactsResponse;
    recall RecallRequest RecallResponse;
    search_facts SearchFactsRequest SearchFactsResponse;
    get_fact GetFactRequest GetFactResponse;
    list_facts ListFactsRequest ListFactsResponse;
    update_fact UpdateFactRequest UpdateFactResponse;
    delete_fact DeleteFactRequest DeleteFactResponse;
    get_fact_history GetFactHistoryRequest GetFactHistoryResponse;
}
