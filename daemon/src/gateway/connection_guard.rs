//! When a connection must end: no request on it was admitted in time, or it lost its slot.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::time::{Sleep, sleep};

use crate::ingress::connection_limit::ConnectionSlot;
use crate::ingress::peer::PeerKey;
use crate::ingress::session::SessionState;

/// Watches a connection; it holds its slot.
#[derive(Debug)]
pub(super) struct ConnectionGuard {
    key: PeerKey,
    session: Arc<SessionState>,
    /// Ready when the first request must have been admitted; `None` once one was.
    first_call: Option<Pin<Box<Sleep>>>,
    slot: ConnectionSlot,
}

impl ConnectionGuard {
    pub(super) fn new(key: PeerKey, slot: ConnectionSlot, first_call_after: Duration) -> Self {
        Self {
            key,
            session: slot.session(),
            first_call: Some(Box::pin(sleep(first_call_after))),
            slot,
        }
    }

    pub(super) fn key(&self) -> &PeerKey {
        &self.key
    }

    /// An error once no request was admitted in time, or once the connection is evicted; wakes the server at that
    /// moment.
    pub(super) fn check(&mut self, cx: &mut Context<'_>) -> io::Result<()> {
        if self.first_call.is_some() && self.session.was_authorized() {
            self.first_call = None;
        }
        let first_call = self.first_call.as_mut();
        let is_over = first_call.is_some_and(|it| it.as_mut().poll(cx).is_ready());
        if !is_over && Pin::new(&mut self.slot).poll(cx).is_pending() {
            return Ok(());
        }
        let why = "no request was admitted in time, or the caller lost its rights";
        tracing::debug!(peer = %self.key, why, "closed a connection");
        Err(io::Error::new(io::ErrorKind::TimedOut, why))
    }
}

/// Bytes of the client that were read before the server reads.
#[derive(Debug)]
pub(super) struct ReadAhead {
    pub(super) bytes: Vec<u8>,
    read: usize,
}

impl ReadAhead {
    pub(super) fn new(bytes: Vec<u8>) -> Self {
        Self { bytes, read: 0 }
    }

    /// Gives the server what it has not read yet; pending if it has read all.
    pub(super) fn poll_read(&mut self, buf: &mut tokio::io::ReadBuf<'_>) -> Poll<()> {
        let ahead = &self.bytes[self.read..];
        if ahead.is_empty() {
            return Poll::Pending;
        }
        let part = ahead.len().min(buf.remaining());
        buf.put_slice(&ahead[..part]);
        self.read += part;
        Poll::Ready(())
    }

    /// Forgets what was read, and keeps room for this many bytes.
    pub(super) fn clear(&mut self, room: usize) {
        self.bytes.clear();
        self.bytes.shrink_to(room);
        self.read = 0;
    }
}
