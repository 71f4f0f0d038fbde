//! What a connection was given of answers and has not sent yet: little, however many answers it has and however wide
//! its client's windows are.
//!
//! The server keeps 400 KiB of each answer for a client that says it has room, and does not see whether it reads. So
//! each part is counted until the server lets go of it, and nobody gives more while too much waits.
//!
//! Promises: the count is of memory that is held, whatever becomes of the answer; who waits for room is woken when
//! there is. Not here: for how long an answer may wait (`answer`).

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};

use tonic::codegen::Bytes;

use crate::limits::CONNECTION_UNSENT_BYTES;

/// The bytes of one connection.
#[derive(Debug, Default)]
pub(crate) struct Unsent {
    bytes: AtomicUsize,
    waiting: Mutex<Vec<Waker>>,
}

/// A part that the server has; it is counted for as long as it is there.
struct Part {
    bytes: Bytes,
    of: Arc<Unsent>,
}

impl AsRef<[u8]> for Part {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for Part {
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

impl Unsent {
    fn waiting(&self) -> std::sync::MutexGuard<'_, Vec<Waker>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_room(&self) -> bool {
        self.bytes.load(Ordering::Acquire) < CONNECTION_UNSENT_BYTES
    }

    /// Ready when the connection may be given a part.
    pub(super) fn poll_room(&self, cx: &Context<'_>) -> Poll<()> {
        if self.is_room() {
            return Poll::Ready(());
        }
        let mut waiting = self.waiting();
        if !waiting.iter().any(|known| known.will_wake(cx.waker())) {
            waiting.push(cx.waker().clone());
        }
        // What was sent since was sent before this waited: nobody would wake it.
        match self.is_room() {
            true => Poll::Ready(()),
            false => Poll::Pending,
        }
    }

    /// A part as it is given to the connection.
    pub(super) fn give(self: &Arc<Self>, bytes: Bytes) -> Bytes {
        self.bytes.fetch_add(bytes.len(), Ordering::AcqRel);
        let of = self.clone();
        Bytes::from_owner(Part { bytes, of })
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
        let unsent = Arc::new(Unsent::default());
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
        // What is left of a part holds all of it.
        drop(last);
        assert!(woken.0.load(Ordering::Relaxed));
        assert!(unsent.poll_room(&cx).is_ready());
        drop(many);
        assert_eq!(unsent.bytes.load(Ordering::Relaxed), 0);
    }
}
