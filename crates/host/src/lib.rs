//! The machine around a program of ours.
//!
//! ```
//! use amem_host::paths::UserPaths;
//!
//! // An environment of our own, so that the answer is the same everywhere; `of_process` takes that of this process.
//! let variable = |name: &str| (name == "HOME").then(|| "/srv/ada".into());
//! let paths = UserPaths::new(variable, || None, Some(1000));
//! let folder = paths.folder();
//! assert_eq!(folder, Some("/srv/ada/.local/share/amem/brains".into()));
//! ```
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
