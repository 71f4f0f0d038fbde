//! What threads share without a lock: the standard library's, under one name.
//!
//! The files that publish to readers take their atomics from here and from nowhere else. The tests include those very
//! files with another `sync`, under which every interleaving is explored, and every ordering weakened to see that it
//! matters (`tests/support/bin/order`). Not here: what is published, and in what order.

pub(crate) use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering, fence};
pub(crate) use std::sync::{Mutex, OnceLock, PoisonError};
