//! The packages for agents in `clients/`: installed as a user installs them, checked by their languages' type checkers,
//! and held against the conformance list beside the real daemon, over the Unix socket and by TLS over TCP.
//!
//! Where python3 or node is missing, or the registry can't be reached, a test says so and checks nothing, as `kit`
//! tells.

use std::fs;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use crate::kit::{Kit, node, python, say};
use crate::sources::{Sources, step};
use crate::{check_unix, merged, over_tcp, place};

/// The daemon that the packages start in their own tests.
const DAEMON: &str = env!("CARGO_BIN_EXE_amem-tested-daemon");

/// What both READMEs tell, of what is believed by then.
const TOLD: &str = "nightly backups take 40 minutes";

/// The blocks of a language in a page.
fn blocks<'a>(page: &'a str, language: &'a str) -> impl Iterator<Item = &'a str> {
    let parts = page.split("```").skip(1).step_by(2);
    parts.filter_map(move |block| block.strip_prefix(language)?.strip_prefix('\n'))
}

/// What a package's README shows, but for following, which has no end: to remember and ask, to talk with a model, and
/// to read the file.
fn shown(package: &str, language: &str) -> String {
    let page = page(&format!("clients/{package}/README.md"));
    let all: Vec<_> = blocks(&page, language).collect();
    assert_eq!(all.len(), 4, "{package}: {all:?}");
    [all[0], all[2], all[3]].concat()
}

fn page(path: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    fs::read_to_string(root.join(path)).unwrap()
}

/// Runs what a README shows, beside a daemon that is found by the environment and in the folder of its brains.
fn runs_as_shown(what: &str, script: &Kit, tells: &str) {
    let (_folder, place) = place();
    let daemon = place.start();
    // The second time finds what the first one left: its brain, and its closed session.
    for time in ["once", "twice"] {
        let mut command = script.command();
        command.env("AMEMD_SOCKET", place.socket());
        let output = command.current_dir(place.folder()).output().unwrap();
        let [out, err] =
            [output.stdout, output.stderr].map(|said| String::from_utf8(said).unwrap());
        assert!(
            output.status.success() && out.contains(tells),
            "{what}, {time}: {out}{err}"
        );
        say(&format!(
            "{what}, {time}: {} lines told",
            out.lines().count()
        ));
    }
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
    let folder = place.folder().to_owned();
    let by_tls = [
        conformance,
        vec!["--authority".into(), certificate, "--folder".into(), folder],
    ];
    over_tcp(&script(by_tls.concat()), &mut place);
    check_unix(Some(script(vec![hostile])));
}

#[test]
fn the_python_package_is_typed_and_conforms() {
    let Some(kit) = python() else { return };
    let sources = Sources::of("python");
    let site = sources.installed(&kit);
    let mut typed = kit.interpreter();
    typed.args(["-m", "mypy"]).current_dir(sources.package());
    step("Python, mypy --strict", &mut typed);
    let script = |arguments| kit.other(arguments, Some(("PYTHONPATH", site.clone())));
    for tests in [
        "tests/test_package.py",
        "tests/test_place.py",
        "tests/test_agent.py",
    ] {
        let mut tests = script(vec![sources.package().join(tests)]).command();
        step("Python, its own tests", tests.env("AMEMD", DAEMON));
    }
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
        let readme = sources.folder().join("readme.py");
        fs::write(&readme, code).unwrap();
        runs_as_shown(what, &script(vec![readme]), tells);
    }
    merged::is_read(&script(vec![sources.package().join("tests/follow.py")]));
    let hostile = sources.package().join("tests/hostile.py");
    conforms(script, sources.conformance("tests/conformance.py"), hostile);
}

#[test]
fn the_node_package_is_typed_and_conforms() {
    let Some(kit) = node() else { return };
    let sources = Sources::of("typescript");
    let modules = kit.packages().join("node_modules");
    std::os::unix::fs::symlink(&modules, sources.package().join("node_modules")).unwrap();
    let script = |arguments| kit.other(arguments, None);
    let run = |arguments: Vec<PathBuf>| {
        let mut command = script(arguments).command();
        command.current_dir(sources.package());
        command
    };
    let readme = sources.package().join("test/readme.mts");
    fs::write(readme, shown("typescript", "ts")).unwrap();
    let compiler = modules.join("typescript/bin/tsc");
    step("Node, tsc", &mut run(vec![compiler]));
    step("Node, its protos", &mut run(vec!["copy-protos.js".into()]));
    let tests = vec![
        "--test".into(),
        "dist/test/package.test.js".into(),
        "dist/test/place.test.js".into(),
        "dist/test/agent.test.js".into(),
    ];
    step("Node, its own tests", run(tests).env("AMEMD", DAEMON));
    let readme = sources.package().join("dist/test/readme.mjs");
    runs_as_shown("Node, its README", &script(vec![readme]), TOLD);
    merged::is_read(&script(vec![sources.package().join("dist/test/follow.js")]));
    let hostile = sources.package().join("dist/test/hostile.js");
    conforms(
        script,
        sources.conformance("dist/test/conformance.js"),
        hostile,
    );
}
