//! Finds damage in brain files, and repairs them.
//!
//! ```
//! use amem_doctor::{repair, verify};
//! use amem_format::Micros;
//! # use amem_format::base_builder::{empty, journal, new_identity};
//!
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("work.amem");
//! # let id = uuid::Uuid::from_u128(1);
//! # let identity = new_identity(id, id, uuid::Uuid::nil(), Micros(1));
//! # let mut bytes = Vec::new();
//! # let end = empty(&identity, 0, &Default::default(), &mut bytes)?;
//! # journal(&identity, 0, end, &mut bytes)?;
//! # let middle = end as usize / 2;
//! std::fs::write(&path, &bytes)?;
//! assert_eq!(verify::file(&path)?.findings.len(), 0);
//!
//! bytes[middle] ^= 1;
//! std::fs::write(&path, &bytes)?;
//! assert!(!verify::file(&path)?.findings.is_empty());
//! let repaired = repair::repair(&bytes, uuid::Uuid::from_u128(2), Micros(2))?;
//! println!("{:?}", repaired.report);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
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
