//! Finds damage in brain files, and repairs them.
//!
//! Promises: input bytes are never trusted (P6); a repair reports everything that was lost.
//! Not here: writing the repaired file (`amem-store`, `amemctl`).

#![forbid(unsafe_code)]

pub mod repair;
pub mod verify;

/// Shared with the tests of the other layouts.
#[cfg(test)]
#[path = "../../interop/src/foreign/sample.rs"]
#[expect(dead_code, reason = "the tests here use a part")]
mod sample;
