//! Accepting connections: a slot, TLS, then the protocol's handler.

use std::fmt::Display;
use std::future::Future;
use std::io;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use amem_engine::tasks::spawn_named;
use amem_locks::LockResultExt;
use tokio::net::{TcpListener, TcpStream, UnixStream};
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;

use super::connection_limit::{ConnectionLimit, ConnectionSlot};
use super::listeners::CallListeners;
use super::peer::Peer;
use super::stream::PeerStream;
use crate::auth::{TlsKeys, certificate_name};
use crate::control::Control;
use crate::metrics::DaemonMetrics;
use crate::os::Socket;

/// How long accepting pauses after it failed: the process is probably out of descriptors.
pub(crate) const ACCEPT_AGAIN_AFTER: Duration = Duration::from_millis(100);

/// The shortest time between two warnings of refused connections.
const WARN_AGAIN_AFTER: Duration = Duration::from_secs(1);

/// A connection with its slot.
#[derive(Debug)]
pub(crate) struct AcceptedConnection {
    pub(crate) stream: PeerStream,
    pub(crate) peer: Peer,
    pub(crate) slot: ConnectionSlot,
}

/// The protocol that is spoken on accepted connections.
pub(crate) trait Handler: Send + Sync + 'static {
    /// Takes a connection over.
    fn handle(&self, accepted: AcceptedConnection) -> impl Future<Output = ()> + Send;

    /// The configuration of TLS for the protocol.
    fn tls<'k>(&self, keys: &'k TlsKeys) -> &'k Arc<ServerConfig> {
        &keys.server
    }
}

/// Accepts connections for as long as it is polled, and hands each to `handler` in a task of its own. All protocols
/// share one `limit`.
pub(crate) async fn accept(
    listeners: CallListeners,
    limit: ConnectionLimit,
    control: Control,
    metrics: DaemonMetrics,
    handler: impl Handler,
) {
    let acceptor = Arc::new(Acceptor {
        limit,
        control,
        metrics,
        handler,
        warned: Mutex::default(),
    });
    let CallListeners { unix, tcp } = listeners;
    let by_unix = async {
        match unix {
            None => std::future::pending().await,
            Some(socket) => accept_all_unix(&acceptor, socket).await,
        }
    };
    let by_tcp = async {
        match tcp {
            None => std::future::pending().await,
            Some(listener) => accept_all_tcp(&acceptor, listener).await,
        }
    };
    tokio::join!(by_unix, by_tcp);
}

async fn accept_all_unix<H: Handler>(acceptor: &Arc<Acceptor<H>>, socket: Socket) {
    loop {
        match socket.accept().await {
            Ok(stream) => acceptor.clone().accept_unix(stream),
            Err(error) => pause(&error).await,
        }
    }
}

async fn accept_all_tcp<H: Handler>(acceptor: &Arc<Acceptor<H>>, listener: TcpListener) {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => acceptor.clone().accept_tcp(stream),
            Err(error) => pause(&error).await,
        }
    }
}

async fn pause(error: &io::Error) {
    tracing::warn!(%error, "cannot accept a connection");
    sleep(ACCEPT_AGAIN_AFTER).await;
}

/// What a thread does that polls a connection, apart from its calls.
const CONNECTION: &str = "connection";

struct Acceptor<H> {
    control: Control,
    limit: ConnectionLimit,
    metrics: DaemonMetrics,
    handler: H,
    /// When the last warning of a refused connection was logged.
    warned: Mutex<Option<Instant>>,
}

impl<H: Handler> Acceptor<H> {
    fn accept_unix(self: Arc<Self>, stream: UnixStream) {
        let (uid, gid) = match stream.peer_cred() {
            Ok(peer) => (peer.uid(), peer.gid()),
            Err(error) => return self.refuse("a peer without credentials", &error),
        };
        let peer = Peer::Unix { uid, gid };
        if self.control.live().access.rights(uid, gid).most().is_none() {
            return self.refuse("a user without a role", &peer.key());
        }
        if let Some(slot) = self.acquire(&peer) {
            let stream = PeerStream::Unix(stream);
            let accepted = AcceptedConnection { stream, peer, slot };
            let handle = async move { self.handler.handle(accepted).await };
            spawn_named(CONNECTION, Box::pin(handle));
        }
    }

    fn accept_tcp(self: Arc<Self>, stream: TcpStream) {
        // A small answer must not wait for more to send.
        let ends = stream
            .set_nodelay(true)
            .and_then(|()| Ok((stream.peer_addr()?, stream.local_addr()?)));
        let Ok((from, to)) = ends else {
            return;
        };
        let peer = Peer::Tcp {
            from,
            to,
            tls: false,
            certificate: None,
            client_ca: None,
        };
        if let Some(mut slot) = self.acquire(&peer) {
            let handle = async move {
                let negotiated = tokio::select! {
                    negotiated = self.negotiate(stream, peer) => negotiated,
                    () = &mut slot => None,
                };
                if let Some((stream, peer)) = negotiated {
                    let accepted = AcceptedConnection { stream, peer, slot };
                    self.handler.handle(accepted).await;
                }
            };
            spawn_named(CONNECTION, Box::pin(handle));
        }
    }

    fn acquire(&self, peer: &Peer) -> Option<ConnectionSlot> {
        let key = peer.key();
        match self.limit.acquire(key.clone(), &self.control.live()) {
            Ok(slot) => Some(slot),
            Err(why) => {
                self.refuse("a connection", &format_args!("{key}: {why}"));
                None
            }
        }
    }

    /// Counts a refused connection, and logs it unless one was logged a moment ago: a peer must not fill the log.
    fn refuse(&self, what: &str, why: &dyn Display) {
        self.metrics.turned_away().add(1);
        let mut warned = self.warned.lock().unpoisoned();
        if warned.is_none_or(|warned| warned.elapsed() >= WARN_AGAIN_AFTER) {
            *warned = Some(Instant::now());
            tracing::warn!(%why, "refused {what}");
        }
    }

    /// Negotiates TLS, if it is configured.
    async fn negotiate(&self, stream: TcpStream, peer: Peer) -> Option<(PeerStream, Peer)> {
        let live = self.control.live();
        let Some(keys) = &live.secrets.keys else {
            return Some((PeerStream::Tcp(stream), peer));
        };
        let key = peer.key();
        let accepting = TlsAcceptor::from(self.handler.tls(keys).clone()).accept(stream);
        let stream = match timeout(live.limits.handshake(), accepting).await {
            Ok(Ok(stream)) => stream,
            Ok(Err(why)) => {
                tracing::debug!(peer = %key, %why, "a TLS handshake failed");
                return None;
            }
            Err(_) => {
                tracing::debug!(peer = %key, "a TLS handshake took too long");
                return None;
            }
        };
        let chain = stream.get_ref().1.peer_certificates();
        let leaf = chain.and_then(|chain| chain.first());
        let certificate = leaf.and_then(|leaf| certificate_name(leaf));
        let peer = match peer {
            Peer::Tcp { from, to, .. } => Peer::Tcp {
                from,
                to,
                tls: true,
                certificate,
                client_ca: keys.client_ca.clone(),
            },
            other => other,
        };
        Some((PeerStream::Tls(Box::new(stream)), peer))
    }
}
