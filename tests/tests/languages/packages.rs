//! The packages for agents in `clients/`: installed as a user installs them, checked by their languages' type checkers, and
//! held against the conformance list beside the real daemon, over the Unix socket and by TLS over TCP.
//!
//! Sources are copied into the target folder first, so that nothing is built among them. Where python3 or node is missing, or
//! the registry can't be reached, a test says so and checks nothing, as `kit` tells.

use std::fs;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use crate::kit::{Kit, node, python, say};
use crate::{check_unix, over_tcp, place};

/// What a copy leaves behind: what somebody may have built or installed among the sources.
const BUILT: [&str; 6] = [
    "__pycache__",
    "build",
    "dist",
    "node_modules",
    "proto",
    ".mypy_cache",
];

/// What both READMEs tell, of what is believed by then.
const TOLD: &str = "nightly backups take 40 minutes";

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

/// The blocks of a language in a page.
fn blocks<'a>(page: &'a str, language: &'a str) -> impl Iterator<Item = &'a str> {
    let parts = page.split("```").skip(1).step_by(2);
    parts.filter_map(move |block| block.strip_prefix(language)?.strip_prefix('\n'))
}

/// What a package's README shows, but for following, which has no end: to remember and ask, and to read the file.
fn shown(package: &str, language: &str) -> String {
    let page = page(&format!("clients/{package}/README.md"));
    let all: Vec<_> = blocks(&page, language).collect();
    assert_eq!(all.len(), 3, "{package}: {all:?}");
    [all[0], all[2]].concat()
}

fn page(path: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    fs::read_to_string(root.join(path)).unwrap()
}

/// Runs what a README shows, beside a daemon that is found by the environment and in the folder of its brains.
fn runs_as_shown(what: &str, script: &Kit, tells: &str) {
    let (_folder, place) = place();
    let daemon = place.start();
    let mut command = script.command();
    command.env("AMEMD_SOCKET", place.socket());
    let output = command.current_dir(place.folder()).output().unwrap();
    let [out, err] = [output.stdout, output.stderr].map(|said| String::from_utf8(said).unwrap());
    assert!(
        output.status.success() && out.contains(tells),
        "{what}: {out}{err}"
    );
    say(&format!("{what}: {} lines told", out.lines().count()));
    assert!(daemon.stop().success());
}

/// Runs the conformance list over the Unix socket and by TLS over TCP, and files that lie; a script is made of its
/// arguments.
fn conforms(script: impl Fn(Vec<PathBuf>) -> Kit, conformance: Vec<PathBuf>, hostile: PathBuf) {
    check_unix(Some(script(conformance.clone())));
    let (folder, mut place) = place();
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let certificate = folder.path().join("certificate");
    let key = folder.path().join("key");
    for (path, pem) in [
        (&certificate, made.cert.pem()),
        (&key, made.signing_key.serialize_pem()),
    ] {
        let mut file = fs::OpenOptions::new();
        let file = file.write(true).create_new(true).mode(0o600).open(path);
        file.unwrap().write_all(pem.as_bytes()).unwrap();
    }
    place.set("AMEMD_TCP_TLS_CERTIFICATE", certificate.to_str().unwrap());
    place.set("AMEMD_TCP_TLS_KEY", key.to_str().unwrap());
    let by_tls = [conformance, vec!["--authority".into(), certificate]];
    over_tcp(&script(by_tls.concat()), &mut place);
    check_unix(Some(script(vec![hostile])));
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
    let first = page("README.md");
    let first = blocks(&first, "python").next().unwrap().to_owned();
    let pages = [
        ("Python, its README", shown("python", "python"), TOLD),
        (
            "Python, the README",
            first,
            "the build needs protoc no more",
        ),
    ];
    for (what, code, tells) in pages {
        let readme = sources.folder.path().join("readme.py");
        fs::write(&readme, code).unwrap();
        runs_as_shown(what, &script(vec![readme]), tells);
    }
    let hostile = sources.package.join("tests/hostile.py");
    conforms(script, sources.conformance("tests/conformance.py"), hostile);
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
    let readme = sources.package.join("test/readme.mts");
    fs::write(readme, shown("typescript", "ts")).unwrap();
    let compiler = modules.join("typescript/bin/tsc");
    step("Node, tsc", &mut run(vec![compiler]));
    step("Node, its protos", &mut run(vec!["copy-protos.js".into()]));
    let tests = vec!["--test".into(), "dist/test/package.test.js".into()];
    step("Node, its own tests", &mut run(tests));
    let readme = sources.package.join("dist/test/readme.mjs");
    runs_as_shown("Node, its README", &script(vec![readme]), TOLD);
    let hostile = sources.package.join("dist/test/hostile.js");
    conforms(
        script,
        sources.conformance("dist/test/conformance.js"),
        hostile,
    );
}
