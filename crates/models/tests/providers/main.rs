//! The providers against scripted servers, over real HTTP.

#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests; a failure is a failed test"
)]

mod chat;
mod embeddings;
mod ladder;
mod secrets;
mod streams;
mod support;
mod transport;
