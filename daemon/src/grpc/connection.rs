//! A connection that speaks HTTP/2: of a Unix socket, of TCP, of TLS.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, ReadBuf};
use tokio::net::{TcpStream, UnixStream};
use tokio::time::{Sleep, sleep};
use tokio_rustls::server::TlsStream;
use tonic::transport::server::Connected;

use super::http2::{Authority, PREFACE};
use crate::ingress::connection_limit::Place;
use crate::ingress::{Guest, Peer};
use crate::limits::AHEAD_BYTES;

/// Bytes that are read at a time where they must be looked at.
const READ_BYTES: usize = 16 << 10;
/// From so many bytes on that may pass as they are, they are not copied.
const PASS_BYTES_MIN: usize = 4 << 10;

/// What carries the bytes.
#[derive(Debug)]
pub(crate) enum Stream {
    Unix(UnixStream),
    Tcp(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
}

/// A connection whose client has said that it speaks HTTP/2.
#[derive(Debug)]
pub(crate) struct Connection {
    stream: Stream,
    guest: Guest,
    /// Until when a call must have been let in; `None` once one was: from then on its place says when it ends.
    first_call: Option<Pin<Box<Sleep>>>,
    place: Place,
    /// What the server is to read before anything else.
    ahead: Vec<u8>,
    /// How much of that it has read.
    read: usize,
    /// On a Unix socket.
    rewrite: Option<Box<Rewrite>>,
}

/// What replaces a client's authority.
#[derive(Debug)]
struct Rewrite {
    authority: Authority,
    /// What was read from the client; what is in `taken..read` is still to be packed anew.
    room: [u8; READ_BYTES],
    taken: usize,
    read: usize,
}

/// Reads what a client of HTTP/2 begins with; an error if it begins otherwise.
pub(crate) async fn read_preface(stream: &mut Stream) -> io::Result<()> {
    let mut preface = [0; PREFACE.len()];
    stream.read_exact(&mut preface).await?;
    if preface != *PREFACE {
        let why = "the client does not speak HTTP/2";
        return Err(io::Error::new(io::ErrorKind::InvalidData, why));
    }
    Ok(())
}

impl Connection {
    /// A connection whose preface was read, and of which a call must be let in within this time.
    pub(crate) fn new(
        stream: Stream,
        peer: Peer,
        place: Place,
        first_call_after: Duration,
    ) -> Self {
        let rewrite = matches!(stream, Stream::Unix(_)).then(|| {
            Box::new(Rewrite {
                authority: Authority::new(),
                room: [0; READ_BYTES],
                taken: 0,
                read: 0,
            })
        });
        Self {
            stream,
            guest: Guest::at(peer, &place),
            first_call: Some(Box::pin(sleep(first_call_after))),
            place,
            ahead: PREFACE.to_vec(),
            read: 0,
            rewrite,
        }
    }
}

impl Connection {
    /// An error once no call was let in in time, or who made one is let in no more, or before somebody else needed the
    /// place; wakes the server at that moment.
    fn check_known(&mut self, cx: &mut Context<'_>) -> io::Result<()> {
        if self.first_call.is_some() && self.guest.fate.was_let_in() {
            self.first_call = None;
        }
        let first_call = self.first_call.as_mut();
        let is_over = first_call.is_some_and(|it| it.as_mut().poll(cx).is_ready());
        if !is_over && Pin::new(&mut self.place).poll(cx).is_pending() {
            return Ok(());
        }
        let party = self.guest.peer.party();
        let why = "no call was let in in time, or who called is let in no more";
        tracing::debug!(%party, why, "closed a connection");
        Err(io::Error::new(io::ErrorKind::TimedOut, why))
    }
}

impl Connected for Connection {
    type ConnectInfo = Guest;

    fn connect_info(&self) -> Guest {
        self.guest.clone()
    }
}

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        this.check_known(cx)?;
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
            let stream = Pin::new(&mut this.stream);
            let Some(rewrite) = this.rewrite.as_deref_mut() else {
                return stream.poll_read(cx, buf);
            };
            if rewrite.taken == rewrite.read {
                let authority = &mut rewrite.authority;
                let passing = authority.passing().min(buf.remaining());
                if passing >= PASS_BYTES_MIN {
                    let mut part = ReadBuf::new(buf.initialize_unfilled_to(passing));
                    ready!(stream.poll_read(cx, &mut part))?;
                    let bytes = part.filled().len();
                    buf.advance(bytes);
                    authority.passed(bytes);
                    return Poll::Ready(Ok(()));
                }
                let mut part = ReadBuf::new(&mut rewrite.room);
                ready!(stream.poll_read(cx, &mut part))?;
                if part.filled().is_empty() {
                    return Poll::Ready(Ok(()));
                }
                (rewrite.taken, rewrite.read) = (0, part.filled().len());
            }
            let mut input = &rewrite.room[rewrite.taken..rewrite.read];
            let taken = rewrite.authority.take(&mut input, &mut this.ahead);
            rewrite.taken = rewrite.read - input.len();
            if let Err(why) = taken {
                tracing::debug!(%why, "closed a connection");
                return Poll::Ready(Err(io::Error::new(io::ErrorKind::InvalidData, why)));
            }
        }
    }
}

impl AsyncWrite for Connection {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.check_known(cx)?;
        Pin::new(&mut self.stream).poll_write(cx, buf)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.check_known(cx)?;
        Pin::new(&mut self.stream).poll_write_vectored(cx, bufs)
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

/// Does the same to whatever carries the bytes.
macro_rules! each {
    ($self:ident, $stream:ident => $what:expr) => {
        match $self.get_mut() {
            Stream::Unix($stream) => $what,
            Stream::Tcp($stream) => $what,
            Stream::Tls($stream) => $what,
        }
    };
}

impl AsyncRead for Stream {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        each!(self, stream => Pin::new(stream).poll_read(cx, buf))
    }
}

impl AsyncWrite for Stream {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        each!(self, stream => Pin::new(stream).poll_write(cx, buf))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        each!(self, stream => Pin::new(stream).poll_write_vectored(cx, bufs))
    }

    fn is_write_vectored(&self) -> bool {
        match self {
            Self::Unix(stream) => stream.is_write_vectored(),
            Self::Tcp(stream) => stream.is_write_vectored(),
            Self::Tls(stream) => stream.is_write_vectored(),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        each!(self, stream => Pin::new(stream).poll_flush(cx))
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        each!(self, stream => Pin::new(stream).poll_shutdown(cx))
    }
}

#[cfg(test)]
mod tests;
