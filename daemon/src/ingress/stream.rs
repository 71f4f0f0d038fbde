//! The bytes of a connection: of a Unix socket, of TCP, or of TLS.

use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpStream, UnixStream};
use tokio_rustls::server::TlsStream;

/// What carries the bytes.
#[derive(Debug)]
pub(crate) enum PeerStream {
    Unix(UnixStream),
    Tcp(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
}

impl PeerStream {
    /// The source of the connection: all connections of one process of this machine are one; of a client that has no
    /// process here, a number of the connection.
    pub(crate) fn source(&self) -> u64 {
        static CONNECTIONS: AtomicU64 = AtomicU64::new(0);
        /// Behind all numbers of processes.
        const FIRST: u64 = 1 << 32;
        let process = match self {
            Self::Unix(stream) => stream.peer_cred().ok().and_then(|peer| peer.pid()),
            _ => None,
        };
        // A process of another namespace has the number 0 here.
        let process = process.and_then(|pid| u64::try_from(pid).ok().filter(|pid| *pid > 0));
        process.unwrap_or_else(|| FIRST + CONNECTIONS.fetch_add(1, Ordering::Relaxed))
    }
}

/// Calls the same method of each kind of stream.
macro_rules! each {
    ($self:ident, $stream:ident => $what:expr) => {
        match $self.get_mut() {
            PeerStream::Unix($stream) => $what,
            PeerStream::Tcp($stream) => $what,
            PeerStream::Tls($stream) => $what,
        }
    };
}

impl AsyncRead for PeerStream {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        each!(self, stream => Pin::new(stream).poll_read(cx, buf))
    }
}

impl AsyncWrite for PeerStream {
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
