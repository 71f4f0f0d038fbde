//! Agents in Python and Node, with generated stubs and default channel options, beside the real daemon: over the Unix
//! socket and over TCP.
//!
//! `languages/python/agent.py` and `languages/node/agent.js` are the agents; the tests print their output. `packages`
//! tests the packages in `clients/`, `merged` their readers beside merges; `conformance` runs the suite of the Model
//! Context Protocol, which is a program for Node. `kit` fetches the dependencies, once, into the target folder. Without
//! python3, node or the registry a test prints SKIPPED; with `AMEM_LANGUAGES=required` it fails.

#![forbid(unsafe_code)]
#![expect(
    clippy::unwrap_used,
    reason = "a helper that fails is a test that fails"
)]

mod agent;
mod conformance;
mod guide;
mod kit;
mod merged;
mod packages;
mod sources;

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;

use amem_tests::daemon::DaemonHome;
use sha2::{Digest, Sha256};

use crate::agent::Agent;
use crate::kit::{Kit, node, python};

/// A place for daemons, on the disk that the build is on.
fn place() -> (tempfile::TempDir, DaemonHome) {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let place = DaemonHome::new(env!("CARGO_BIN_EXE_amem-tested-daemon"), folder.path());
    (folder, place)
}

fn check_unix(kit: Option<Kit>) {
    let Some(kit) = kit else { return };
    let (_folder, place) = place();
    let target = format!("unix:{}", place.socket().display());
    Agent::new(&kit, &target, None).run(&place);
}

fn check_tcp(kit: Option<Kit>) {
    let Some(kit) = kit else { return };
    let (_folder, mut place) = place();
    over_tcp(&kit, &mut place);
}

/// Runs an agent beside a daemon that listens on TCP, and asks for a token.
fn over_tcp(kit: &Kit, place: &mut DaemonHome) {
    // A port that was free a moment ago; the daemon that is started again needs the same one.
    let free = TcpListener::bind("127.0.0.1:0").unwrap();
    let target = free.local_addr().unwrap().to_string();
    drop(free);
    let tokens = place.folder().join("tokens.toml");
    place.set("AMEMD_TCP_LISTEN", &target);
    place.set("AMEMD_TCP_TOKENS_FILE", tokens.to_str().unwrap());
    // As a daemon would have written it.
    let token = "amem_that_agents_show";
    let hash = Sha256::digest(token);
    let hash: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
    let text = format!(
        "[[token]]\nname = \"agents\"\nrole = \"write\"\ncreated = 0\nhash = \"sha256:{hash}\"\n"
    );
    fs::write(&tokens, text).unwrap();
    fs::set_permissions(&tokens, fs::Permissions::from_mode(0o600)).unwrap();
    Agent::new(kit, &target, Some(token)).run(place);
}

#[test]
fn python_remembers_over_the_unix_socket() {
    check_unix(python());
}

#[test]
fn python_remembers_over_tcp() {
    check_tcp(python());
}

#[test]
fn node_remembers_over_the_unix_socket() {
    check_unix(node());
}

#[test]
fn node_remembers_over_tcp() {
    check_tcp(node());
}
