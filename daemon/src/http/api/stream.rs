//! The bytes of a connection of HTTP/1.
//!
//! Promises: it ends once no request on it was admitted within `FIRST_CALL_AFTER`, or once it is evicted; heads that
//! hyper cannot read are answered with a typed error. Not here: HTTP/2, whose connections are those of `grpc`.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::time::{Sleep, sleep, timeout};

use super::framing::{LengthLines, LineCounter, typed};
use crate::ingress::connection_limit::ConnectionSlot;
use crate::ingress::session::SessionState;
use crate::ingress::stream::PeerStream;
use crate::limits::{ANSWER_PART_BYTES, FIRST_CALL_AFTER, HTTP_LINGER, HTTP_LINGER_BYTES_MAX};

/// A connection of HTTP/1.
#[derive(Debug)]
pub(super) struct RestStream {
    stream: PeerStream,
    session: Arc<SessionState>,
    /// Ready when the first request must have been admitted; `None` once one was.
    first_call: Option<Pin<Box<Sleep>>>,
    slot: ConnectionSlot,
    /// Bytes of the client that were read before.
    ahead: Vec<u8>,
    read: usize,
    lines: Arc<LengthLines>,
    counter: LineCounter,
    /// The rest of a typed error that stands in for one of hyper's.
    instead: Vec<u8>,
}

impl RestStream {
    /// A connection whose client has sent `ahead`.
    pub(super) fn new(stream: PeerStream, slot: ConnectionSlot, ahead: Vec<u8>) -> Self {
        let lines = Arc::<LengthLines>::default();
        let mut counter = LineCounter::default();
        counter.receive(&ahead, &lines);
        Self {
            stream,
            session: slot.session(),
            first_call: Some(Box::pin(sleep(FIRST_CALL_AFTER))),
            slot,
            ahead,
            read: 0,
            lines,
            counter,
            instead: Vec::new(),
        }
    }

    /// Its lines `content-length:`.
    pub(super) fn lines(&self) -> &Arc<LengthLines> {
        &self.lines
    }

    /// An error once no request was admitted in time, or once the connection is evicted; wakes the server at that
    /// moment.
    fn check_authorized(&mut self, cx: &mut Context<'_>) -> io::Result<()> {
        if self.first_call.is_some() && self.session.was_authorized() {
            self.first_call = None;
        }
        let first_call = self.first_call.as_mut();
        let is_over = first_call.is_some_and(|it| it.as_mut().poll(cx).is_ready());
        if !is_over && Pin::new(&mut self.slot).poll(cx).is_pending() {
            return Ok(());
        }
        let why = "no request was admitted in time, or the caller lost its rights";
        Err(io::Error::new(io::ErrorKind::TimedOut, why))
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
    pub(super) async fn end(mut self) {
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

impl AsyncRead for RestStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        this.check_authorized(cx)?;
        let ahead = &this.ahead[this.read..];
        if !ahead.is_empty() {
            let part = ahead.len().min(buf.remaining());
            buf.put_slice(&ahead[..part]);
            this.read += part;
            return Poll::Ready(Ok(()));
        }
        let before = buf.filled().len();
        ready!(Pin::new(&mut this.stream).poll_read(cx, buf))?;
        let bytes = buf.filled().get(before..).unwrap_or_default();
        this.counter.receive(bytes, &this.lines);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for RestStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.check_authorized(cx)?;
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
