//! The echo: a bare tonic service that returns each message, with the daemon's server settings.
//!
//! It measures the cost of an empty call. The messages equal the daemon's answers, so that the same number of bytes is
//! encoded, sent and decoded.

use std::convert::Infallible;
use std::error::Error;
use std::future::{Future, Ready, ready};
use std::path::Path;
use std::pin::Pin;
use std::task::{Context, Poll};

use amem_client::v1::GetEventsResponse;
use amemd::limits::{CONNECTION_STREAMS_MAX, HEADER_BYTES_MAX};
use tokio::net::UnixListener;
use tokio_stream::wrappers::UnixListenerStream;
use tonic::body::Body;
use tonic::codegen::http;
use tonic::server::{Grpc, NamedService, UnaryService};
use tonic::transport::{Channel, Server};
use tonic::{Request, Response, Status};
use tonic_prost::ProstCodec;

type Codec = ProstCodec<GetEventsResponse, GetEventsResponse>;

/// Serves the echo until the process is ended.
#[tokio::main]
pub(crate) async fn serve(socket: &Path) -> Result<(), Box<dyn Error>> {
    let incoming = UnixListenerStream::new(UnixListener::bind(socket)?);
    let server = Server::builder()
        .max_concurrent_streams(CONNECTION_STREAMS_MAX)
        .http2_max_header_list_size(HEADER_BYTES_MAX)
        .add_service(Echo);
    println!("ready");
    Ok(server.serve_with_incoming(incoming).await?)
}

/// One call.
pub(crate) async fn call(
    channel: Channel,
    message: GetEventsResponse,
) -> Result<GetEventsResponse, Status> {
    let mut grpc = tonic::client::Grpc::new(channel);
    let ready = grpc.ready().await;
    ready.map_err(|why| Status::unavailable(why.to_string()))?;
    let path = http::uri::PathAndQuery::from_static("/amem.bench.Echo/Say");
    let request = Request::new(message);
    let answer = grpc.unary(request, path, Codec::default()).await?;
    Ok(answer.into_inner())
}

#[derive(Clone)]
struct Echo;

impl NamedService for Echo {
    const NAME: &'static str = "amem.bench.Echo";
}

impl tower::Service<http::Request<Body>> for Echo {
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        Box::pin(async { Ok(Grpc::new(Codec::default()).unary(Same, request).await) })
    }
}

struct Same;

impl UnaryService<GetEventsResponse> for Same {
    type Response = GetEventsResponse;
    type Future = Ready<Result<Response<GetEventsResponse>, Status>>;

    fn call(&mut self, request: Request<GetEventsResponse>) -> Self::Future {
        ready(Ok(Response::new(request.into_inner())))
    }
}
