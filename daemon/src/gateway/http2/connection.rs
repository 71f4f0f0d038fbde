//! A connection whose client has sent the preface of HTTP/2.
//!
//! Promises: it ends when its guard says so, or once its client has sent too many control frames (`frame_budget`); on a
//! Unix socket the client's `:authority` is replaced (`authority`).

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Instant;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::frame_budget::FrameBudget;
use super::{Authority, PREFACE};
use crate::gateway::connection_guard::{ConnectionGuard, ReadAhead};
use crate::ingress::peer::PeerKey;
use crate::ingress::stream::PeerStream;
use crate::limits::AHEAD_BYTES;

/// Bytes of one read for `Rewrite`.
const READ_BYTES: usize = 16 << 10;
/// Bytes of a frame that pass unchanged are read without a copy from this size on.
const PASS_BYTES_MIN: usize = 4 << 10;

#[derive(Debug)]
pub(in crate::gateway) struct Http2Stream {
    stream: PeerStream,
    guard: ConnectionGuard,
    budget: FrameBudget,
    ahead: ReadAhead,
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

impl Http2Stream {
    pub(in crate::gateway) fn new(stream: PeerStream, guard: ConnectionGuard) -> Self {
        let rewrite = matches!(stream, PeerStream::Unix(_)).then(|| {
            Box::new(Rewrite {
                authority: Authority::new(),
                buffer: [0; READ_BYTES],
                taken: 0,
                read: 0,
            })
        });
        Self {
            stream,
            guard,
            budget: FrameBudget::new(Instant::now()),
            ahead: ReadAhead::new(PREFACE.to_vec()),
            rewrite,
        }
    }
}

/// Counts what was read; an error, and a GOAWAY to the client, once it has sent too many control frames.
fn check_frames(
    budget: &mut FrameBudget,
    mut stream: Pin<&mut PeerStream>,
    key: &PeerKey,
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
    tracing::debug!(peer = %key, why, "closed a connection");
    Err(io::Error::new(io::ErrorKind::InvalidData, why))
}

impl AsyncRead for Http2Stream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        this.guard.check(cx)?;
        loop {
            if this.ahead.poll_read(buf).is_ready() {
                return Poll::Ready(Ok(()));
            }
            this.ahead.clear(AHEAD_BYTES);
            let mut stream = Pin::new(&mut this.stream);
            let (budget, key) = (&mut this.budget, this.guard.key());
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
            let taken = rewrite.authority.take(&mut input, &mut this.ahead.bytes);
            rewrite.taken = rewrite.read - input.len();
            if let Err(why) = taken {
                tracing::debug!(%why, "closed a connection");
                return Poll::Ready(Err(io::Error::new(io::ErrorKind::InvalidData, why)));
            }
        }
    }
}

impl AsyncWrite for Http2Stream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.guard.check(cx)?;
        let written = ready!(Pin::new(&mut self.stream).poll_write(cx, buf))?;
        self.budget.send(buf.get(..written).unwrap_or_default());
        Poll::Ready(Ok(written))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.guard.check(cx)?;
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
