//! Calls on accepted connections, by HTTP/1.1 or HTTP/2, as the client begins.
//!
//! Promises: a connection whose client says nothing, or whose caller is not accepted, ends, and so does one of HTTP/1
//! whose answer is not read; when the daemon stops, requests in progress have `DRAIN` to end.

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

use super::connection_guard::ConnectionGuard;
use super::http1::{Http1Stream, LengthLines};
use super::http2::{Http2Stream, PREFACE};
use super::unsent_bytes::UnsentBytes;
use crate::auth::TlsKeys;
use crate::config::Limits;
use crate::control::Control;
use crate::ingress::Peer;
use crate::ingress::accept::{AcceptedConnection, Handler};
use crate::ingress::session::SessionState;
use crate::ingress::stream::PeerStream;
use crate::limits::{
    DRAIN, FIRST_CALL_AFTER, HEADER_BYTES_MAX, HTTP_HEAD_AFTER, HTTP_HEAD_BYTES_MAX,
};

/// What every request of a connection carries among its extensions.
#[derive(Debug, Clone)]
pub(crate) struct ConnectionInfo {
    pub(crate) peer: Peer,
    pub(crate) session: Arc<SessionState>,
    /// The process of the client; of a client that has none here, a number of the connection.
    pub(crate) source: u64,
    pub(super) unsent: Arc<UnsentBytes>,
    /// Of a connection of HTTP/1.
    pub(crate) lines: Option<Arc<LengthLines>>,
}

impl ConnectionInfo {
    fn new(peer: Peer, session: Arc<SessionState>, source: u64) -> Self {
        Self {
            peer,
            session,
            source,
            unsent: Arc::default(),
            lines: None,
        }
    }

    #[cfg(test)]
    pub(super) fn without_slot(peer: Peer) -> Self {
        Self::new(peer, Arc::default(), 1)
    }
}

/// The versions of HTTP that a listener serves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Versions {
    /// HTTP/2, as gRPC needs it.
    Two,
    /// HTTP/1.1 and HTTP/2.
    OneAndTwo,
}

/// Serves calls on accepted connections.
#[derive(Debug, Clone)]
pub(crate) struct ConnectionServer {
    pub(crate) router: Router,
    pub(crate) versions: Versions,
    pub(crate) control: Control,
    /// Those of the start: what connections may do needs a restart.
    pub(crate) limits: Limits,
    /// Connections end once it is true.
    pub(crate) stopping: watch::Receiver<bool>,
    /// Held by each connection.
    pub(crate) alive: mpsc::WeakSender<()>,
}

/// The connections that are being served, and work that goes on without one.
#[derive(Debug)]
pub(crate) struct CallConnections {
    alive: mpsc::Sender<()>,
    ended: mpsc::Receiver<()>,
}

impl CallConnections {
    pub(crate) fn new() -> Self {
        let (alive, ended) = mpsc::channel(1);
        Self { alive, ended }
    }

    /// What each of them holds while it is served. No connection begins once this is gone.
    pub(crate) fn alive(&self) -> mpsc::WeakSender<()> {
        self.alive.downgrade()
    }

    /// Ready once the last of them has ended.
    pub(crate) async fn ended(self) {
        let Self { alive, mut ended } = self;
        drop(alive);
        while ended.recv().await.is_some() {}
    }
}

/// How a client begins.
enum Beginning {
    Http1(Vec<u8>),
    Http2,
}

impl Handler for ConnectionServer {
    async fn handle(&self, accepted: AcceptedConnection) {
        let AcceptedConnection {
            mut stream,
            peer,
            mut slot,
        } = accepted;
        let key = peer.key();
        let mut stopping = self.stopping.clone();
        let within = self.control.live().limits.preface();
        let beginning = tokio::select! {
            beginning = timeout(within, self.read_beginning(&mut stream)) => beginning,
            () = &mut slot => {
                tracing::debug!(peer = %key, "closed a silent connection: another connection needed its slot");
                return;
            }
            () = stopped(&mut stopping) => return,
        };
        let beginning = match beginning {
            Ok(Ok(beginning)) => beginning,
            Ok(Err(why)) => {
                tracing::debug!(peer = %key, %why, "a connection ended before its first request");
                return;
            }
            Err(_) => {
                tracing::debug!(peer = %key, "closed a silent connection");
                return;
            }
        };
        let Some(_alive) = self.alive.upgrade() else {
            return;
        };
        let mut info = ConnectionInfo::new(peer, slot.session(), stream.source());
        let guard = ConnectionGuard::new(key, slot, FIRST_CALL_AFTER);
        match beginning {
            Beginning::Http1(ahead) => {
                let stream = Http1Stream::new(stream, guard, ahead);
                info.lines = Some(stream.lines().clone());
                self.serve_http1(stream, info).await;
            }
            Beginning::Http2 => {
                self.serve_http2(Http2Stream::new(stream, guard), info)
                    .await
            }
        }
    }

    fn tls<'k>(&self, keys: &'k TlsKeys) -> &'k Arc<ServerConfig> {
        match self.versions {
            Versions::Two => &keys.server,
            Versions::OneAndTwo => &keys.http,
        }
    }
}

impl ConnectionServer {
    /// Reads until the client has begun HTTP/2, or anything else.
    async fn read_beginning(&self, stream: &mut PeerStream) -> io::Result<Beginning> {
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
        match self.versions {
            Versions::OneAndTwo => Ok(Beginning::Http1(beginning)),
            Versions::Two => {
                let why = "the client does not speak HTTP/2";
                Err(io::Error::new(io::ErrorKind::InvalidData, why))
            }
        }
    }

    async fn serve_http1(&self, stream: Http1Stream, info: ConnectionInfo) {
        let (unsent, router) = (info.unsent.clone(), self.router.clone());
        let service =
            service_fn(move |request| Box::pin(respond(router.clone(), info.clone(), request)));
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
                // Nothing else can be sent before the answer that was given up.
                () = unsent.given_up() => {
                    tracing::debug!("closed a connection whose answer is not read");
                    return;
                }
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

    async fn serve_http2(&self, stream: Http2Stream, info: ConnectionInfo) {
        let limits = &self.limits;
        let router = self.router.clone();
        let service = service_fn(move |request| respond(router.clone(), info.clone(), request));
        let streams = u32::try_from(limits.streams_per_connection).unwrap_or(u32::MAX);
        let connection = http2::Builder::new(TokioExecutor::new())
            .timer(TokioTimer::new())
            .max_concurrent_streams(streams)
            .max_header_list_size(HEADER_BYTES_MAX)
            .keep_alive_interval(limits.keepalive())
            .keep_alive_timeout(limits.keepalive_answer())
            .serve_connection(TokioIo::new(stream), service);
        let mut connection = pin!(connection);
        let mut stopping = self.stopping.clone();
        let mut is_stopping = false;
        let served = loop {
            tokio::select! {
                served = &mut connection => break served,
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

async fn stopped(stopping: &mut watch::Receiver<bool>) {
    // Without a sender the daemon has stopped.
    drop(stopping.wait_for(|stop| *stop).await);
}

async fn respond(
    mut router: Router,
    info: ConnectionInfo,
    request: Request<Incoming>,
) -> Result<Response<Body>, Infallible> {
    let mut request = request.map(Body::new);
    request.extensions_mut().insert(info);
    router.call(request).await
}
