//! Python's gRPC over the Unix socket with default options: it sends the socket's path as the authority.
//!
//! The interpreter and its packages are those of the agents in other languages; where they can't be had, the test says
//! so, and fails with `AMEM_LANGUAGES=required`.

use std::path::Path;

use crate::kit::python;
use crate::process::Setup;

#[test]
fn python_calls_over_the_unix_socket_with_default_options() {
    let Some(kit) = python() else { return };
    let daemon = Setup::new("").start();
    let stubs = tempfile::tempdir().unwrap();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let output = kit
        .interpreter()
        .arg(root.join("tests/ingress/client.py"))
        .arg(format!("unix:{}", daemon.place.socket().display()))
        .arg(root.join("../proto/proto"))
        .arg(stubs.path())
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&output.stdout);
    let failed = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{told}\n{failed}");
    assert!(told.ends_with("done\n"), "{told}");
    assert!(daemon.stop().success());
}
