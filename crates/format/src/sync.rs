//! Atomics and locks of the standard library, under one name.
//!
//! Files that publish to readers import their atomics from here only. A test compiles the same files with another
//! `sync` to explore every interleaving, and weakens each ordering to prove that it matters
//! (`tests/support/bin/order`).
//! Not here: what is published, and in what order.

pub(crate) use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering, fence};
pub(crate) use std::sync::{Mutex, OnceLock};
