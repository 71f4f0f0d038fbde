//! Fact memory on real brains: the 42 cases of the specification by number, bad input, random histories, lookups, and
//! the daemon.
//!
//! Case 4 has a scripted semantic embedder, 36, 39 and 40 scripted models, 37 a scripted embedder. Not here: case 41,
//! which needs other stores, and the default model of 42, whose default embedder is here.

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

mod ports;
mod support;

mod background;
mod bad_input;
mod batches;
mod cases;
mod conversation;
mod entities;
mod evidence;
mod export;
mod feedback;
mod filters;
mod instructions;
mod large_answers;
mod lookups;
mod pending;
mod random;
mod recall;
mod rejections;
mod repeated;
mod said_again;
mod scopes;
mod service;
mod sources;
mod times;
