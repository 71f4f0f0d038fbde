//! The amem.v1 interface: messages, clients, servers and the table of calls, generated from `proto/amem/v1/*.proto` by
//! the build; `answer`, which computes responses from a request and a view; and `json`, the JSON form of messages.
//!
//! ```
//! use amem_proto::{json, v1};
//!
//! let request = v1::SearchFactsRequest {
//!     brain: "work".into(),
//!     query: "who runs the build?".into(),
//!     ..Default::default()
//! };
//! assert_eq!(json::value(&request)?["query"], "who runs the build?");
//! # Ok::<(), json::JsonError>(())
//! ```
//!
//! Promises: the build needs no protoc; a call is declared in its `.proto` file only. Not here: the effect of changes
//! (`amem_store`, `amemd`), the meaning of queries (`amem_query`).

#![forbid(unsafe_code)]

// First, because its macros are in scope only below.
include!(concat!(env!("OUT_DIR"), "/lists.rs"));

pub mod calls;

pub mod answer;
pub mod change;
pub mod codec;
pub mod ids;
pub mod json;
pub mod limits;

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

/// Package `grpc.health.v1`: health checks as the standard has them, with `List`.
#[allow(
    clippy::all,
    missing_docs,
    unreachable_pub,
    reason = "generated code has the style of its generator"
)]
pub mod health {
    tonic::include_proto!("grpc.health.v1");

    /// Every message and service of the package, as an encoded `google.protobuf.FileDescriptorSet`.
    pub const DESCRIPTORS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/grpc.health.v1.bin"));
}

pub use prost_types::{Duration, Timestamp};
