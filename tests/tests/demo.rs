//! `amemctl demo`, the project's main command: it holds, and nothing is left behind, however it ends.

#![forbid(unsafe_code)]
#![expect(
    clippy::unwrap_used,
    reason = "a helper that fails is a test that fails"
)]

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Command, Stdio};

use amem_tests::programs::amemctl;

/// The demo, with its temporary folders in one that can be looked into.
fn demo(temporary: &Path) -> Command {
    let mut command = amemctl();
    command.arg("demo").env("TMPDIR", temporary);
    command
}

fn check_empty(folder: &Path) {
    let left: Vec<_> = fs::read_dir(folder).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
}

/// The processes that the demo tells of: "… is process 4711, …".
fn processes(told: &str) -> Vec<u32> {
    let after = told.split("process ").skip(1);
    let digits = after.map(|rest| rest.split(|c: char| !c.is_ascii_digit()).next().unwrap());
    digits.filter_map(|digits| digits.parse().ok()).collect()
}

fn check_gone(told: &str) {
    let processes = processes(told);
    assert!(!processes.is_empty(), "{told}");
    for pid in processes {
        let name = fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
        assert!(!name.starts_with("amem"), "process {pid} is left: {name}");
    }
}

#[test]
fn the_demo_holds_and_leaves_nothing_behind() {
    let temporary = tempfile::tempdir().unwrap();
    let ended = demo(temporary.path()).output().unwrap();
    let (told, failed) = (
        String::from_utf8_lossy(&ended.stdout),
        String::from_utf8_lossy(&ended.stderr),
    );
    assert!(ended.status.success(), "{told}\n{failed}");
    assert_eq!(failed, "");
    assert!(told.contains(" all true, "), "{told}");
    assert!(told.contains("none is lost"), "{told}");
    check_gone(&told);
    check_empty(temporary.path());
}

#[test]
fn the_demo_as_json_is_one_envelope_with_every_check() {
    let temporary = tempfile::tempdir().unwrap();
    let ended = demo(temporary.path()).arg("--json").output().unwrap();
    assert!(ended.status.success(), "{ended:?}");
    let envelope: serde_json::Value = serde_json::from_slice(&ended.stdout).unwrap();
    let steps = envelope["data"]["steps"].as_array().unwrap();
    let checked: usize = steps
        .iter()
        .map(|s| s["checked"].as_array().unwrap().len())
        .sum();
    assert_eq!(envelope["data"]["checks"], checked);
    assert!(checked >= 25, "{envelope}");
    let unchecked: Vec<_> = steps.iter().filter(|s| s["checked"][0].is_null()).collect();
    assert!(
        unchecked.is_empty(),
        "steps that check nothing: {unchecked:?}"
    );
    check_empty(temporary.path());
}

#[test]
fn an_interrupted_demo_leaves_nothing_behind() {
    let temporary = tempfile::tempdir().unwrap();
    let mut child = demo(temporary.path())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut told = String::new();
    while !told.contains(" copy 1 ") {
        assert!(out.read_line(&mut told).unwrap() > 0, "{told}");
    }
    let pid = child.id().to_string();
    let sent = Command::new("kill").args(["-TERM", &pid]).status().unwrap();
    assert!(sent.success());
    out.read_to_string(&mut told).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(128 + 15), "{told}");
    check_gone(&told);
    check_empty(temporary.path());
}

#[test]
fn a_demo_that_fails_says_why_and_leaves_nothing_behind() {
    let temporary = tempfile::tempdir().unwrap();
    for (program, exit, words) in [
        ("/bin/false", 7, "amemd ended at once (exit status: 1)"),
        ("/nowhere/amemd", 6, "cannot start /nowhere/amemd"),
    ] {
        let ended = demo(temporary.path())
            .env("AMEMD", program)
            .output()
            .unwrap();
        let failed = String::from_utf8_lossy(&ended.stderr);
        assert_eq!(ended.status.code(), Some(exit), "{failed}");
        assert!(failed.contains(words), "{failed}");
        assert!(failed.contains("\nremedy: "), "{failed}");
        check_empty(temporary.path());
    }
}
