//! Tells what is damaged in the file of a brain, and saves what is whole.
//!
//! Promises: any bytes are told of or repaired, never trusted (P6); what is repaired says what was lost.
//! Not here: writing the repaired file (`amem-store`, `amemctl`).

#![forbid(unsafe_code)]

pub mod repair;
pub mod verify;

/// The graph that the tests of the other layouts use, too.
#[cfg(test)]
#[path = "../../interop/src/foreign/sample.rs"]
#[expect(dead_code, reason = "the tests here use a part")]
mod sample;
