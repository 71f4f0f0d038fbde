//! A daemon with models: scripted servers of five providers over real HTTP, two models that behave differently, the six
//! protocols and the transfers between providers of the paper, and what a brain's bytes say of it all.
//!
//! Not here: the protocols themselves (`amem-models`), real models (`.ci/models`).

#![forbid(unsafe_code)]
#![expect(
    clippy::unwrap_used,
    reason = "a helper that fails is a test that fails"
)]

#[expect(
    dead_code,
    unused_imports,
    reason = "the tests of the daemon need more"
)]
#[path = "../daemon/process.rs"]
mod process;

mod scripted;
mod world;

mod embedders;
mod episodes;
mod failures;
mod protocols;
mod reembedding;
mod transfers;
