//! The calls of each service by name, without retries.
//!
//! A call without streams goes by its path and its bytes. What sends it is compiled once, and not for each pair of
//! messages as in the clients that tonic generates; these have the calls with streams.

use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use amem_proto::v1;
use amem_proto::v1::brain_service_client::BrainServiceClient;
use amem_proto::v1::fact_service_client::FactServiceClient;
use amem_proto::v1::memory_service_client::MemoryServiceClient;
use prost::Message;
use prost::bytes::Bytes;
use tonic::{IntoRequest, IntoStreamingRequest, Request, Response, Status, Streaming};

use super::link::AuthorizedChannel;
use super::unary::{BytesFuture, unary};

type Result<T> = std::result::Result<Response<T>, Status>;

/// The answer to a call on its way. Without effect until it is waited for; dropping it gives the call up.
#[must_use = "a call is made when its answer is waited for"]
pub struct StubAnswer<A> {
    bytes: BytesFuture,
    of: PhantomData<fn() -> A>,
}

impl<A: Message + Default> Future for StubAnswer<A> {
    type Output = Result<A>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        Poll::Ready(match ready!(self.bytes.as_mut().poll(cx)) {
            Ok(answer) => decoded(answer),
            Err(status) => Err(status),
        })
    }
}

fn decoded<A: Message + Default>(answer: Response<Bytes>) -> Result<A> {
    let (metadata, bytes, extensions) = answer.into_parts();
    let message = A::decode(&bytes[..]).map_err(|why| Status::internal(why.to_string()))?;
    Ok(Response::from_parts(metadata, message, extensions))
}

fn send<M: Message, A>(
    link: &AuthorizedChannel,
    path: &'static str,
    request: Request<M>,
) -> StubAnswer<A> {
    let request = request.map(|message| Bytes::from(message.encode_to_vec()));
    StubAnswer {
        bytes: unary(link.clone(), path, request),
        of: PhantomData,
    }
}

/// The calls of a service: those without streams by its list, the others as given.
macro_rules! stub {
    ($name:ident $what:literal { $($streams:tt)* }
        $($method:ident $request:ident $response:ident $path:literal;)*) => {
        #[doc = $what]
        ///
        /// The calls are those of `amem.v1`, where they are described.
        #[derive(Debug, Clone)]
        pub struct $name(pub(super) AuthorizedChannel);

        impl $name {
            $(#[doc = concat!("Makes the call `", $path, "`.")]
            pub fn $method(
                &mut self,
                request: impl IntoRequest<v1::$request>,
            ) -> StubAnswer<v1::$response> {
                send(&self.0, $path, request.into_request())
            })*

            $($streams)*
        }
    };
}

macro_rules! query {
    ($($rows:tt)*) => { stub! { QueryStub "The questions of a brain." {} $($rows)* } };
}

macro_rules! memory {
    ($($rows:tt)*) => {
        stub! { MemoryStub "The changes of a brain." {
            /// Changes as a stream of batches.
            pub async fn ingest_stream(
                &mut self,
                batches: impl IntoStreamingRequest<Message = v1::IngestStreamRequest>,
            ) -> Result<Streaming<v1::IngestStreamResponse>> {
                MemoryServiceClient::new(self.0.clone()).ingest_stream(batches).await
            }

            /// Follows the commits of a brain.
            pub async fn subscribe(
                &mut self,
                request: impl IntoRequest<v1::SubscribeRequest>,
            ) -> Result<Streaming<v1::SubscribeResponse>> {
                MemoryServiceClient::new(self.0.clone()).subscribe(request).await
            }
        } $($rows)* }
    };
}

macro_rules! brain {
    ($($rows:tt)*) => {
        stub! { BrainStub "Brains as files." {
            /// Sends a file as a new brain.
            pub async fn import_brain(
                &mut self,
                parts: impl IntoStreamingRequest<Message = v1::ImportBrainRequest>,
            ) -> Result<v1::ImportBrainResponse> {
                BrainServiceClient::new(self.0.clone()).import_brain(parts).await
            }

            /// Sends a file whose events are merged into a brain.
            pub async fn merge_brain(
                &mut self,
                parts: impl IntoStreamingRequest<Message = v1::MergeBrainRequest>,
            ) -> Result<v1::MergeBrainResponse> {
                BrainServiceClient::new(self.0.clone()).merge_brain(parts).await
            }

            /// Receives a brain as a file.
            pub async fn export_brain(
                &mut self,
                request: impl IntoRequest<v1::ExportBrainRequest>,
            ) -> Result<Streaming<v1::ExportBrainResponse>> {
                BrainServiceClient::new(self.0.clone()).export_brain(request).await
            }
        } $($rows)* }
    };
}

macro_rules! fact {
    ($($rows:tt)*) => {
        stub! { FactStub "The memories of a brain." {
            /// Receives the memories of a scope.
            pub async fn export_facts(
                &mut self,
                request: impl IntoRequest<v1::ExportFactsRequest>,
            ) -> Result<Streaming<v1::ExportFactsResponse>> {
                FactServiceClient::new(self.0.clone()).export_facts(request).await
            }
        } $($rows)* }
    };
}

macro_rules! item {
    ($($rows:tt)*) => { stub! { ItemStub "Items by namespace and key." {} $($rows)* } };
}

macro_rules! hook {
    ($($rows:tt)*) => { stub! { HookStub "Moments of agents' sessions." {} $($rows)* } };
}

macro_rules! admin {
    ($($rows:tt)*) => { stub! { AdminStub "The daemon." {} $($rows)* } };
}

amem_proto::for_each_query_call!(query);
amem_proto::for_each_memory_call!(memory);
amem_proto::for_each_brain_call!(brain);
amem_proto::for_each_fact_call!(fact);
amem_proto::for_each_item_call!(item);
amem_proto::for_each_hook_call!(hook);
amem_proto::for_each_admin_call!(admin);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_keeps_its_metadata_and_a_malformed_one_is_an_error() {
        let message = v1::GetBrainRequest {
            brain: "work".into(),
        };
        let mut answer = Response::new(Bytes::from(message.encode_to_vec()));
        let name = answer.metadata_mut();
        name.insert("x-request-id", "turn-7".parse().unwrap());
        let answer = decoded::<v1::GetBrainRequest>(answer).unwrap();
        assert_eq!(answer.metadata().get("x-request-id").unwrap(), "turn-7");
        assert_eq!(answer.into_inner(), message);
        let malformed = Response::new(Bytes::from_static(&[0x0a, 9]));
        let status = decoded::<v1::GetBrainRequest>(malformed).unwrap_err();
        assert_eq!(status.code(), tonic::Code::Internal);
    }
}
