//! The services of amem.v1: each RPC goes to `calls`, and each refusal becomes a status.
//!
//! RPCs without streams are listed by `amem_proto`, from the `.proto` files. Not here: what a call does (`calls`).

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use amem_proto::calls::CALLS;
use amem_proto::v1;
use amem_proto::v1::admin_service_server::AdminService;
use amem_proto::v1::brain_service_server::BrainService;
use amem_proto::v1::fact_service_server::FactService;
use amem_proto::v1::hook_service_server::HookService;
use amem_proto::v1::item_service_server::ItemService;
use amem_proto::v1::memory_service_server::MemoryService;
use amem_proto::v1::query_service_server::QueryService;
use prost::Message;
use tokio_stream::{Stream, StreamExt};
use tonic::{Request, Response, Status, Streaming};

use crate::auth::Caller;
use crate::calls::{AnswerStream, Gateway, fact_export, ingest_stream, merge, subscribe, transfer};
use crate::refusal::{Refusal, Result};

/// All services of the daemon.
#[derive(Debug, Clone)]
pub(crate) struct Service(pub(crate) Arc<Gateway>);

/// Answers of a stream, with refusals as statuses.
pub(crate) struct StatusStream<T>(AnswerStream<T>);

impl<T> Stream for StatusStream<T> {
    type Item = Result<T, Status>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let next = Pin::new(&mut self.0).poll_next(cx);
        next.map(|answer| answer.map(|answer| answer.map_err(Status::from)))
    }
}

/// The caller and its request. Ingress gives every request its caller.
fn parts<T>(request: Request<T>) -> Result<(Caller, T)> {
    let caller = request.extensions().get::<Caller>().cloned();
    let caller = caller.ok_or_else(|| Refusal::internal("the call did not pass ingress"))?;
    Ok((caller, request.into_inner()))
}

/// The caller and its stream of requests; a message that cannot be decoded is a refusal.
fn streaming_parts<T>(
    request: Request<Streaming<T>>,
) -> Result<(
    Caller,
    impl Stream<Item = Result<T>> + Unpin + Send + 'static,
)>
where
    T: Send + 'static,
{
    let (caller, requests) = parts(request)?;
    let requests = requests.map(|request| request.map_err(Refusal::from));
    Ok((caller, requests))
}

/// The response, with the bytes that it holds until it is read; a refusal if there is no room for them.
fn counted<T: Message>(
    gateway: &Gateway,
    caller: &Caller,
    answer: T,
    _: &str,
) -> Result<Response<T>, Status> {
    let lease = gateway.answers_to(caller).lease(&answer)?;
    let mut response = Response::new(answer);
    if let Some(lease) = lease {
        response.extensions_mut().insert(lease);
    }
    Ok(response)
}

/// The response to a change: it is smaller than the request, whose bytes count until it is read, and must not be
/// refused once the change is done.
fn uncounted<T>(_: &Gateway, _: &Caller, answer: T, _: &str) -> Result<Response<T>, Status> {
    Ok(Response::new(answer))
}

/// The response to a request about facts or items, by its message: that to a change must not be refused once the change
/// is done.
fn told<T: Message>(
    gateway: &Gateway,
    caller: &Caller,
    answer: T,
    request: &str,
) -> Result<Response<T>, Status> {
    match is_change(request) {
        true => uncounted(gateway, caller, answer, request),
        false => counted(gateway, caller, answer, request),
    }
}

/// True if a request changes a brain.
fn is_change(request: &str) -> bool {
    let call = CALLS.iter().find(|call| call.request == request);
    call.is_some_and(|call| call.permission == v1::Permission::Write)
}

/// Implements a service: its RPCs without streams by a method of `Gateway`, the others as given.
macro_rules! service {
    ($service:ident by $way:ident as $respond:ident { $($streams:tt)* }
        $($method:ident $request:ident $response:ident;)*) => {
        #[tonic::async_trait]
        impl $service for Service {
            $($streams)*

            $(async fn $method(
                &self,
                request: Request<v1::$request>,
            ) -> Result<Response<v1::$response>, Status> {
                let (caller, request) = parts(request)?;
                let answer = self.0.$way(&caller, request).await?;
                $respond(&self.0, &caller, answer, stringify!($request))
            })*
        }
    };
}

macro_rules! query {
    ($($rows:tt)*) => {
        service! { QueryService by ask_as as counted {} $($rows)* }
    };
}

macro_rules! memory {
    ($($rows:tt)*) => {
        service! { MemoryService by write_as as uncounted {
            type IngestStreamStream = StatusStream<v1::IngestStreamResponse>;

            async fn ingest_stream(
                &self,
                request: Request<Streaming<v1::IngestStreamRequest>>,
            ) -> Result<Response<Self::IngestStreamStream>, Status> {
                let (caller, batches) = streaming_parts(request)?;
                let answers = ingest_stream::ingest(self.0.clone(), caller, batches)?;
                Ok(Response::new(StatusStream(answers)))
            }

            type SubscribeStream = StatusStream<v1::SubscribeResponse>;

            async fn subscribe(
                &self,
                request: Request<v1::SubscribeRequest>,
            ) -> Result<Response<Self::SubscribeStream>, Status> {
                let (caller, request) = parts(request)?;
                let answers = subscribe::follow(&self.0, &caller, request).await?;
                Ok(Response::new(StatusStream(answers)))
            }
        } $($rows)* }
    };
}

macro_rules! brain {
    ($($rows:tt)*) => {
        service! { BrainService by call_as as counted {
            async fn import_brain(
                &self,
                request: Request<Streaming<v1::ImportBrainRequest>>,
            ) -> Result<Response<v1::ImportBrainResponse>, Status> {
                let (caller, parts) = streaming_parts(request)?;
                let imported = transfer::import(self.0.clone(), caller, parts).await?;
                Ok(Response::new(imported))
            }

            async fn merge_brain(
                &self,
                request: Request<Streaming<v1::MergeBrainRequest>>,
            ) -> Result<Response<v1::MergeBrainResponse>, Status> {
                let (caller, parts) = streaming_parts(request)?;
                let merged = merge::merge(self.0.clone(), caller, parts).await?;
                Ok(Response::new(merged))
            }

            type ExportBrainStream = StatusStream<v1::ExportBrainResponse>;

            async fn export_brain(
                &self,
                request: Request<v1::ExportBrainRequest>,
            ) -> Result<Response<Self::ExportBrainStream>, Status> {
                let (caller, request) = parts(request)?;
                let answers = transfer::export(&self.0, &caller, request).await?;
                Ok(Response::new(StatusStream(answers)))
            }
        } $($rows)* }
    };
}

macro_rules! admin {
    ($($rows:tt)*) => {
        service! { AdminService by call_as as counted {} $($rows)* }
    };
}

macro_rules! fact {
    ($($rows:tt)*) => {
        service! { FactService by fact_as as told {
            type ExportFactsStream = StatusStream<v1::ExportFactsResponse>;

            async fn export_facts(
                &self,
                request: Request<v1::ExportFactsRequest>,
            ) -> Result<Response<Self::ExportFactsStream>, Status> {
                let (caller, request) = parts(request)?;
                let answers = fact_export::export(&self.0, &caller, request).await?;
                Ok(Response::new(StatusStream(answers)))
            }
        } $($rows)* }
    };
}

macro_rules! item {
    ($($rows:tt)*) => {
        service! { ItemService by call_as as told {} $($rows)* }
    };
}

macro_rules! hook {
    ($($rows:tt)*) => {
        service! { HookService by call_as as told {} $($rows)* }
    };
}

amem_proto::for_each_query_call!(query);
amem_proto::for_each_memory_call!(memory);
amem_proto::for_each_brain_call!(brain);
amem_proto::for_each_admin_call!(admin);
amem_proto::for_each_fact_call!(fact);
amem_proto::for_each_item_call!(item);
amem_proto::for_each_hook_call!(hook);

#[cfg(test)]
mod tests {
    use super::is_change;

    #[test]
    fn requests_about_facts_are_told_by_whether_they_change_the_brain() {
        assert!(is_change("AddFactsRequest") && is_change("ResetFactsRequest"));
        assert!(!is_change("SearchFactsRequest") && !is_change("ListFactsRequest"));
    }
}
