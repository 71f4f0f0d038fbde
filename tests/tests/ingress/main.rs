//! The ingress of the real daemon: its configuration, its listeners, authorization, limits, and how it stops.

#![forbid(unsafe_code)]
#![expect(
    clippy::unwrap_used,
    reason = "a helper that fails is a test that fails"
)]

#[expect(dead_code, reason = "agents need Node and scripts, too")]
#[path = "../languages/kit.rs"]
mod kit;
#[expect(dead_code, reason = "the tests of the service need more")]
mod process;

mod calls;
mod connections;
mod log;
mod metrics;
mod names;
mod python;
mod quotas;
mod readers;
mod reload;
mod roles;
mod scopes;
mod secrets;
mod start;
mod stop;
mod tcp;
mod tls;
mod tokens;
mod users;
mod visibility;
mod walk;
