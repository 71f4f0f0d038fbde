//! Locks whose data is valid at every step, so that a panic of another holder does not matter.
//!
//! ```
//! use std::sync::Mutex;
//!
//! use amem_locks::LockResultExt;
//!
//! let count = Mutex::new(1);
//! *count.lock().unpoisoned() += 1;
//! assert_eq!(count.into_inner().unpoisoned(), 2);
//! ```
//!

#![forbid(unsafe_code)]

use std::sync::{LockResult, PoisonError};

/// What a lock gives, also one whose holder panicked.
pub trait LockResultExt {
    /// A guard, or what the lock held.
    type Guard;

    /// The guard, whether or not the lock is poisoned.
    fn unpoisoned(self) -> Self::Guard;
}

impl<G> LockResultExt for LockResult<G> {
    type Guard = G;

    #[inline]
    fn unpoisoned(self) -> G {
        self.unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Mutex, RwLock};
    use std::thread;

    use super::*;

    #[test]
    fn a_lock_whose_holder_panicked_still_gives_its_data() {
        let (mutex, lock) = (Mutex::new(1), RwLock::new(2));
        let panicked = thread::scope(|scope| {
            let holder = scope.spawn(|| {
                let _held = (mutex.lock(), lock.write());
                panic!("on purpose");
            });
            holder.join().is_err()
        });
        assert!(panicked && mutex.is_poisoned() && lock.is_poisoned());
        assert_eq!(*mutex.lock().unpoisoned(), 1);
        assert_eq!(*lock.read().unpoisoned(), 2);
        assert_eq!(mutex.into_inner().unpoisoned(), 1);
    }
}
