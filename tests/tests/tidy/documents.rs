//! Documents: their links resolve, what they name exists, the README's commands are those that are run.

use std::collections::HashSet;

use crate::tree::{File, file, files, none, quoted, root, table};

/// The anchors of a Markdown file's headings, as they are made on the web.
fn anchors(file: &File) -> HashSet<String> {
    let headings = file.text.lines().filter(|l| l.starts_with('#'));
    let slug = |line: &str| {
        let kept = line.trim_start_matches('#').trim().to_lowercase();
        let kept = kept
            .chars()
            .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
        kept.collect::<String>().replace(' ', "-")
    };
    headings.map(slug).collect()
}

#[test]
fn every_link_resolves() {
    let mut out = Vec::new();
    let pages: Vec<_> = files().into_iter().filter(File::is_markdown).collect();
    for page in &pages {
        let folder = page.path.rsplit_once('/').map_or("", |(folder, _)| folder);
        for (line, text) in page.lines() {
            let links = text
                .split("](")
                .skip(1)
                .filter_map(|rest| rest.split(')').next());
            for link in links.filter(|l| !l.starts_with("http")) {
                let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
                let target = match path {
                    "" => page.path.clone(),
                    path => normal(&format!("{folder}/{path}")),
                };
                let known = pages.iter().find(|p| p.path == target);
                let there = root().join(&target).exists();
                let anchored =
                    anchor.is_empty() || known.is_some_and(|p| anchors(p).contains(anchor));
                if !there || !anchored {
                    out.push(format!("{}:{line}: nothing at {link}", page.path));
                }
            }
        }
    }
    none(out);
}

/// A path without `..` and empty parts.
fn normal(path: &str) -> String {
    let mut parts = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

#[test]
fn every_document_that_a_source_names_exists() {
    let mut out = Vec::new();
    for file in files() {
        for (line, text) in file.lines() {
            for named in text.split("docs/").skip(1) {
                let end = named
                    .find(|c: char| !c.is_alphanumeric() && !matches!(c, '-' | '_' | '/' | '.'));
                let named = named[..end.unwrap_or(named.len())].trim_end_matches('.');
                let page = format!("docs/{named}");
                if named.ends_with(".md") && !root().join(&page).exists() {
                    out.push(format!("{}:{line}: there is no {page}", file.path));
                }
            }
        }
    }
    none(out);
}

#[test]
fn every_promise_has_a_test_that_exists() {
    let architecture = file("docs/ARCHITECTURE.md");
    let promises = table(&architecture, "Promises", &["no", "promise", "tests"]);
    let sources: Vec<_> = files().into_iter().filter(File::is_rust).collect();
    let mut out = Vec::new();
    for (i, row) in promises.iter().enumerate() {
        let number = format!("P{}", i + 1);
        if row[0] != format!("**{number}**") {
            out.push(format!("{number}: its row says {}", row[0]));
        }
        if quoted(&row[2]).next().is_none() {
            out.push(format!("{number}: it has no test"));
        }
        for name in quoted(&row[2]) {
            let function = format!("fn {name}(");
            if !sources.iter().any(|file| file.text.contains(&function)) {
                out.push(format!("{number}: there is no test {name}"));
            }
        }
    }
    none(out);
    assert_eq!(promises.len(), 9, "the promises are P1 to P9");
}

#[test]
fn every_test_that_a_decision_names_exists() {
    let all = files();
    let mut out = Vec::new();
    for page in all.iter().filter(|f| f.path.starts_with("docs/decisions/")) {
        let held = page.text.split("**Held by**").nth(1).unwrap_or_default();
        for name in quoted(held) {
            let function = format!("fn {name}(");
            if !all
                .iter()
                .any(|f| f.is_rust() && f.text.contains(&function))
            {
                out.push(format!("{}: there is no test {name}", page.path));
            }
        }
    }
    none(out);
}

#[test]
fn every_test_that_a_recipe_names_exists() {
    let page = file("CONTRIBUTING.md");
    let sources: Vec<_> = files().into_iter().filter(File::is_rust).collect();
    let is_test = |name: &&str| name.matches('_').count() >= 4 && !name.contains('/');
    let names: Vec<_> = quoted(&page.text).filter(is_test).collect();
    let is_gone = |name: &&&str| {
        let function = format!("fn {name}(");
        !sources.iter().any(|file| file.text.contains(&function))
    };
    let gone = names.iter().filter(is_gone);
    none(
        gone.map(|name| format!("there is no test {name}"))
            .collect(),
    );
    assert!(names.len() >= 20, "only {} tests are named", names.len());
}

#[test]
fn the_map_of_tests_lists_every_target_module_and_variable() {
    let page = file("tests/README.md").text;
    let mut out = Vec::new();
    for file in files().iter().filter(|file| file.is_rust()) {
        let below = |folder: &str| {
            let rest = file.path.strip_prefix(folder)?.trim_end_matches(".rs");
            let name = rest.strip_suffix("/main").or(rest.strip_suffix("/mod"));
            let name = name.unwrap_or(rest);
            (!name.contains('/') && name != "lib").then(|| name.to_owned())
        };
        let name = below("tests/tests/").or(below("tests/support/"));
        if let Some(name) = name.filter(|name| !page.contains(&format!("\n| `{name}` |"))) {
            out.push(format!("{}: tests/README.md has no row {name}", file.path));
        }
        if file.path.starts_with("tests/tests/") && !file.path.starts_with("tests/tests/tidy/") {
            let read = file.text.split("\"AMEM_").skip(1);
            let names = read.filter_map(|rest| rest.split('"').next());
            let is_name = |name: &&str| name.chars().all(|c| c.is_ascii_uppercase() || c == '_');
            let names = names.filter(is_name);
            let is_unknown = |name: &&str| !page.contains(&format!("AMEM_{name}"));
            let unknown = names.filter(is_unknown);
            out.extend(unknown.map(|name| format!("tests/README.md: AMEM_{name} is missing")));
        }
    }
    none(out);
}

#[test]
fn every_test_and_setting_named_in_security_exists() {
    let (page, sample) = (file("docs/SECURITY.md"), file("deploy/amemd.toml"));
    let limits = [
        "daemon/src/limits.rs",
        "crates/engine/src/limits.rs",
        "crates/store/src/limits.rs",
        "crates/format/src/limits.rs",
        "crates/query/src/limits.rs",
        "crates/interop/src/limits.rs",
        "crates/interop/src/foreign/text.rs",
    ];
    let limits = limits.map(file);
    let sources: Vec<_> = files().into_iter().filter(File::is_rust).collect();
    let (mut out, mut tests) = (Vec::new(), 0);
    for name in quoted(&page.text) {
        let is_there = match name.split_once('.') {
            Some((table, key)) if sample.text.contains(&format!("\n[{table}]\n")) => {
                sample.text.contains(&format!("\n#{key} = "))
            }
            _ if ["_MAX", "_AFTER", "_ONE_IN", "_REST"]
                .iter()
                .any(|end| name.ends_with(end)) =>
            {
                let constant = format!("const {name}: ");
                limits.iter().any(|file| file.text.contains(&constant))
            }
            _ if name.matches('_').count() >= 4 => {
                tests += 1;
                let function = format!("fn {name}(");
                sources.iter().any(|file| file.text.contains(&function))
            }
            _ => true,
        };
        if !is_there {
            out.push(format!("there is no {name}"));
        }
    }
    none(out);
    assert!(tests >= 30, "only {tests} tests are named");
}

#[test]
fn every_command_named_in_reliability_runs_a_test_that_reads_its_variables() {
    let page = file("docs/RELIABILITY.md");
    let sources: Vec<_> = files().into_iter().filter(File::is_rust).collect();
    let (mut out, mut commands) = (Vec::new(), 0);
    for words in quoted(&page.text).map(str::split_whitespace) {
        let words: Vec<_> = words.collect();
        let at = words.iter().position(|word| *word == "--test");
        let test = at.map(|at| (words[at + 1], words.get(at + 2).copied()));
        let (alone, folder) = test.map_or_else(Default::default, |(name, _)| {
            let path = format!("tests/tests/{name}");
            (format!("{path}.rs"), format!("{path}/"))
        });
        let is_of_it = |file: &&File| file.path == alone || file.path.starts_with(&folder);
        for variable in words.iter().filter(|word| word.starts_with("AMEM_")) {
            let name = variable.split('=').next().unwrap_or_default();
            let read = format!("\"{name}\"");
            let helps = |file: &&File| is_of_it(file) || file.path.starts_with("tests/support/");
            if !sources
                .iter()
                .filter(helps)
                .any(|file| file.text.contains(&read))
            {
                out.push(format!("nothing that is run reads {name}"));
            }
        }
        let Some((name, filter)) = test else {
            continue;
        };
        commands += 1;
        let is_run = |file: &File| {
            let Some(filter) = filter else { return true };
            let tests = file.text.split("fn ").skip(1);
            let mut names = tests.filter_map(|rest| rest.split('(').next());
            file.path.ends_with(&format!("/{filter}.rs")) || names.any(|name| name.contains(filter))
        };
        if !sources.iter().filter(is_of_it).any(is_run) {
            out.push(format!("--test {name} {}: no test", filter.unwrap_or("")));
        }
    }
    none(out);
    assert!(commands >= 15, "only {commands} commands were found");
}

/// The words of a command, without the figures of its variables and of `--for`.
fn without_figures(command: &str) -> String {
    let words = command.split_whitespace().map(|word| {
        let variable = word.split_once('=').filter(|_| word.starts_with("AMEM_"));
        variable.map_or(word, |(name, _)| name)
    });
    let words: Vec<_> = words.collect();
    let until = words.iter().position(|word| *word == "--for");
    words[..until.unwrap_or(words.len())].join(" ")
}

#[test]
fn every_long_form_named_in_reliability_is_run_by_ci_long() {
    let (page, script) = (file("docs/RELIABILITY.md").text, file(".ci/long").text);
    let run: HashSet<_> = script
        .lines()
        .filter_map(|line| line.trim().strip_prefix("run "))
        .map(without_figures)
        .collect();
    let (mut out, mut long) = (Vec::new(), 0);
    for quoted in quoted(&page) {
        let is_run = |command: &&str| command.starts_with("AMEM_") || command.contains("--for ");
        let commands = quoted.split(" && ").filter(is_run);
        for command in commands.filter(|one| one.contains("cargo test ") || one.contains("target/"))
        {
            long += 1;
            if !run.contains(&without_figures(command)) {
                out.push(format!(".ci/long does not run {command}"));
            }
        }
        // Some are named by their variable alone. A part is no more than the whole.
        let variables = quoted.split_whitespace().filter(|w| w.starts_with("AMEM_"));
        for name in variables.filter_map(|word| word.split('=').next()) {
            if name != "AMEM_CRASH_PART" && !script.contains(&format!("{name}=")) {
                out.push(format!(".ci/long does not set {name}"));
            }
        }
    }
    none(out);
    assert!(long >= 14, "only {long} long forms were found");
}

#[test]
fn every_decision_has_its_number_and_is_listed() {
    let architecture = file("docs/ARCHITECTURE.md");
    let all = files();
    let decisions = all.iter().filter(|f| f.path.starts_with("docs/decisions/"));
    let mut out = Vec::new();
    for (i, page) in decisions.enumerate() {
        let name = page.path.trim_start_matches("docs/");
        let number = format!("{:04}-", i + 1);
        let title = format!("# {}. ", i + 1);
        if !name.starts_with(&format!("decisions/{number}")) || !page.text.starts_with(&title) {
            out.push(format!(
                "{}: it should be {number}… and begin \"{title}\"",
                page.path
            ));
        }
        if !architecture.text.contains(&format!("]({name})")) {
            out.push(format!(
                "{}: docs/ARCHITECTURE.md does not list it",
                page.path
            ));
        }
        if !page.text.contains("**The road not taken.**") {
            out.push(format!("{}: which road was not taken?", page.path));
        }
    }
    none(out);
}

#[test]
fn the_readmes_test_command_is_the_one_that_ci_runs() {
    let readme = file("README.md").text;
    let commands: Vec<_> = readme
        .lines()
        .filter(|l| l.starts_with("cargo test"))
        .collect();
    assert_eq!(
        commands.len(),
        1,
        "README.md: one command tests the project"
    );
    let ci = file(".ci/run").text;
    let runs = ci
        .lines()
        .any(|line| line == format!("tests='{}'", commands[0]));
    assert!(runs, ".ci/run should have: tests='{}'", commands[0]);
}

#[test]
fn an_oversized_merge_has_the_same_remedies_in_every_refusal() {
    // As the sources write it: a string may go on in the next line.
    let flat = |path: &str| {
        let text = file(path).text.replace("\\\n", " ");
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let told = flat("cli/src/connection/refusal.rs");
    let (_, told) = told.split_once("\"MERGE_TOO_LARGE\",").expect("its row");
    let remedy = told.split('"').nth(3).expect("its remedy");
    for needed in ["smaller", "`amemctl import`", "keep both"] {
        assert!(remedy.contains(needed), "{remedy}");
    }
    let held = flat("crates/store/src/error.rs");
    assert!(
        held.contains(remedy),
        "crates/store/src/error.rs should say: {remedy}"
    );
}

/// Libraries that open without an example: those of one program each, and servers for tests.
const WITHOUT_EXAMPLE: [&str; 3] = ["cli", "crates/scripted", "daemon"];

/// The fences of examples that the tests run, or compile if they need a daemon, the network or a model.
const EXAMPLES: [&str; 2] = ["```", "```no_run"];

#[test]
fn every_library_that_others_use_opens_with_an_example() {
    let mut out = Vec::new();
    for library in files() {
        let package = library.path.strip_suffix("/src/lib.rs");
        // Below `tests/` are samples for the rules themselves.
        let Some(package) = package.filter(|package| !package.starts_with("tests/")) else {
            continue;
        };
        let fence = library.words().into_iter().find(|l| l.starts_with("```"));
        let has_example = fence.is_some_and(|fence| EXAMPLES.contains(&fence));
        match WITHOUT_EXAMPLE.contains(&package) {
            false if !has_example => out.push(format!(
                "{}:1: give its `//!` lines a short example of its main use",
                library.path
            )),
            true if has_example => out.push(format!(
                "{package} has an example: take it out of WITHOUT_EXAMPLE"
            )),
            _ => {}
        }
    }
    none(out);
}
