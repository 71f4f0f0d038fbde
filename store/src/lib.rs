//! The single writer of a brain: validation, journal, group commit, checkpoint, recovery.
//!
//! Synchronous and deterministic: everything outside, time and chance included, comes through one trait,
//! `disk::Disk`, so that a test can be the disk and enumerate every crash.

pub mod disk;
