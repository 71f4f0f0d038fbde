//! Files in other layouts: the reference implementation's, and the interchange layout of the specification (spec-1).
//!
//! [`detect`] finds the layout of a file. Every reader implements [`amem_format::Graph`], so that adoption is the same
//! for all layouts.
//!
//! Promises: bytes are untrusted until validated (P6).
//! Not here: live brains (`amem-format`), writing files (`amem-store`, `amemctl`).

#![forbid(unsafe_code)]

mod detect;
pub mod foreign;
pub mod limits;
pub mod spec1;

pub use detect::{Layout, detect};
