//! Python's gRPC over the Unix socket with default options: it sends the socket's path as the authority.
//!
//! The interpreter is the one that `AMEM_PYTHON` names, `python/bin/python` in the target folder, or `python3`. A test
//! that finds none with grpcio and grpcio-tools says so.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::process::Place;

fn python() -> Option<PathBuf> {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent()?;
    let candidates = [
        env::var_os("AMEM_PYTHON").map(PathBuf::from),
        Some(target.join("python/bin/python")),
        Some("python3".into()),
    ];
    candidates.into_iter().flatten().find(|python| {
        let mut command = Command::new(python);
        command
            .args(["-c", "import grpc, grpc_tools"])
            .stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    })
}

#[test]
fn python_calls_over_the_unix_socket_with_default_options() {
    let Some(python) = python() else {
        eprintln!(
            "skipped: no Python with grpcio and grpcio-tools; python3 -m venv target/python && \
             target/python/bin/pip install grpcio grpcio-tools"
        );
        return;
    };
    let daemon = Place::new("").start();
    let stubs = tempfile::tempdir().unwrap();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let output = Command::new(python)
        .arg(root.join("tests/door/client.py"))
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
