//! The server of agents' memory with what the conformance suite of the Model Context Protocol calls, by HTTP.
//!
//! `amem-conformance` prints its URL and serves until it is killed. `/mcp` has the daemon's configuration; `/sessions`
//! has sessions too, because the suite has scenarios of the older era in which a server calls its client, which our
//! server never does. The handler is that of `amem_mcp`; the suite's own tools, prompts and resources stand beside its.
//!
//! Not here: the daemon's checks before a request reaches the handler (`tests/mcp` runs the suite against the daemon).

#![forbid(unsafe_code)]
#![expect(
    deprecated,
    reason = "the older era has log levels and subscriptions of one resource"
)]

mod fixture;
mod memory;
mod questions;
mod samples;
mod tools;

use std::convert::Infallible;
use std::sync::Arc;

use amem_mcp::http_config;
use amem_mcp::rmcp::transport::streamable_http_server::session::SessionManager;
use amem_mcp::rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use amem_mcp::rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use amem_mcp::rmcp::transport::streamable_http_server::{
    StreamableHttpServerConfig, StreamableHttpService,
};
use amem_proto::limits::ANSWER_BYTES_MAX;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;

use crate::fixture::{Era, Fixture};
use crate::questions::Rounds;

#[tokio::main]
async fn main() -> std::io::Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("http://{}", listener.local_addr()?);
    // The daemon checks hosts and origins for all routes; here the transport does.
    let config = http_config(ANSWER_BYTES_MAX).with_allowed_origins([url.clone()]);
    let alone = service(Era::Both, NeverSessionManager::default(), config.clone());
    let config = config.with_legacy_session_mode(true);
    let sessions = service(Era::Sessions, LocalSessionManager::default(), config);
    println!("{url}");
    loop {
        let (stream, _) = listener.accept().await?;
        let (alone, sessions) = (alone.clone(), sessions.clone());
        let answer = service_fn(move |request: hyper::Request<hyper::body::Incoming>| {
            let (alone, sessions) = (alone.clone(), sessions.clone());
            async move {
                Ok::<_, Infallible>(match request.uri().path() {
                    "/sessions" => sessions.handle(request).await,
                    _ => alone.handle(request).await,
                })
            }
        });
        tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), answer));
    }
}

fn service<M: SessionManager>(
    era: Era,
    sessions: M,
    config: StreamableHttpServerConfig,
) -> StreamableHttpService<Fixture, M> {
    let rounds = Arc::new(Rounds::default());
    let fixture = move || Ok(Fixture::new(era, rounds.clone()));
    StreamableHttpService::new(fixture, Arc::new(sessions), config)
}
