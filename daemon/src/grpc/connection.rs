//! A connection whose client has sent the preface of HTTP/2.
//!
//! Promises: it ends once no call on it was admitted within `FIRST_CALL_AFTER`, once it is evicted, or once its client
//! has sent too many control frames (`frame_budget`); on a Unix socket the client's `:authority` is replaced (`http2`).

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};
use tonic::transport::server::Connected;

use super::frame_budget::FrameBudget;
use super::http2::{Authority, PREFACE};
use super::unsent_bytes::UnsentBytes;
use crate::ingress::Peer;
use crate::ingress::connection_limit::ConnectionSlot;
use crate::ingress::peer::PeerKey;
use crate::ingress::session::SessionState;
use crate::ingress::stream::PeerStream;
use crate::limits::AHEAD_BYTES;

/// Bytes of one read for `Rewrite`.
const READ_BYTES: usize = 16 << 10;
/// Bytes of a frame that pass unchanged are read without a copy from this size on.
const PASS_BYTES_MIN: usize = 4 << 10;

/// What every request of a connection carries among its extensions.
#[derive(Debug, Clone)]
pub(crate) struct ConnectionInfo {
    pub(crate) peer: Peer,
    pub(crate) session: Arc<SessionState>,
    /// The process of the client; of a client that has none here, a number of the connection.
    pub(crate) source: u64,
    pub(crate) unsent: Arc<UnsentBytes>,
}

impl ConnectionInfo {
    fn new(peer: Peer, session: Arc<SessionState>, source: u64) -> Self {
        Self {
            peer,
            session,
            source,
            unsent: Arc::default(),
        }
    }

    #[cfg(test)]
    pub(super) fn without_slot(peer: Peer) -> Self {
        Self::new(peer, Arc::default(), 1)
    }
}

#[derive(Debug)]
pub(crate) struct GrpcConnection {
    stream: PeerStream,
    info: ConnectionInfo,
    /// Ready when the first call must have been admitted; `None` once one was.
    first_call: Option<Pin<Box<Sleep>>>,
    slot: ConnectionSlot,
    budget: FrameBudget,
    /// Bytes that the server reads before those of `stream`.
    ahead: Vec<u8>,
    /// Bytes of `ahead` that it has read.
    read: usize,
    /// On a Unix socket.
    rewrite: Option<Box<Rewrite>>,
}

/// Replaces the client's `:authority`.
#[derive(Debug)]
struct Rewrite {
    authority: Authority,
    /// Bytes of the client; `taken..read` is to be re-encoded.
    buffer: [u8; READ_BYTES],
    taken: usize,
    read: usize,
}

impl GrpcConnection {
    pub(crate) fn new(
        stream: PeerStream,
        peer: Peer,
        slot: ConnectionSlot,
        first_call_after: Duration,
    ) -> Self {
        let rewrite = matches!(stream, PeerStream::Unix(_)).then(|| {
            Box::new(Rewrite {
                authority: Authority::new(),
                buffer: [0; READ_BYTES],
                taken: 0,
                read: 0,
            })
        });
        let source = stream.source();
        Self {
            stream,
            info: ConnectionInfo::new(peer, slot.session(), source),
            first_call: Some(Box::pin(sleep(first_call_after))),
            slot,
            budget: FrameBudget::new(Instant::now()),
            ahead: PREFACE.to_vec(),
            read: 0,
            rewrite,
        }
    }
}

impl GrpcConnection {
    /// An error once no call was admitted in time, or once the connection is evicted; wakes the server at that moment.
    fn check_authorized(&mut self, cx: &mut Context<'_>) -> io::Result<()> {
        if self.first_call.is_some() && self.info.session.was_authorized() {
            self.first_call = None;
        }
        let first_call = self.first_call.as_mut();
        let is_over = first_call.is_some_and(|it| it.as_mut().poll(cx).is_ready());
        if !is_over && Pin::new(&mut self.slot).poll(cx).is_pending() {
            return Ok(());
        }
        let key = self.info.peer.key();
        let why = "no call was admitted in time, or the caller lost its rights";
        tracing::debug!(peer = %key, why, "closed a connection");
        Err(io::Error::new(io::ErrorKind::TimedOut, why))
    }
}

/// Counts what was read; an error, and a GOAWAY to the client, once it has sent too many control frames.
fn check_frames(
    budget: &mut FrameBudget,
    mut stream: Pin<&mut PeerStream>,
    key: impl Fn() -> PeerKey,
    bytes: &[u8],
    cx: &mut Context<'_>,
) -> io::Result<()> {
    if budget.receive(bytes, Instant::now()) {
        return Ok(());
    }
    if let Some(frame) = budget.goaway() {
        // The connection ends in any case: a client that reads nothing does not learn why.
        let _unsent = stream.as_mut().poll_write(cx, &frame);
        let _unsent = stream.poll_flush(cx);
    }
    let why = "the client sent too many control frames";
    tracing::debug!(peer = %key(), why, "closed a connection");
    Err(io::Error::new(io::ErrorKind::InvalidData, why))
}

impl Connected for GrpcConnection {
    type ConnectInfo = ConnectionInfo;

    fn connect_info(&self) -> ConnectionInfo {
        self.info.clone()
    }
}

impl AsyncRead for GrpcConnection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        this.check_authorized(cx)?;
        loop {
            let ahead = &this.ahead[this.read..];
            if !ahead.is_empty() {
                let part = ahead.len().min(buf.remaining());
                buf.put_slice(&ahead[..part]);
                this.read += part;
                return Poll::Ready(Ok(()));
            }
            this.ahead.clear();
            this.ahead.shrink_to(AHEAD_BYTES);
            this.read = 0;
            let mut stream = Pin::new(&mut this.stream);
            let (budget, info) = (&mut this.budget, &this.info);
            let key = || info.peer.key();
            let Some(rewrite) = this.rewrite.as_deref_mut() else {
                let before = buf.filled().len();
                ready!(stream.as_mut().poll_read(cx, buf))?;
                let bytes = buf.filled().get(before..).unwrap_or_default();
                return Poll::Ready(check_frames(budget, stream, key, bytes, cx));
            };
            if rewrite.taken == rewrite.read {
                let authority = &mut rewrite.authority;
                let passing = authority.passing().min(buf.remaining());
                if passing >= PASS_BYTES_MIN {
                    let mut part = ReadBuf::new(buf.initialize_unfilled_to(passing));
                    ready!(stream.as_mut().poll_read(cx, &mut part))?;
                    let bytes = part.filled().len();
                    check_frames(budget, stream, key, part.filled(), cx)?;
                    buf.advance(bytes);
                    authority.passed(bytes);
                    return Poll::Ready(Ok(()));
                }
                let mut part = ReadBuf::new(&mut rewrite.buffer);
                ready!(stream.as_mut().poll_read(cx, &mut part))?;
                if part.filled().is_empty() {
                    return Poll::Ready(Ok(()));
                }
                check_frames(budget, stream, key, part.filled(), cx)?;
                (rewrite.taken, rewrite.read) = (0, part.filled().len());
            }
            let mut input = &rewrite.buffer[rewrite.taken..rewrite.read];
            let taken = rewrite.authority.take(&mut input, &mut this.ahead);
            rewrite.taken = rewrite.read - input.len();
            if let Err(why) = taken {
                tracing::debug!(%why, "closed a connection");
                return Poll::Ready(Err(io::Error::new(io::ErrorKind::InvalidData, why)));
            }
        }
    }
}

impl AsyncWrite for GrpcConnection {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.check_authorized(cx)?;
        let written = ready!(Pin::new(&mut self.stream).poll_write(cx, buf))?;
        self.budget.send(buf.get(..written).unwrap_or_default());
        Poll::Ready(Ok(written))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.check_authorized(cx)?;
        let written = ready!(Pin::new(&mut self.stream).poll_write_vectored(cx, bufs))?;
        let mut left = written;
        for part in bufs {
            let bytes = left.min(part.len());
            self.budget.send(&part[..bytes]);
            left -= bytes;
        }
        Poll::Ready(Ok(written))
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests;
