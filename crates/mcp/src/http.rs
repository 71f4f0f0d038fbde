//! Streamable HTTP: how the server is configured behind it, the same in the daemon and in the tests of conformance.
//!
//! Not here: the connection, tokens, and which hosts and origins are let in.

use std::pin::Pin;
use std::sync::Arc;

use axum::body::Body;
use axum::http::{Request, Response};
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};

use crate::server::MemoryServer;

/// Each request by itself, without sessions; answers in JSON; bodies of at most `body_bytes_max`.
#[must_use]
pub fn http_config(body_bytes_max: usize) -> StreamableHttpServerConfig {
    StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_max_request_body_bytes(body_bytes_max)
}

/// An answer on its way.
type HttpFuture = Pin<Box<dyn Future<Output = Response<Body>> + Send>>;

/// Answers a request whose host and origin were checked; its body has at most `body_bytes_max`. `server` makes the
/// server of a request. Boxed here, so that the protocol is compiled in this crate.
pub fn answer_http(
    server: Box<dyn Fn() -> MemoryServer + Send + Sync>,
    body_bytes_max: usize,
    request: Request<Body>,
) -> HttpFuture {
    let config = http_config(body_bytes_max).disable_allowed_hosts();
    let sessions = Arc::new(NeverSessionManager::default());
    let service = StreamableHttpService::new(move || Ok(server()), sessions, config);
    Box::pin(async move { service.handle(request).await.map(Body::new) })
}
