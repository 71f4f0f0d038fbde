//! Files and programs of the outside world: which production files may open a path by hand, and which start a program.
//!
//! Everything else goes through `amem_host::files`, which refuses pipes, devices, files of other users and endless
//! ones, and through `amem_host::child`, which cleans the environment.

use std::collections::BTreeSet;

use crate::tree::{File, files, none};

/// A call, as sources write it.
struct Call {
    /// Beginnings of calls; the character before is no part of a name.
    signs: &'static [&'static str],
    /// What to use instead.
    instead: &'static str,
    /// Files that may have it, and why.
    allowed: &'static [(&'static str, &'static str)],
}

const READS: Call = Call {
    signs: &[
        "fs::read(",
        "fs::read_to_string(",
        "File::open(",
        "File::options(",
        " read_to_string(",
    ],
    instead: "amem_host::files",
    allowed: &[
        (
            "cli/src/args/text.rs",
            "a text that the person names, of a pipe too, as cat takes it",
        ),
        ("cli/src/atomic_file.rs", "a folder, to sync it"),
        ("cli/src/authors.rs", "/etc/passwd"),
        ("cli/src/command/daemon.rs", "/proc"),
        (
            "cli/src/command/export_form.rs",
            "the file that the command itself made",
        ),
        (
            "cli/src/command/logs.rs",
            "the log, which is followed; its folder is the user's own",
        ),
        (
            "cli/src/demo/erasure.rs",
            "brains of the demo's own folder; /proc",
        ),
        (
            "cli/src/demo/sandbox.rs",
            "the log of the demo's own daemon",
        ),
        ("cli/src/service/file.rs", "a folder, to sync it"),
        ("crates/agents/src/disk.rs", "a folder, to sync it"),
        ("crates/doctor/src/verify/mod.rs", "brain files, mapped"),
        ("crates/engine/src/file_holders.rs", "/proc"),
        (
            "crates/engine/src/schedules/last_runs.rs",
            "our own file in the folder of brains",
        ),
        ("crates/format/src/reader.rs", "brain files, mapped; /proc"),
        (
            "crates/hooks/src/ledger.rs",
            "our own files in the folder of brains",
        ),
        (
            "crates/host/src/paths.rs",
            "last-daemon and locks, our own files; /etc/passwd",
        ),
        (
            "crates/host/src/process/users.rs",
            "/etc/passwd and /etc/group",
        ),
        ("crates/host/src/project/user.rs", "/etc/passwd"),
        ("crates/store/src/disk/os.rs", "the folder of brains"),
        (
            "crates/transformer/src/files.rs",
            "folders of models, which the file of models names; regular files only",
        ),
        ("daemon/src/auth/grants.rs", "/etc/passwd and /etc/group"),
        ("daemon/src/config/names.rs", "/etc/passwd and /etc/group"),
        ("daemon/src/metrics/process.rs", "/proc"),
    ],
};

const STARTS: Call = Call {
    signs: &["Command::new("],
    instead: "amem_host::child",
    allowed: &[
        (
            "cli/src/connection/autostart.rs",
            "amemd, in a process whose environment is cleaned",
        ),
        (
            "crates/host/src/process/child.rs",
            "the one place that cleans the environment",
        ),
    ],
};

/// Files that start a program by `amem_host::child`, and which.
const PROGRAMS: Call = Call {
    signs: &["foreign_command(", "own_command("],
    instead: "a row of this table that says which program runs, and why",
    allowed: &[
        ("cli/src/command/logs.rs", "journalctl"),
        (
            "cli/src/connection/autostart.rs",
            "amemctl, which becomes amemd",
        ),
        (
            "cli/src/connection/own_program.rs",
            "amemd and amemctl, with the keys of the file of models",
        ),
        ("cli/src/demo/live.rs", "cp, in the demo"),
        ("cli/src/demo/sandbox.rs", "amemd and amemctl of the demo"),
        ("cli/src/hook/behind.rs", "the process behind a hook"),
        ("cli/src/service/manager.rs", "the service manager"),
        (
            "crates/models/src/key.rs",
            "key_command of a file of models that passed its check",
        ),
        ("crates/host/src/process/child.rs", "where they are defined"),
    ],
};

#[test]
fn files_that_others_named_are_read_by_one_module() {
    none(complaints(&READS, &production()));
}

#[test]
fn programs_are_started_by_listed_files_with_a_cleaned_environment() {
    let production = production();
    let mut out = complaints(&STARTS, &production);
    out.extend(complaints(&PROGRAMS, &production));
    none(out);
}

#[test]
fn an_unlisted_use_and_a_row_without_one_are_complaints() {
    let call = Call {
        signs: &["File::open("],
        instead: "files",
        allowed: &[("a.rs", "x"), ("b.rs", "y")],
    };
    let file = |path: &str, text: &str| File {
        path: path.to_owned(),
        text: text.to_owned(),
    };
    let files = [
        file("a.rs", "let a = File::open(p)?;\n"),
        file("b.rs", "// File::open(p)\nlet b = TensorFile::open(p);\n"),
        file("c.rs", "fn c() {}\nlet c = fs::File::open(p);\n"),
        file(
            "d.rs",
            "fn d() {}\n#[cfg(test)]\nmod tests { File::open(p) }\n",
        ),
    ];
    let out = complaints(&call, &files);
    assert_eq!(out.len(), 2, "{out:?}");
    assert!(out[0].starts_with("c.rs:2: "), "{out:?}");
    assert!(out[1].starts_with("b.rs: "), "{out:?}");
}

/// Sources of programs and libraries.
fn production() -> Vec<File> {
    let is_production = |file: &File| {
        let folders = ["crates/", "daemon/", "cli/", "client/", "proto/"];
        let is_test = file.path.contains("/tests/")
            || ["/tests.rs", "_test.rs", "_tests.rs", "/build.rs"]
                .iter()
                .any(|end| file.path.ends_with(end));
        file.is_rust() && !is_test && folders.iter().any(|folder| file.path.starts_with(folder))
    };
    files().into_iter().filter(is_production).collect()
}

/// The lines before the tests of a file.
fn code(file: &File) -> impl Iterator<Item = (usize, &str)> {
    let is_of_tests =
        |line: &str| line.starts_with("#[cfg(test)]") || line.starts_with("#[cfg(all(test");
    file.lines()
        .take_while(move |(_, line)| !is_of_tests(line))
        .filter(|(_, line)| !line.trim_start().starts_with("//"))
}

fn has(line: &str, sign: &str) -> bool {
    line.match_indices(sign).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        !before.is_some_and(|c| c.is_alphanumeric() || c == '_')
    })
}

fn complaints(call: &Call, files: &[File]) -> Vec<String> {
    let (mut out, mut used) = (Vec::new(), BTreeSet::new());
    for file in files {
        for (line, text) in code(file) {
            let Some(sign) = call.signs.iter().find(|sign| has(text, sign)) else {
                continue;
            };
            let path = file.path.as_str();
            if call.allowed.iter().any(|(allowed, _)| *allowed == path) {
                used.insert(path);
            } else {
                let sign = sign.trim();
                out.push(format!(
                    "{path}:{line}: {sign} is not allowed here: use {}",
                    call.instead
                ));
            }
        }
    }
    for (path, why) in call.allowed {
        if !used.contains(path) {
            out.push(format!(
                "{path}: it is listed ({why}) and has no such call: remove the row"
            ));
        }
    }
    out
}
