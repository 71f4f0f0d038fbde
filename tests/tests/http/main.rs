//! HTTP of the real daemon: the specification's routes, mem0's, LangGraph's store, the calls of amem.v1, tokens,
//! hostile requests.

#![forbid(unsafe_code)]
#![expect(
    clippy::unwrap_used,
    reason = "a helper that fails is a test that fails"
)]

#[expect(dead_code, reason = "the tests of ingress need more")]
#[path = "../ingress/process.rs"]
mod process;

mod client;

mod calls;
mod clients;
mod codings;
mod events;
mod guide;
mod hostile;
mod openapi;
mod options;
mod pages;
mod routes;
mod sockets;
mod store;
mod tokens;
mod webhooks;
