//! Follow a brain file directly, or talk to amemd.
//!
//! `Reader` needs no daemon to be asked and brings neither tokio nor tonic along: it maps the file and follows what the
//! daemon commits. With feature `grpc`, `Client` talks to the daemon, and `Client::brain` opens a brain that is read
//! through its file where that may be, through the daemon where not, and written through the daemon.
//!
//! Promises: a question has the same answer, or the same refusal, either way, but for those that are of calls alone:
//! the size of the question's message, deadlines, load, and who calls; a change that is retried is never done twice.
//! Not here: writing files; only the daemon does that.

#![forbid(unsafe_code)]

pub use amem_format as core;
pub use amem_format::reader::Reader;

#[cfg(feature = "grpc")]
pub mod limits;
#[cfg(feature = "grpc")]
mod remote;

#[cfg(feature = "grpc")]
pub use amem_proto::answer::{Question, Refusal, Result};
#[cfg(feature = "grpc")]
pub use amem_proto::change::Change;
#[cfg(feature = "grpc")]
pub use amem_proto::{Duration, Timestamp, place, v1};
#[cfg(feature = "grpc")]
pub use remote::{Brain, BrainAccess, Client, Commits, ConnectError, Connection, Retry, Tls};
