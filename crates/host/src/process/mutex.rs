//! Mutexes whose data is valid at every step, so that a panic of another holder does not matter.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks a mutex, also one that is poisoned.
pub fn locked<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
