//! The amem.v1 interface: messages, clients, servers and the table of calls, generated from `proto/amem/v1/*.proto`
//! when this crate is built; and `answer`, from a question and a view to the message that answers it.
//!
//! Promises: building needs no protoc; a call is declared in its `.proto` file and nowhere else. Not here: what a
//! change does to a brain (`amem_store`, `amemd`), what a query means (`amem_format`).

#![forbid(unsafe_code)]

// First, as the macros of the lists are in scope only below.
include!(concat!(env!("OUT_DIR"), "/lists.rs"));

pub mod calls;

pub mod answer;
pub mod change;
pub mod limits;
pub mod place;

/// Package `amem.v1`.
#[allow(
    clippy::all,
    missing_docs,
    unreachable_pub,
    reason = "generated code has the style of its generator"
)]
pub mod v1 {
    tonic::include_proto!("amem.v1");

    /// Every message and service of the package, as an encoded `google.protobuf.FileDescriptorSet`.
    pub const DESCRIPTORS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/amem.v1.bin"));
}

pub use prost_types::{Duration, Timestamp};
