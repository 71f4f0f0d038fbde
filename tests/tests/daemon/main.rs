//! The real daemon as a process: its answers, its refusals, and what survives its death.

#![forbid(unsafe_code)]
#![expect(
    clippy::unwrap_used,
    reason = "a helper that fails is a test that fails"
)]

mod any_request;
mod bounds;
mod calls;
mod crash;
mod damaged;
mod descriptors;
mod disk_use;
mod erased;
mod faulty;
mod follow;
mod forms;
mod idle;
mod interrupted;
mod jobs;
mod live;
mod many;
mod memory;
mod merge;
mod overflow;
mod panics;
mod process;
mod quarantine;
mod readers_gone;
mod refused;
mod rejected;
mod schedules;
mod sessions;
mod sizes;
mod subscribe;
mod transfer;
mod watch;
