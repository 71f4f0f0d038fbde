//! Follow a brain file directly, or talk to amemd.
//!
//! On the daemon's machine, read through `Reader`: it maps the file and sees each commit at once, with no call.
//! Feature `grpc` adds `remote`, the connection that writes and asks for heavy work.
//!
//! Not here: the format and the queries (`amem-core`), starting a daemon.

#![forbid(unsafe_code)]

pub use amem_core::reader::Reader;
pub use amem_core::view::View;

#[cfg(feature = "grpc")]
pub mod remote;
