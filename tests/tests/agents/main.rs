//! Many agents, one memory: processes around one brain of a running daemon.
//!
//! `sixteen`: agents that write, correct, link and follow, half of them in Python. `killed`: one that is killed.
//! `readers`: readers of the file beside writers. `AMEM_AGENTS_SECS` is the duration of each (5; 60 is the long form).

#![forbid(unsafe_code)]
#![expect(
    clippy::unwrap_used,
    reason = "a helper that fails is a test that fails"
)]

mod commits;
mod contested;
mod killed;
#[path = "../languages/kit.rs"]
#[expect(dead_code, reason = "of the kits, Python's is used here")]
mod kit;
mod notes;
mod process;
mod readers;
mod sixteen;
#[path = "../languages/sources.rs"]
#[expect(dead_code, reason = "the package is only installed here")]
mod sources;

use amem_client::Client;
use amem_tests::daemon::{DaemonHome, create_bare};

fn seconds() -> u64 {
    let seconds = std::env::var("AMEM_AGENTS_SECS").ok();
    seconds.and_then(|n| n.parse().ok()).unwrap_or(5)
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
}

/// A brain without vectors.
async fn create(place: &DaemonHome) -> Client {
    let client = Client::connect_unix(place.socket()).await.unwrap();
    create_bare(&client, "b").await;
    client
}
