//! What a program brings along that only reads.

use std::path::Path;
use std::process::Command;

#[test]
fn a_reader_depends_on_neither_tokio_nor_tonic() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let tree = |features: &[&str]| {
        let mut command = Command::new(&cargo);
        command
            .current_dir(root)
            .args(["tree", "--offline", "--locked"]);
        command.args(["-p", "amem-client", "--edges", "normal", "--prefix", "none"]);
        let output = command.args(features).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        let told = String::from_utf8(output.stdout).unwrap();
        let names = told.lines().filter_map(|line| line.split(' ').next());
        names.map(str::to_owned).collect::<Vec<_>>()
    };
    let has = |tree: &[String], name: &str| tree.iter().any(|found| found == name);
    let reading = tree(&["--no-default-features"]);
    assert!(has(&reading, "amem-format"), "{reading:?}");
    for name in [
        "tokio",
        "tonic",
        "prost",
        "hyper",
        "h2",
        "tower",
        "rustls",
        "amem-proto",
    ] {
        assert!(!has(&reading, name), "{name}: {reading:?}");
    }
    // The test can tell.
    let calling = tree(&["--features", "grpc"]);
    assert!(
        has(&calling, "tokio") && has(&calling, "tonic"),
        "{calling:?}"
    );
}
