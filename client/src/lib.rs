//! Follow a brain file directly, or talk to amemd.
//!
//! `Reader` needs no daemon to be asked and brings neither tokio nor tonic along: it maps the file and follows
//! what the daemon commits. With feature `grpc`, `Client` asks the daemon to write, or to read for those who may
//! not read the file.
//!
//! Not here: writing files; only the daemon does that.

#![forbid(unsafe_code)]

pub use amem_core as core;
pub use amem_core::reader::Reader;

#[cfg(feature = "grpc")]
mod remote;

#[cfg(feature = "grpc")]
pub use amem_proto::{Duration, Timestamp, v1};
#[cfg(feature = "grpc")]
pub use remote::{Client, Error, Opened, Result};
