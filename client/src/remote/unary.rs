//! Unary calls as bytes.

use std::pin::Pin;

use amem_proto::codec::BytesCodec;
use prost::bytes::Bytes;
use tonic::client::Grpc;
use tonic::codegen::http::uri::PathAndQuery;
use tonic::{Request, Response, Status};

use super::link::AuthorizedChannel;

/// An answer on its way.
pub(super) type BytesFuture = Pin<Box<dyn Future<Output = Result<Response<Bytes>, Status>> + Send>>;

/// Makes a call once the connection is ready.
pub(super) fn unary(
    link: AuthorizedChannel,
    path: &'static str,
    request: Request<Bytes>,
) -> BytesFuture {
    Box::pin(async move {
        let mut grpc = Grpc::new(link);
        // The words are those of the clients that tonic generates.
        let ready = grpc.ready().await;
        ready.map_err(|why| Status::unknown(format!("Service was not ready: {why}")))?;
        let path = PathAndQuery::from_static(path);
        grpc.unary(request, path, BytesCodec::<Bytes>::new()).await
    })
}
