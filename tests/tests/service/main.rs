//! amemd as a service: the service manager's sockets and messages, what is installed, what is deployed.
//!
//! `notify` and `inherited` are the two ends of the protocol with the real daemon, `stop` the end under load; `units`
//! has systemd's own tools judge the units of `deploy`, `install` is `amemctl service`, `files` what else is there,
//! `network` what the programs connect to.
//!
//! A test without its tool prints a line that begins with SKIPPED. Not here: settings, signals and sockets
//! that are about no service (`ingress`).

#![forbid(unsafe_code)]
#![expect(
    clippy::unwrap_used,
    reason = "a helper that fails is a test that fails"
)]

#[expect(dead_code, reason = "the tests of ingress need more")]
#[path = "../ingress/process.rs"]
mod process;
mod tools;

mod files;
mod inherited;
mod install;
mod network;
mod notify;
mod stop;
mod units;
