//! What becomes of a connection: whether somebody makes calls on it who is let in, or it is a stranger's.
//!
//! Promises: it is known from the first call that is let in, and for as long as who made that call is let in by what is
//! in force; as long as nothing changes there, to ask costs a look at a number. Once its place was given to another it
//! is never known again. Not here: who gives up a place, and when (`crowd`).

use std::fmt::Debug;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::control::Live;

/// Who made a call.
pub(crate) trait Visitor: Debug + Send + Sync {
    /// True if it is let in by what is in force.
    fn is_let_in(&self, live: &Live) -> bool;
}

/// What becomes of a connection.
#[derive(Debug, Default)]
pub(crate) struct Fate {
    /// The latest state of what is in force by which it was known; 0: it never was, or has given up its place.
    known_at: AtomicU64,
    by: Mutex<By>,
}

#[derive(Debug, Default)]
struct By {
    /// Who made a call that was let in.
    visitor: Option<Box<dyn Visitor>>,
    /// The latest state by which that was judged and not let in.
    refused_at: u64,
    gave_up: bool,
}

impl Fate {
    fn by(&self) -> MutexGuard<'_, By> {
        self.by.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The latest state of what is in force by which it was known.
    pub(crate) fn known_at(&self) -> u64 {
        self.known_at.load(Ordering::Relaxed)
    }

    /// A call of it was let in, by this.
    pub(crate) fn let_in(&self, live: &Live, visitor: impl FnOnce() -> Box<dyn Visitor>) {
        if self.known_at() >= live.change {
            return;
        }
        let mut by = self.by();
        if by.gave_up || self.known_at() >= live.change {
            return;
        }
        by.visitor = Some(visitor());
        by.refused_at = 0;
        self.known_at.store(live.change, Ordering::Relaxed);
    }

    /// True if a call of it was ever let in.
    pub(crate) fn was_let_in(&self) -> bool {
        self.known_at() > 0
    }

    /// True if who made a call that was let in is let in by this.
    pub(crate) fn is_known(&self, live: &Live) -> bool {
        self.known_at() >= live.change || self.judge(&mut self.by(), live)
    }

    fn judge(&self, by: &mut By, live: &Live) -> bool {
        if self.known_at() >= live.change {
            return true;
        }
        if by.gave_up || by.refused_at >= live.change {
            return false;
        }
        let visitor = by.visitor.as_deref();
        let is_known = visitor.is_some_and(|visitor| visitor.is_let_in(live));
        match is_known {
            true => self.known_at.store(live.change, Ordering::Relaxed),
            false => by.refused_at = live.change,
        }
        is_known
    }

    /// Gives up its place, unless it is known.
    pub(crate) fn gives_up(&self, live: &Live) -> bool {
        let mut by = self.by();
        if self.judge(&mut by, live) {
            return false;
        }
        self.known_at.store(0, Ordering::Relaxed);
        by.visitor = None;
        by.gave_up = true;
        true
    }
}
