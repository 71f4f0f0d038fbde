//! Memory of agents by MCP: the real `amemctl mcp` on pipes, and `/mcp` of the real daemon.

#![forbid(unsafe_code)]
#![expect(
    clippy::unwrap_used,
    reason = "a helper that fails is a test that fails"
)]

mod client;

mod bad_input;
mod by_http;
mod compat;

mod eras;
mod processes;
mod projects;
mod tools;
