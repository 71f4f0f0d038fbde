//! HTTP on accepted connections: HTTP/1.1 or HTTP/2, as the client begins.
//!
//! Promises: a connection whose client says nothing, whose caller is not accepted, or whose answers are not read, ends;
//! when the daemon stops, requests in progress end within `DRAIN`.

use std::convert::Infallible;
use std::future::poll_fn;
use std::io;
use std::pin::pin;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use hyper::body::Incoming;
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use tokio::io::AsyncReadExt;
use tokio::sync::{mpsc, watch};
use tokio::time::{sleep, timeout};
use tokio_rustls::rustls::ServerConfig;
use tower::Service;

use super::background::BackgroundWork;
use super::body::UnreadAnswers;
use super::call::{Description, RestSite};
use super::openapi;
use super::routes;
use super::serve::{RestPeer, RestService};
use super::stream::RestStream;
use crate::auth::TlsKeys;
use crate::calls::Gateway;
use crate::grpc::GrpcConnection;
use crate::grpc::http2::PREFACE;
use crate::http::pages::PageSources;
use crate::ingress::Peer;
use crate::ingress::accept::{AcceptedConnection, Handler};
use crate::ingress::admission::Admission;
use crate::ingress::connection_limit::ConnectionSlot;
use crate::ingress::latency::Latencies;
use crate::ingress::stream::PeerStream;
use crate::limits::{
    DRAIN, FIRST_CALL_AFTER, HEADER_BYTES_MAX, HTTP_HEAD_AFTER, HTTP_HEAD_BYTES_MAX,
};

/// Serves HTTP on accepted connections.
#[derive(Debug, Clone)]
pub(crate) struct RestHandler {
    router: Router,
    site: Arc<RestSite>,
    stopping: watch::Receiver<bool>,
    /// Held by each connection, and by work in the background.
    alive: mpsc::Sender<()>,
}

/// The connections that are being served, and work that goes on without one.
#[derive(Debug)]
pub(crate) struct RestConnections(mpsc::Receiver<()>);

impl RestConnections {
    /// Ready once the last of them has ended, and the handler is gone.
    pub(crate) async fn ended(mut self) {
        while self.0.recv().await.is_some() {}
    }
}

/// How a client begins.
enum Beginning {
    Http1(Vec<u8>),
    Http2,
}

impl RestHandler {
    /// A handler whose connections end once `stopping` is true.
    pub(crate) fn new(
        gateway: &Arc<Gateway>,
        latencies: &Latencies,
        admission: Admission,
        stopping: watch::Receiver<bool>,
    ) -> (Self, RestConnections) {
        let (alive, connections) = mpsc::channel(1);
        let site = Arc::new(RestSite {
            gateway: gateway.clone(),
            sources: PageSources {
                brains: gateway.brains.clone(),
                latencies: latencies.clone(),
            },
            description: Description {
                document: || openapi::document().1,
                page: openapi::page,
            },
            background: BackgroundWork {
                stopping: stopping.clone(),
                alive: alive.downgrade(),
            },
            metrics: Default::default(),
            events: Default::default(),
            exports: Default::default(),
        });
        let service = RestService {
            site: site.clone(),
            admission,
        };
        let handler = Self {
            router: routes::router(&service),
            site,
            stopping,
            alive,
        };
        (handler, RestConnections(connections))
    }

    async fn serve_http1(&self, stream: RestStream, peer: RestPeer) {
        let (answers, lines) = (peer.answers.clone(), stream.lines().clone());
        let peer = RestPeer {
            lines: Some(lines),
            ..peer
        };
        let router = self.router.clone();
        let service =
            service_fn(move |request| Box::pin(respond(router.clone(), peer.clone(), request)));
        // hyper takes `HTTP_HEADERS_MAX` headers. With another number it allocates for each request.
        let mut connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HTTP_HEAD_AFTER)
            .max_header_size(HTTP_HEAD_BYTES_MAX)
            .half_close(true)
            .writev(false)
            .serve_connection(TokioIo::new(stream), service);
        let mut stopping = self.stopping.clone();
        let mut is_stopping = false;
        let served = loop {
            tokio::select! {
                served = poll_fn(|cx| connection.poll_without_shutdown(cx)) => break served,
                () = answers.given_up() => return unread(),
                () = stopped(&mut stopping), if !is_stopping => {
                    is_stopping = true;
                    Pin::new(&mut connection).graceful_shutdown();
                }
                () = sleep(DRAIN), if is_stopping => return,
            }
        };
        if let Err(why) = served {
            tracing::debug!(%why, "a connection of HTTP/1 ended");
        }
        connection.into_parts().io.into_inner().end().await;
    }

    async fn serve_http2(&self, connection: GrpcConnection, peer: RestPeer) {
        let limits = self.site.gateway.control.live().limits.clone();
        let answers = peer.answers.clone();
        let router = self.router.clone();
        let service = service_fn(move |request| respond(router.clone(), peer.clone(), request));
        let streams = u32::try_from(limits.streams_per_connection).unwrap_or(u32::MAX);
        let connection = http2::Builder::new(TokioExecutor::new())
            .timer(TokioTimer::new())
            .max_concurrent_streams(streams)
            .max_header_list_size(HEADER_BYTES_MAX)
            .keep_alive_interval(limits.keepalive())
            .keep_alive_timeout(limits.keepalive_answer())
            .serve_connection(TokioIo::new(connection), service);
        let mut connection = pin!(connection);
        let mut stopping = self.stopping.clone();
        let mut is_stopping = false;
        let served = loop {
            tokio::select! {
                served = &mut connection => break served,
                () = answers.given_up() => return unread(),
                () = stopped(&mut stopping), if !is_stopping => {
                    is_stopping = true;
                    connection.as_mut().graceful_shutdown();
                }
                () = sleep(DRAIN), if is_stopping => return,
            }
        };
        if let Err(why) = served {
            tracing::debug!(%why, "a connection of HTTP/2 ended");
        }
    }
}

impl Handler for RestHandler {
    async fn handle(&self, accepted: AcceptedConnection) {
        let AcceptedConnection {
            mut stream,
            peer,
            mut slot,
        } = accepted;
        let this = self.clone();
        let within = this.site.gateway.control.live().limits.preface();
        let beginning = tokio::select! {
            beginning = timeout(within, read_beginning(&mut stream)) => beginning,
            () = &mut slot => return,
        };
        let Ok(Ok(beginning)) = beginning else {
            tracing::debug!(peer = %peer.key(), "closed a silent connection");
            return;
        };
        this.serve(beginning, stream, peer, slot).await;
    }

    fn tls<'k>(&self, keys: &'k TlsKeys) -> &'k Arc<ServerConfig> {
        &keys.http
    }
}

impl RestHandler {
    async fn serve(
        self,
        beginning: Beginning,
        stream: PeerStream,
        peer: Peer,
        slot: ConnectionSlot,
    ) {
        let rest_peer = RestPeer {
            peer: peer.clone(),
            session: slot.session(),
            source: stream.source(),
            lines: None,
            answers: Arc::<UnreadAnswers>::default(),
        };
        let _alive = &self.alive;
        match beginning {
            Beginning::Http1(ahead) => {
                let stream = RestStream::new(stream, slot, ahead);
                self.serve_http1(stream, rest_peer).await;
            }
            Beginning::Http2 => {
                let connection = GrpcConnection::new(stream, peer, slot, FIRST_CALL_AFTER);
                self.serve_http2(connection, rest_peer).await;
            }
        }
    }
}

fn unread() {
    tracing::debug!("closed a connection whose answers are not read");
}

async fn stopped(stopping: &mut watch::Receiver<bool>) {
    // Without a sender the daemon has stopped.
    drop(stopping.wait_for(|stop| *stop).await);
}

/// Reads until the client has begun HTTP/2, or anything else.
async fn read_beginning(stream: &mut PeerStream) -> io::Result<Beginning> {
    let mut beginning = Vec::with_capacity(PREFACE.len());
    while PREFACE.starts_with(&beginning) {
        if beginning.len() == PREFACE.len() {
            return Ok(Beginning::Http2);
        }
        let left = (PREFACE.len() - beginning.len()) as u64;
        if stream.take(left).read_buf(&mut beginning).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
    Ok(Beginning::Http1(beginning))
}

async fn respond(
    mut router: Router,
    peer: RestPeer,
    request: Request<Incoming>,
) -> Result<Response<Body>, Infallible> {
    let mut request = request.map(Body::new);
    request.extensions_mut().insert(peer);
    router.call(request).await
}
