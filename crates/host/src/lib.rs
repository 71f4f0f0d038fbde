//! The machine around a program of ours.
//!
//! `process`: no core dumps, write errors instead of SIGXFSZ, users of the machine, files that others named, and the
//! environment of children. `project`: which project a folder belongs to. `paths`: where daemon and clients meet.
//!
//! Not here: what is stored, and every protocol.

#![forbid(unsafe_code)]

mod process;

pub mod paths;
pub mod project;

pub use process::{child, disable_core_dumps, fail_writes_beyond_limit, files, trust, users};
