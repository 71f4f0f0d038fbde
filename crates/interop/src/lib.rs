//! Other layouts of a brain: files of the reference implementation, and the interchange layout of the specification.
//!
//! [`detect`] tells the layouts apart. Every reader is an [`amem_format::Graph`], so that what adopts a brain does not
//! ask where it came from.
//!
//! Promises: bytes are untrusted until validated (P6).
//! Not here: live brains (`amem-format`), writing files (`amem-store`, `amemctl`).

#![forbid(unsafe_code)]

mod detect;
pub mod foreign;
pub mod limits;
pub mod spec1;

pub use detect::{Layout, detect};
