//! `amemctl demo`: it passes, it fails if what it claims is broken, and it leaves nothing behind, however it ends.

#![forbid(unsafe_code)]
#![expect(
    clippy::unwrap_used,
    reason = "a helper that fails is a test that fails"
)]

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use amem_tests::programs::{amemctl, amemd};

/// The steps, in order.
const STEPS: [&str; 14] = [
    "start", "remember", "search", "why", "correct", "as of", "read", "follow", "compress",
    "decay", "copy", "kill -9", "erase", "stop",
];
/// Columns of a line.
const COLUMNS: usize = 100;
/// Columns of the sentence that explains a step: it stands behind the step's name.
const SENTENCE: usize = 84;

/// The demo, with its temporary folders in one that can be looked into.
fn demo(temporary: &Path) -> Command {
    let mut command = amemctl();
    command.arg("demo").env("TMPDIR", temporary);
    command
}

/// No file is left in the folder, and no process with a path of it among its arguments.
fn check_nothing_left(temporary: &Path) {
    let left: Vec<_> = fs::read_dir(temporary).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
    let path = temporary.to_str().unwrap();
    for process in fs::read_dir("/proc").unwrap() {
        let process = process.unwrap().path();
        // Not a process, or one that has ended since.
        let Ok(arguments) = fs::read(process.join("cmdline")) else {
            continue;
        };
        let arguments = String::from_utf8_lossy(&arguments).replace('\0', " ");
        assert!(
            !arguments.contains(path),
            "{} is left: {arguments}",
            process.display()
        );
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[test]
fn the_demo_passes_and_leaves_nothing_behind() {
    let temporary = tempfile::tempdir().unwrap();
    let ended = demo(temporary.path()).output().unwrap();
    let (told, failed) = (text(&ended.stdout), text(&ended.stderr));
    assert!(ended.status.success(), "{told}\n{failed}");
    assert_eq!(failed, "");
    assert!(told.contains(" all true, "), "{told}");
    assert!(told.contains("none is lost"), "{told}");
    check_nothing_left(temporary.path());
    for (at, name) in STEPS.iter().enumerate() {
        let title = format!("\n\n{:>2}  {name} ", at + 1);
        assert!(told.contains(&title), "no {title:?} in {told}");
    }
    let wide = told.lines().find(|line| line.chars().count() > COLUMNS);
    assert_eq!(wide, None);
    // Not a terminal: no colours.
    assert!(!told.contains('\x1b'), "{told}");
}

#[test]
fn the_demo_as_json_is_one_envelope_with_every_check() {
    let temporary = tempfile::tempdir().unwrap();
    let ended = demo(temporary.path()).arg("--json").output().unwrap();
    assert!(ended.status.success(), "{ended:?}");
    let envelope: serde_json::Value = serde_json::from_slice(&ended.stdout).unwrap();
    let steps = envelope["data"]["steps"].as_array().unwrap();
    let names: Vec<_> = steps
        .iter()
        .map(|step| step["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, STEPS);
    let mut checked = 0;
    for step in steps {
        let line = step["line"].as_str().unwrap();
        assert!(line.chars().count() <= SENTENCE, "not one line: {line}");
        let checks = step["checked"].as_array().unwrap().len();
        assert!(checks > 0, "a step that checks nothing: {step}");
        checked += checks;
    }
    assert_eq!(envelope["data"]["checks"], checked);
    assert!(checked >= 50, "{envelope}");
    check_nothing_left(temporary.path());
}

#[test]
fn an_interrupted_demo_leaves_nothing_behind() {
    for (when, signal, number) in [
        (" is process ", "-INT", 2),
        ("  compress ", "-HUP", 1),
        (" copy 1 ", "-TERM", 15),
        (" is process ", "-TERM", 15),
        ("  kill -9 ", "-INT", 2),
        ("zorvanik", "-TERM", 15),
    ] {
        let temporary = tempfile::tempdir().unwrap();
        let mut child = demo(temporary.path())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut told = String::new();
        while !told.contains(when) {
            assert!(out.read_line(&mut told).unwrap() > 0, "{told}");
        }
        let pid = child.id().to_string();
        let sent = Command::new("kill").args([signal, &pid]).status().unwrap();
        assert!(sent.success());
        out.read_to_string(&mut told).unwrap();
        let code = child.wait().unwrap().code();
        assert_eq!(code, Some(128 + number), "{signal} at {when:?}: {told}");
        check_nothing_left(temporary.path());
    }
}

#[test]
fn a_demo_with_a_closed_output_ends_and_leaves_nothing_behind() {
    let temporary = tempfile::tempdir().unwrap();
    let mut child = demo(temporary.path())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    out.read_line(&mut String::new()).unwrap();
    drop(out);
    assert_eq!(child.wait().unwrap().code(), Some(0));
    check_nothing_left(temporary.path());
}

#[test]
fn a_demo_without_a_daemon_says_why_and_leaves_nothing_behind() {
    let temporary = tempfile::tempdir().unwrap();
    for (program, exit, words) in [
        ("/bin/false", 7, "amemd ended at once (exit status: 1)"),
        ("/nowhere/amemd", 7, "AMEMD names /nowhere/amemd"),
    ] {
        let ended = demo(temporary.path())
            .env("AMEMD", program)
            .output()
            .unwrap();
        check_failed(&ended, exit, words);
        check_nothing_left(temporary.path());
    }
}

/// It ended with this code, printed the words and a remedy, and did not report success.
fn check_failed(ended: &Output, exit: i32, words: &str) {
    let (told, failed) = (text(&ended.stdout), text(&ended.stderr));
    assert_eq!(ended.status.code(), Some(exit), "{told}\n{failed}");
    assert!(failed.contains(words), "{failed}");
    assert!(failed.contains("\nremedy: "), "{failed}");
    assert!(!told.contains("all true"), "{told}");
}

/// A program of a few lines of shell.
fn script(folder: &Path, name: &str, lines: &str) -> PathBuf {
    let path = folder.join(name);
    fs::write(&path, format!("#!/bin/sh\n{lines}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}

#[test]
fn a_copy_without_answered_writes_fails_the_demo_with_that_claim() {
    let (temporary, programs) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    // A cp that gives the first copy again, however often it is asked.
    script(
        programs.path(),
        "cp",
        r#"kept="$(dirname "$2")/kept"; [ -e "$kept" ] || cat "$1" > "$kept"; cat "$kept" > "$2""#,
    );
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = [programs.path().to_owned()].into_iter();
    let path = std::env::join_paths(folders.chain(std::env::split_paths(&path))).unwrap();
    let ended = demo(temporary.path()).env("PATH", path).output().unwrap();
    check_failed(&ended, 1, "does not: step 11, copy: copy 2 has ");
    assert!(text(&ended.stdout).contains("✓ copy 1 has "));
    check_nothing_left(temporary.path());
}

/// The demo with an amemd before whose second start something is done; `$folder` is that of its brains.
fn with_a_second_start(temporary: &Path, sabotage: &str) -> Output {
    let programs = tempfile::tempdir().unwrap();
    let lines = format!(
        "folder=\"$4\"\nif [ -e \"$folder/marina.amem\" ]; then {sabotage}; fi\nexec '{}' \"$@\"",
        amemd().display()
    );
    let program = script(programs.path(), "amemd", &lines);
    demo(temporary).env("AMEMD", program).output().unwrap()
}

#[test]
fn a_daemon_that_loses_answered_writes_fails_the_demo_with_that_claim() {
    let temporary = tempfile::tempdir().unwrap();
    // It comes back with the brain as it was when the first copy was made.
    let lost = r#"cp "$folder/../copy-1.amem" "$folder/marina.amem""#;
    let ended = with_a_second_start(temporary.path(), lost);
    check_failed(&ended, 1, "does not: step 12, kill -9: ");
    check_nothing_left(temporary.path());
}

#[test]
fn a_file_with_erased_bytes_fails_the_demo_with_its_name() {
    let temporary = tempfile::tempdir().unwrap();
    let kept =
        r#"mkdir -p "$folder/.amemd/kept"; echo "so zorvanik it is" > "$folder/.amemd/kept/log""#;
    let ended = with_a_second_start(temporary.path(), kept);
    check_failed(&ended, 1, "does not: step 13, erase: ");
    check_failed(&ended, 1, "/.amemd/kept/log has nothing of what was erased");
    check_nothing_left(temporary.path());
}
