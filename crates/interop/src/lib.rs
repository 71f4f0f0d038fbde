//! Files in other layouts: the reference implementation's, and the interchange layout of the specification (spec-1).
//!
//! ```
//! use amem_format::event::MemoryGraph;
//! use amem_format::Graph;
//! use amem_interop::spec1::{Spec1, write};
//! use amem_interop::{Layout, detect};
//!
//! let mut bytes = Vec::new();
//! write(&MemoryGraph::default(), &mut bytes)?;
//! assert_eq!(detect(&bytes)?, Layout::Spec1);
//! assert_eq!(Spec1::open(&bytes)?.event_count(), 0);
//! # Ok::<(), amem_format::Error>(())
//! ```
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
