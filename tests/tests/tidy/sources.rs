//! Rules of every source file.

use crate::tree::{File, files, none};

/// Where unsafe code may stand: the mapping, and the SIMD kernels.
const UNSAFE: [&str; 2] = ["crates/format/src/mapping.rs", "crates/kernels/src/"];

/// Columns of a line of comments. Code is for rustfmt, and texts are what they are.
const COLUMNS_MAX: usize = 120;

/// Structs of amemctl that become JSON: file formats, and what no message says.
const ANSWER_STRUCTS_MAX: usize = 40;

fn sources() -> Vec<File> {
    files().into_iter().filter(File::is_rust).collect()
}

#[test]
fn every_source_opens_with_words() {
    let opens = |f: &File| f.words().first().is_some_and(|w| w.len() >= 10);
    let silent = sources().into_iter().filter(|f| !opens(f));
    none(
        silent
            .map(|f| format!("{}:1: say in `//!` what this is", f.path))
            .collect(),
    );
}

#[test]
fn unsafe_code_stands_only_where_it_is_allowed() {
    let word = concat!("un", "safe");
    let mut out = Vec::new();
    for file in sources() {
        if UNSAFE.iter().any(|allowed| file.path.starts_with(allowed)) {
            continue;
        }
        for (line, text) in file.lines() {
            let code = text.split("//").next().unwrap_or_default();
            if words(code).any(|w| w == word) {
                out.push(format!(
                    "{}:{line}: {word} code outside {UNSAFE:?}",
                    file.path
                ));
            }
        }
    }
    none(out);
}

#[test]
fn amemctl_says_messages_no_second_time() {
    let is_derived = |text: &str| text.contains("derive(") && words(text).any(|w| w == "Serialize");
    let all = sources();
    let own = all.iter().filter(|file| file.path.starts_with("cli/src/"));
    let lines = own.flat_map(|file| file.lines().map(move |(line, text)| (file, line, text)));
    let structs: Vec<String> = lines
        .filter(|(.., text)| is_derived(text))
        .map(|(file, line, _)| format!("{}:{line}", file.path))
        .collect();
    assert!(
        structs.len() <= ANSWER_STRUCTS_MAX,
        "answer with the message (`CommandContext::message`): {} structs derive Serialize, {ANSWER_STRUCTS_MAX} may: {structs:#?}",
        structs.len()
    );
}

#[test]
fn poisoned_locks_are_passed_by_one_helper() {
    let word = concat!("Poison", "Error");
    let mut out = Vec::new();
    for file in sources() {
        if file.path == "crates/locks/src/lib.rs" {
            continue;
        }
        for (line, text) in file.lines() {
            if words(text).any(|w| w == word) {
                let instead = "amem_locks::LockResultExt";
                out.push(format!("{}:{line}: {word}: use {instead}", file.path));
            }
        }
    }
    none(out);
}

#[test]
fn messages_say_what_to_use_instead_of_what_a_value_is_not() {
    let (none_of, no, are) = (
        concat!(" is ", "none"),
        concat!(" is ", "no "),
        concat!(" are", "\""),
    );
    let mut out = Vec::new();
    for file in sources() {
        if file.path.contains("test") {
            continue;
        }
        for (line, text) in file.lines() {
            let names_a_value = ["?}", "name}", "value}", "{}"]
                .iter()
                .any(|part| text.contains(part));
            let is_comment = text.trim_start().starts_with("//");
            let is_old = text.contains(none_of) || text.contains(no) && text.contains(are);
            if names_a_value && is_old && !is_comment {
                let instead = "unknown kind \"x\": use fact, decision or skill";
                out.push(format!("{}:{line}: say `{instead}`", file.path));
            }
        }
    }
    none(out);
}

#[test]
fn every_crate_forbids_unsafe_code_but_those_with_kernels_which_deny_it() {
    let mut out = Vec::new();
    for file in sources() {
        let path = file.path.strip_prefix("crates/").unwrap_or(&file.path);
        let parts: Vec<_> = path.split('/').collect();
        let is_root = matches!(
            parts[..],
            [_, "src" | "support", "lib.rs" | "main.rs"] | [_, "src", "bin", _]
        );
        let level = if ["format", "kernels"].contains(&parts[0]) {
            "deny"
        } else {
            "forbid"
        };
        let wanted = format!("#![{level}({}_code)]", concat!("un", "safe"));
        if is_root && !file.text.lines().any(|line| line == wanted) {
            out.push(format!("{}: say {wanted}", file.path));
        }
    }
    none(out);
}

#[test]
fn nothing_is_left_undone() {
    let signs = [
        concat!("TO", "DO"),
        concat!("FIX", "ME"),
        concat!("XX", "X"),
        concat!("todo", "!"),
        concat!("unimplemented", "!"),
        concat!("dbg", "!"),
        concat!("#[ig", "nore"),
        concat!("allow(dead", "_code"),
        concat!("allow(un", "used"),
    ];
    let mut out = Vec::new();
    for file in files() {
        let is_code = [".rs", ".proto", ".py", ".js", ".mjs", ".sh", ".toml"];
        if !is_code.iter().any(|end| file.path.ends_with(end)) && !file.path.starts_with(".ci/") {
            continue;
        }
        for (line, text) in file.lines() {
            for sign in signs.iter().filter(|sign| text.contains(*sign)) {
                out.push(format!("{}:{line}: {sign}", file.path));
            }
        }
    }
    none(out);
}

#[test]
fn no_path_of_a_persons_machine_appears() {
    let homes = [
        concat!("/ho", "me/"),
        concat!("/ro", "ot/"),
        concat!("/Us", "ers/"),
        concat!("/wo", "rk/"),
    ];
    let mut out = Vec::new();
    for file in files() {
        for (line, text) in file.lines() {
            for home in homes.iter().filter(|home| text.contains(*home)) {
                out.push(format!("{}:{line}: a path below {home}", file.path));
            }
        }
    }
    none(out);
}

#[test]
fn comments_fit_a_line() {
    let mut out = Vec::new();
    let is_code = |file: &File| file.is_rust() || file.path.ends_with(".proto");
    for file in files().into_iter().filter(is_code) {
        for (line, text) in file.lines() {
            let columns = text.chars().count();
            if text.trim_start().starts_with("//") && columns > COLUMNS_MAX {
                let path = &file.path;
                out.push(format!(
                    "{path}:{line}: {columns} columns, {COLUMNS_MAX} fit"
                ));
            }
        }
    }
    none(out);
}

/// The identifiers of a line.
pub(crate) fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c: char| !c.is_alphanumeric() && c != '_')
        .filter(|word| !word.is_empty())
}
