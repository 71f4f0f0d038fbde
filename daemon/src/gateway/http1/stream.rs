//! The bytes of a connection of HTTP/1.
//!
//! Promises: heads that hyper cannot read are answered with a typed error; the last answer reaches a client that still
//! sends.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::time::timeout;

use super::framing::{LengthLines, LineCounter, typed};
use crate::gateway::connection_guard::{ConnectionGuard, ReadAhead};
use crate::ingress::stream::PeerStream;
use crate::limits::{ANSWER_PART_BYTES, HTTP_LINGER, HTTP_LINGER_BYTES_MAX};

/// A connection of HTTP/1.
#[derive(Debug)]
pub(in crate::gateway) struct Http1Stream {
    stream: PeerStream,
    guard: ConnectionGuard,
    ahead: ReadAhead,
    lines: Arc<LengthLines>,
    counter: LineCounter,
    /// The rest of a typed error that stands in for one of hyper's.
    instead: Vec<u8>,
}

impl Http1Stream {
    /// A connection whose client has sent `ahead`.
    pub(in crate::gateway) fn new(
        stream: PeerStream,
        guard: ConnectionGuard,
        ahead: Vec<u8>,
    ) -> Self {
        let lines = Arc::<LengthLines>::default();
        let mut counter = LineCounter::default();
        counter.receive(&ahead, &lines);
        Self {
            stream,
            guard,
            ahead: ReadAhead::new(ahead),
            lines,
            counter,
            instead: Vec::new(),
        }
    }

    /// Its lines `content-length:`.
    pub(in crate::gateway) fn lines(&self) -> &Arc<LengthLines> {
        &self.lines
    }

    fn write_instead(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while !self.instead.is_empty() {
            let written = ready!(Pin::new(&mut self.stream).poll_write(cx, &self.instead))?;
            if written == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            self.instead.drain(..written);
        }
        Poll::Ready(Ok(()))
    }

    /// Ends the connection. What the client still sends is read for a moment: the reset that answers bytes which
    /// nobody reads may overtake the answer.
    pub(in crate::gateway) async fn end(mut self) {
        let ending = async {
            self.shutdown().await?;
            let (mut part, mut left) = ([0; ANSWER_PART_BYTES], HTTP_LINGER_BYTES_MAX);
            loop {
                let bytes = self.stream.read(&mut part).await?;
                left = left.saturating_sub(bytes);
                if bytes == 0 || left == 0 {
                    return io::Result::Ok(());
                }
            }
        };
        if !matches!(timeout(HTTP_LINGER, ending).await, Ok(Ok(()))) {
            tracing::trace!("a connection did not end in order");
        }
    }
}

impl AsyncRead for Http1Stream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        this.guard.check(cx)?;
        if this.ahead.poll_read(buf).is_ready() {
            return Poll::Ready(Ok(()));
        }
        let before = buf.filled().len();
        ready!(Pin::new(&mut this.stream).poll_read(cx, buf))?;
        let bytes = buf.filled().get(before..).unwrap_or_default();
        this.counter.receive(bytes, &this.lines);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Http1Stream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.guard.check(cx)?;
        ready!(self.write_instead(cx))?;
        if let Some(answer) = typed(buf) {
            self.instead = answer;
            return Poll::Ready(Ok(buf.len()));
        }
        Pin::new(&mut self.stream).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.write_instead(cx))?;
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.write_instead(cx))?;
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
