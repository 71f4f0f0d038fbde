//! Items by namespace and key: on a simulated disk, beside a naive model, and on the real daemon.

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

mod support;

mod bounds;
mod random;
mod service;
mod values;
