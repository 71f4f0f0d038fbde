//! The services of amem.v1: each RPC goes to `calls`, and each refusal becomes a status.
//!
//! A call is found by its path, in the table that `amem_proto` makes of the `.proto` files. So gRPC is compiled once,
//! and not for each call. Not here: what a call does (`calls`), calls with streams (`streams`).

use std::convert::Infallible;
use std::future::ready;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use amem_proto::calls::{CALLS, Call, call};
use amem_proto::codec::BytesCodec;
use amem_proto::v1::{DESCRIPTORS, Permission};
use axum::Router;
use prost::bytes::Bytes;
use tonic::body::Body;
use tonic::codegen::http;
use tonic::server::{Grpc, UnaryService};
use tonic::service::Routes;
use tonic::{Request, Response, Status};

use super::call_parts::{StatusFuture, malformed, parts};
use super::health::Health;
use super::streams::StreamCall;
use crate::calls::Gateway;
use crate::calls::dispatch::{CallAnswer, CallError, execute};
use crate::limits::{BATCH_BYTES_MAX, ENVELOPE_BYTES, MESSAGE_BYTES_MAX};

/// All services of amem.v1.
#[derive(Debug, Clone)]
pub(crate) struct CallService(pub(crate) Arc<Gateway>);

/// The services whose messages may be as large as a batch.
const BATCH_SERVICE: &str = "MemoryService";

impl CallService {
    /// The names of the services.
    pub(crate) fn names() -> Vec<String> {
        let mut names: Vec<_> = CALLS.iter().map(|call| call.service).collect();
        names.sort_unstable();
        names.dedup();
        names.iter().map(|name| format!("amem.v1.{name}")).collect()
    }

    /// The routes of all calls, and of the services of gRPC itself.
    pub(crate) fn routes(self, health: &Health) -> Result<Router, tonic_reflection::server::Error> {
        let reflection = || {
            tonic_reflection::server::Builder::configure()
                .register_encoded_file_descriptor_set(DESCRIPTORS)
                .register_encoded_file_descriptor_set(amem_proto::health::DESCRIPTORS)
        };
        let routes = Routes::new(health.service())
            .add_service(reflection().build_v1()?)
            .add_service(reflection().build_v1alpha()?);
        let mut router = routes.into_axum_router();
        for name in Self::names() {
            let path = format!("/{name}/{{*rest}}");
            router = router.route_service(&path, self.clone());
        }
        Ok(router)
    }
}

impl<B> tower::Service<http::Request<B>> for CallService
where
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<tonic::codegen::StdError> + Send,
{
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<http::Response<Body>, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<B>) -> Self::Future {
        let Some(call) = call(request.uri().path()) else {
            return Box::pin(ready(Ok(Status::unimplemented("").into_http())));
        };
        // A batch and its envelope.
        let decoded_max = match call.service {
            BATCH_SERVICE => BATCH_BYTES_MAX + ENVELOPE_BYTES,
            _ => MESSAGE_BYTES_MAX,
        };
        let mut grpc = Grpc::new(BytesCodec::<CallAnswer>::new())
            .max_decoding_message_size(decoded_max)
            .max_encoding_message_size(MESSAGE_BYTES_MAX);
        let gateway = self.0.clone();
        Box::pin(async move {
            Ok(match StreamCall::of(call.path) {
                None => grpc.unary(UnaryCall { gateway, call }, request).await,
                Some(StreamCall::Answers(way)) => {
                    grpc.server_streaming(way.of(gateway), request).await
                }
                Some(StreamCall::Requests(way)) => {
                    grpc.client_streaming(way.of(gateway), request).await
                }
                Some(StreamCall::Both(way)) => grpc.streaming(way.of(gateway), request).await,
            })
        })
    }
}

/// Executes a call without streams.
struct UnaryCall {
    gateway: Arc<Gateway>,
    call: &'static Call,
}

impl UnaryService<Bytes> for UnaryCall {
    type Response = CallAnswer;
    type Future = StatusFuture<Self::Response>;

    fn call(&mut self, request: Request<Bytes>) -> Self::Future {
        let (gateway, call) = (self.gateway.clone(), self.call);
        Box::pin(async move {
            let (caller, request) = parts(request)?;
            let answer = execute(call.path, &gateway, &caller, request).await;
            let answer = answer.map_err(|error| match error {
                CallError::Malformed(why) => malformed(&why),
                CallError::Refused(refusal) => refusal.into(),
            })?;
            // The answer holds its bytes until it is read; a refusal if there is no room for them.
            let lease = match is_counted(call) {
                true => gateway
                    .answers_to(&caller)
                    .lease_bytes(answer.encoded_len())?,
                false => None,
            };
            let mut response = Response::new(answer);
            if let Some(lease) = lease {
                response.extensions_mut().insert(lease);
            }
            Ok(response)
        })
    }
}

/// True if the bytes of an answer count until it is read. That to a change is smaller than the request, whose bytes
/// count until it is read, and must not be refused once the change is done.
fn is_counted(call: &Call) -> bool {
    match call.service {
        "MemoryService" => false,
        "FactService" | "ItemService" | "HookService" => call.permission != Permission::Write,
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use prost::Message;

    fn counted(path: &str) -> bool {
        is_counted(call(path).unwrap())
    }

    #[test]
    fn answers_to_requests_about_facts_count_unless_they_change_the_brain() {
        assert!(!counted("/amem.v1.FactService/AddFacts"));
        assert!(!counted("/amem.v1.FactService/ResetFacts"));
        assert!(counted("/amem.v1.FactService/SearchFacts"));
        assert!(counted("/amem.v1.FactService/ListFacts"));
        assert!(counted("/amem.v1.QueryService/Search"));
        assert!(!counted("/amem.v1.MemoryService/Ingest"));
    }

    #[test]
    fn the_services_are_those_of_the_descriptors() {
        let files = prost_types::FileDescriptorSet::decode(amem_proto::v1::DESCRIPTORS).unwrap();
        let services = files.file.iter().flat_map(|file| &file.service);
        let mut names: Vec<_> = services
            .map(|service| format!("amem.v1.{}", service.name()))
            .collect();
        names.sort();
        assert_eq!(CallService::names(), names);
    }
}
