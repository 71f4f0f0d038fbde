//! The client library against the real daemon: reads from the file and by RPC, refusals, lost connections, retries.

#![forbid(unsafe_code)]
#![expect(
    clippy::unwrap_used,
    reason = "a helper that fails is a test that fails"
)]

mod alike;
mod batches;
mod connect;
mod file;
mod follow;
mod kit;
mod live;
mod refused;
mod retried;
mod tree;
