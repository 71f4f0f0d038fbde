//! Letting callers in: places, handshakes and first words, each with its deadline.

use std::fmt::Display;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::net::{TcpListener, TcpStream, UnixStream};
use tokio::sync::mpsc;
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsAcceptor;

use super::connection_limit::{Crowd, Place};
use super::listeners::Listeners;
use super::peer::Peer;
use crate::auth::certificate_name;
use crate::control::Control;
use crate::figures::Figures;
use crate::grpc::connection::{Connection, Stream, read_preface};
use crate::limits::FIRST_CALL_AFTER;

/// How long nobody is let in after that failed: out of descriptors, most likely, and some will come free.
const ACCEPT_AGAIN_AFTER: Duration = Duration::from_millis(100);

/// How long nothing is said of those who are turned away after one was told.
const TELL_AGAIN_AFTER: Duration = Duration::from_secs(1);

/// Where connections go that are let in.
pub(crate) type Incoming = mpsc::Sender<io::Result<Connection>>;

/// Lets callers in for as long as it is polled.
pub(crate) async fn accept(
    listeners: Listeners,
    control: Control,
    figures: Figures,
    incoming: Incoming,
) {
    let door = Arc::new(Door {
        control,
        crowd: Crowd::new(figures.clone()),
        figures,
        incoming,
        told: Mutex::default(),
    });
    let Listeners { unix, tcp, .. } = listeners;
    let by_unix = async {
        loop {
            match unix.accept().await {
                Ok(stream) => door.clone().greet_unix(stream),
                Err(error) => failed(&error).await,
            }
        }
    };
    let by_tcp = async {
        match tcp {
            None => std::future::pending().await,
            Some(listener) => accept_tcp(&door, listener).await,
        }
    };
    let turning_out = door.crowd.watch(&door.control, FIRST_CALL_AFTER);
    tokio::join!(by_unix, by_tcp, turning_out);
}

async fn accept_tcp(door: &Arc<Door>, listener: TcpListener) {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => door.clone().greet_tcp(stream),
            Err(error) => failed(&error).await,
        }
    }
}

async fn failed(error: &io::Error) {
    tracing::warn!(%error, "a connection was lost before it began");
    sleep(ACCEPT_AGAIN_AFTER).await;
}

/// What stands between a listener and the server.
struct Door {
    control: Control,
    crowd: Crowd,
    figures: Figures,
    incoming: Incoming,
    /// When it was last told that somebody was turned away.
    told: Mutex<Option<Instant>>,
}

impl Door {
    fn greet_unix(self: Arc<Self>, stream: UnixStream) {
        let live = self.control.live();
        let (uid, gid) = match stream.peer_cred() {
            Ok(peer) => (peer.uid(), peer.gid()),
            Err(error) => {
                return self.turned_away("a caller that nobody knows", &error);
            }
        };
        if live.access.rights(uid, gid).most().is_none() {
            let party = Peer::Unix { uid, gid }.party();
            return self.turned_away("a caller whom the configuration grants nothing", &party);
        }
        let peer = Peer::Unix { uid, gid };
        if let Some(place) = self.place(&peer) {
            tokio::spawn(async move { self.pass(Stream::Unix(stream), peer, place).await });
        }
    }

    fn greet_tcp(self: Arc<Self>, stream: TcpStream) {
        // Small answers must not wait for more to send.
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
            authority: None,
        };
        if let Some(mut place) = self.place(&peer) {
            tokio::spawn(async move {
                let private = tokio::select! {
                    private = self.handshake(stream, peer) => private,
                    () = &mut place => None,
                };
                if let Some((stream, peer)) = private {
                    self.pass(stream, peer, place).await;
                }
            });
        }
    }

    fn place(&self, peer: &Peer) -> Option<Place> {
        let party = peer.party();
        match self.crowd.enter(party.clone(), &self.control.live()) {
            Ok(place) => Some(place),
            Err(why) => {
                self.turned_away("a connection", &format_args!("{party}: {why}"));
                None
            }
        }
    }

    /// Writes it into the log, but not so often that whoever comes again and again fills it.
    fn turned_away(&self, whom: &str, why: &dyn Display) {
        self.figures.turned_away().add(1);
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        if told.is_none_or(|told| told.elapsed() >= TELL_AGAIN_AFTER) {
            *told = Some(Instant::now());
            tracing::warn!(%why, "turned away {whom}");
        }
    }

    /// Makes the connection private, if that is configured.
    async fn handshake(&self, stream: TcpStream, peer: Peer) -> Option<(Stream, Peer)> {
        let live = self.control.live();
        let Some(keys) = &live.secrets.keys else {
            return Some((Stream::Tcp(stream), peer));
        };
        let party = peer.party();
        let accepting = TlsAcceptor::from(keys.server.clone()).accept(stream);
        let stream = match timeout(live.limits.handshake(), accepting).await {
            Ok(Ok(stream)) => stream,
            Ok(Err(why)) => {
                tracing::debug!(%party, %why, "a TLS handshake failed");
                return None;
            }
            Err(_) => {
                tracing::debug!(%party, "a TLS handshake took too long");
                return None;
            }
        };
        let shown = stream.get_ref().1.peer_certificates();
        let shown = shown.and_then(|chain| chain.first());
        let certificate = shown.and_then(|first| certificate_name(first));
        let peer = match peer {
            Peer::Tcp { from, to, .. } => Peer::Tcp {
                from,
                to,
                tls: true,
                certificate,
                authority: keys.authority.clone(),
            },
            unix => unix,
        };
        Some((Stream::Tls(Box::new(stream)), peer))
    }

    /// Passes a connection on once its client has said that it speaks HTTP/2.
    async fn pass(&self, mut stream: Stream, peer: Peer, mut place: Place) {
        let party = peer.party();
        let deadline = self.control.live().limits.preface();
        let preface = tokio::select! {
            preface = timeout(deadline, read_preface(&mut stream)) => preface,
            () = &mut place => {
                tracing::debug!(%party, "closed a connection that said nothing: others came");
                return;
            }
        };
        match preface {
            Ok(Ok(())) => {
                let connection = Connection::new(stream, peer, place, FIRST_CALL_AFTER);
                drop(self.incoming.send(Ok(connection)).await);
            }
            Ok(Err(why)) => tracing::debug!(%party, %why, "a connection ended before it began"),
            Err(_) => tracing::debug!(%party, "closed a connection that said nothing"),
        }
    }
}
