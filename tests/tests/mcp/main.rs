//! Memory of agents by MCP and by hooks: the real `amemctl mcp` and `amemctl hook`, and `/mcp` and `/hooks` of the real
//! daemon.

#![forbid(unsafe_code)]
#![expect(
    clippy::unwrap_used,
    reason = "a helper that fails is a test that fails"
)]

mod client;

mod bad_input;
mod by_http;
mod compat;
mod doors;

mod eras;
mod hooks;
mod instructions;
mod processes;
mod projects;
mod recall;
mod sessions;
mod tools;
