//! The unsent bytes of a connection: few, whatever the number of its answers and the windows of its client.
//!
//! hyper buffers 400 KiB of each answer whose client has announced room, and does not see whether the client reads. So
//! each part counts until hyper drops it, and no answer gets room while `CONNECTION_UNSENT_BYTES` are unsent.
//!
//! Promises: the count is of memory that is held; an answer that waits for room is woken when there is.
//! Not here: how long an answer may wait (`answers`).

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use amem_locks::LockResultExt;
use axum::body::Bytes;
use tokio::sync::Notify;

use crate::limits::CONNECTION_UNSENT_BYTES;

/// The unsent bytes of one connection.
#[derive(Debug, Default)]
pub(crate) struct UnsentBytes {
    bytes: AtomicUsize,
    waiting: Mutex<Vec<Waker>>,
    given_up: Notify,
}

/// A part of an answer, which counts until it is dropped.
struct CountedPart {
    bytes: Bytes,
    of: Arc<UnsentBytes>,
}

impl AsRef<[u8]> for CountedPart {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for CountedPart {
    fn drop(&mut self) {
        let bytes = self.bytes.len();
        let before = self.of.bytes.fetch_sub(bytes, Ordering::AcqRel);
        let is_room = |bytes: usize| bytes < CONNECTION_UNSENT_BYTES;
        if is_room(before - bytes) && !is_room(before) {
            let waiting = std::mem::take(&mut *self.of.waiting());
            waiting.into_iter().for_each(Waker::wake);
        }
    }
}

impl UnsentBytes {
    fn waiting(&self) -> std::sync::MutexGuard<'_, Vec<Waker>> {
        self.waiting.lock().unpoisoned()
    }

    fn is_room(&self) -> bool {
        self.bytes.load(Ordering::Acquire) < CONNECTION_UNSENT_BYTES
    }

    /// Ready when the connection has room for a part.
    pub(super) fn poll_room(&self, cx: &Context<'_>) -> Poll<()> {
        if self.is_room() {
            return Poll::Ready(());
        }
        let mut waiting = self.waiting();
        if !waiting.iter().any(|known| known.will_wake(cx.waker())) {
            waiting.push(cx.waker().clone());
        }
        // A part that was dropped since the first check has not seen this waker.
        if self.is_room() {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    }

    /// An answer of the connection was given up: its client did not read it.
    pub(super) fn give_up(&self) {
        self.given_up.notify_one();
    }

    /// Ready once an answer was given up.
    pub(super) async fn given_up(&self) {
        self.given_up.notified().await;
    }

    /// Counts a part from now until it is dropped.
    pub(super) fn give(self: &Arc<Self>, bytes: Bytes) -> Bytes {
        self.bytes.fetch_add(bytes.len(), Ordering::AcqRel);
        let of = self.clone();
        Bytes::from_owner(CountedPart { bytes, of })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicBool;
    use std::task::Wake;

    #[derive(Default)]
    struct Woken(AtomicBool);

    impl Wake for Woken {
        fn wake(self: Arc<Self>) {
            self.0.store(true, Ordering::Relaxed);
        }
    }

    #[test]
    fn who_waits_for_room_is_woken_once_enough_was_let_go() {
        let unsent = Arc::new(UnsentBytes::default());
        let woken = Arc::new(Woken::default());
        let waker = Waker::from(woken.clone());
        let cx = Context::from_waker(&waker);
        let part = |bytes| unsent.give(Bytes::from(vec![7; bytes]));
        let (few, many) = (part(9), part(CONNECTION_UNSENT_BYTES - 10));
        assert!(unsent.poll_room(&cx).is_ready());
        let mut last = part(1 + 9);
        assert_eq!(last.split_to(5), [7; 5][..]);
        assert!(unsent.poll_room(&cx).is_pending());
        drop(few);
        assert!(unsent.poll_room(&cx).is_pending(), "one is too much");
        assert!(!woken.0.load(Ordering::Relaxed));
        // The rest of a part holds all of it.
        drop(last);
        assert!(woken.0.load(Ordering::Relaxed));
        assert!(unsent.poll_room(&cx).is_ready());
        drop(many);
        assert_eq!(unsent.bytes.load(Ordering::Relaxed), 0);
    }
}
