//! Connections over TCP: the token that they carry, and what can't be one.

use amem_client::{Client, Refusal, Tls};
use tokio::net::TcpListener;
use tokio_stream::wrappers::TcpListenerStream;
use tonic::service::interceptor::InterceptedService;
use tonic::transport::Server;
use tonic::{Code, Request, Status};
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_client::HealthClient;

use crate::kit::check;

fn with_token(request: Request<()>) -> Result<Request<()>, Status> {
    match request.metadata().get("authorization") {
        Some(value) if value == "Bearer secret" => Ok(request),
        _ => Err(Status::unauthenticated("no token")),
    }
}

#[tokio::test]
async fn a_connection_over_tcp_carries_its_token_in_every_call() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let (_reporter, health) = tonic_health::server::health_reporter();
    let server = Server::builder().add_service(InterceptedService::new(health, with_token));
    tokio::spawn(server.serve_with_incoming(TcpListenerStream::new(listener)));
    for (token, code) in [
        (Some("secret\n"), Code::Ok),
        (Some("wrong"), Code::Unauthenticated),
        (None, Code::Unauthenticated),
    ] {
        let client = Client::connect_tcp(&address, token, None).await.unwrap();
        let mut health = HealthClient::new(client.link());
        let answer = health.check(HealthCheckRequest::default()).await;
        let found = answer.map_or_else(|status| status.code(), |_| Code::Ok);
        assert_eq!(found, code, "{token:?}");
    }
}

#[tokio::test]
async fn an_invalid_address_is_refused_before_a_connection_attempt() {
    let connect = async |address: &str, token, tls| {
        let connected = Client::connect_tcp(address, token, tls).await;
        connected.map_err(Refusal::from)
    };
    let invalid = Code::InvalidArgument;
    let answer = connect("not an address", None, None).await;
    check(answer, invalid, "CONNECT", "address");
    let answer = connect("127.0.0.1:1", Some("two\nlines"), None).await;
    check(answer, invalid, "CONNECT", "token");
    let none = Tls::default();
    let answer = connect("127.0.0.1:1", None, Some(none)).await;
    check(answer, invalid, "CONNECT", "authority");
    let answer = connect("127.0.0.1:1", None, None).await;
    check(answer, Code::Unavailable, "CONNECT", "127.0.0.1:1");
    let answer = Client::connect_unix("/nowhere/s")
        .await
        .map_err(Refusal::from);
    check(answer, Code::Unavailable, "CONNECT", "/nowhere/s");
}
