//! The packages for agents in `clients/`: installed as a user installs them, checked by their languages' type checkers, and
//! held against the conformance list beside the real daemon, over the Unix socket and over TCP.
//!
//! Sources are copied into the target folder first, so that nothing is built among them. Where python3 or node is missing, or
//! the registry can't be reached, a test says so and checks nothing, as `kit` tells.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use crate::kit::{Kit, node, python, say};
use crate::{check_tcp, check_unix};

/// What a copy leaves behind: what somebody may have built or installed among the sources.
const BUILT: [&str; 6] = [
    "__pycache__",
    "build",
    "dist",
    "node_modules",
    "proto",
    ".mypy_cache",
];

/// A package's sources beside the protos and the conformance list, as in the repository.
struct Sources {
    folder: TempDir,
    package: PathBuf,
    cases: PathBuf,
}

impl Sources {
    fn of(package: &str) -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let copy = |path: &str| {
            let to = folder.path().join(path);
            copy(&root.join(path), &to);
            to
        };
        copy("proto/proto");
        let (package, cases) = (
            copy(&format!("clients/{package}")),
            copy("clients/conformance.json"),
        );
        Self {
            folder,
            package,
            cases,
        }
    }

    /// The arguments of a script of the package that runs the conformance list.
    fn conformance(&self, script: &str) -> Vec<PathBuf> {
        let script = self.package.join(script);
        vec![script, "--cases".into(), self.cases.clone()]
    }
}

fn copy(from: &Path, to: &Path) {
    if from.is_file() {
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::copy(from, to).unwrap();
        return;
    }
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let name = entry.unwrap().file_name();
        let is_built = BUILT.iter().any(|built| name.to_str() == Some(*built));
        if !is_built && !name.to_string_lossy().ends_with(".egg-info") {
            copy(&from.join(&name), &to.join(&name));
        }
    }
}

/// Runs a step; fails with all that it said.
fn step(what: &str, command: &mut Command) {
    let output = command.output().unwrap();
    let said = [&output.stdout[..], &output.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    assert!(output.status.success(), "{what}: {said}");
    let last = said.lines().rfind(|line| !line.trim().is_empty());
    say(&format!("{what}: {}", last.unwrap_or("done")));
}

/// Runs the conformance list on both ways to a daemon, and files that lie beside one.
fn conforms(scripts: [Kit; 3]) {
    let [unix, tcp, hostile] = scripts;
    check_unix(Some(unix));
    check_tcp(Some(tcp));
    check_unix(Some(hostile));
}

#[test]
fn the_python_package_is_typed_and_conforms() {
    let Some(kit) = python() else { return };
    let sources = Sources::of("python");
    let site = sources.folder.path().join("site");
    let mut install = kit.interpreter();
    install.args(["-m", "pip", "install", "--quiet", "--no-input"]);
    // What it is built with, and what it needs, are those of the kit: nothing is fetched.
    install.args(["--no-index", "--no-build-isolation", "--no-deps"]);
    install.arg("--target").arg(&site).arg(&sources.package);
    step("Python, installed", &mut install);
    let mut typed = kit.interpreter();
    typed.args(["-m", "mypy"]).current_dir(&sources.package);
    step("Python, mypy --strict", &mut typed);
    let script = |arguments| kit.other(arguments, Some(("PYTHONPATH", site.clone())));
    let tests = sources.package.join("tests/test_package.py");
    step("Python, its own tests", &mut script(vec![tests]).command());
    let conformance = || script(sources.conformance("tests/conformance.py"));
    let hostile = script(vec![sources.package.join("tests/hostile.py")]);
    conforms([conformance(), conformance(), hostile]);
}

#[test]
fn the_node_package_is_typed_and_conforms() {
    let Some(kit) = node() else { return };
    let sources = Sources::of("typescript");
    let modules = kit.packages().join("node_modules");
    std::os::unix::fs::symlink(&modules, sources.package.join("node_modules")).unwrap();
    let script = |arguments| kit.other(arguments, None);
    let run = |arguments: Vec<PathBuf>| {
        let mut command = script(arguments).command();
        command.current_dir(&sources.package);
        command
    };
    let compiler = modules.join("typescript/bin/tsc");
    step("Node, tsc", &mut run(vec![compiler]));
    step("Node, its protos", &mut run(vec!["copy-protos.js".into()]));
    let tests = vec!["--test".into(), "dist/test/package.test.js".into()];
    step("Node, its own tests", &mut run(tests));
    let conformance = || script(sources.conformance("dist/test/conformance.js"));
    let hostile = script(vec![sources.package.join("dist/test/hostile.js")]);
    conforms([conformance(), conformance(), hostile]);
}
