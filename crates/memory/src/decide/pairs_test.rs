//! The rules against pairs that people judged: `tests/data/decision-pairs.txt`, and a list that is not part of the
//! project (`AMEM_SHARED`, else `../shared`).

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::reading::FactReading;
use super::rule::{Decision, decide};
use crate::kind::FactKind;

/// The outcome in the words of the lists.
fn outcome(new: &str, known: &[&str]) -> &'static str {
    let (new, kind) = match new.strip_suffix(" @forget") {
        Some(new) => (new, FactKind::Retraction),
        None => (new, FactKind::Fact),
    };
    let known: Vec<FactReading> = known.iter().map(|text| FactReading::of(text)).collect();
    match decide(&FactReading::of(new), kind, &known) {
        Decision::Add => "ADD",
        Decision::AddBeside { .. } => "CONFLICT",
        Decision::Update { .. } => "UPDATE",
        Decision::Delete { .. } => "DELETE",
        Decision::Known { .. } => "NONE",
        Decision::Nothing | Decision::Part => "NOTHING",
    }
}

#[test]
fn the_rules_decide_the_judged_pairs() {
    let list = include_str!("../../tests/data/decision-pairs.txt");
    let mut kinds: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    let (mut wrong, mut all) = (Vec::new(), 0);
    for line in list.lines().filter(|line| !line.starts_with('#')) {
        let cells: Vec<&str> = line.split(" | ").map(str::trim).collect();
        let [kind, right, new, known] = cells[..] else {
            panic!("a row has four cells: {line}");
        };
        let known: Vec<&str> = known.split(" ; ").collect();
        let found = outcome(new, &known);
        let is_right = right.split('/').any(|right| right == found);
        let row = kinds.entry(kind).or_default();
        row.1 += 1;
        all += 1;
        if is_right {
            row.0 += 1;
        } else {
            wrong.push(format!(
                "{kind}: {new:?} against {known:?} is {found}, right is {right}"
            ));
        }
    }
    for (kind, (right, count)) in &kinds {
        println!("{kind}: {right} of {count}");
    }
    println!(
        "{} of {all}; wrong:\n{}",
        all - wrong.len(),
        wrong.join("\n")
    );
    assert!(all >= 200, "only {all} pairs");
    assert!(
        wrong.len() * 100 <= all * 3,
        "{} of {all} are wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
fn a_memory_ends_only_on_grounds() {
    let list = include_str!("../../tests/data/ending-pairs.txt");
    let mut wrong = Vec::new();
    let (mut added, mut ended) = (0, 0);
    for line in list.lines().filter(|line| !line.starts_with('#')) {
        let cells: Vec<&str> = line.split(" | ").collect();
        let [right, new, known] = cells[..] else {
            panic!("a row has three cells: {line}");
        };
        let found = outcome(new, &[known]);
        if found != right {
            wrong.push(format!(
                "{new:?} against {known:?} is {found}, right is {right}"
            ));
        }
        match right {
            "ADD" => added += 1,
            _ => ended += 1,
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(added >= 40 && ended >= 30, "{added} and {ended} pairs");
}

/// Where data lies that is not part of the project.
fn shared(path: &str) -> Option<PathBuf> {
    let folder = std::env::var_os("AMEM_SHARED").map(PathBuf::from);
    let beside = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let file = folder.unwrap_or(beside).join(path);
    file.exists().then_some(file)
}

#[test]
fn the_rules_decide_the_shared_pairs() {
    let Some(path) = shared("data/facts/decision-pairs.json") else {
        println!("SKIPPED: there is no shared data");
        return;
    };
    let text = std::fs::read_to_string(path).unwrap();
    let pairs: Vec<(String, Vec<String>, String)> = serde_json::from_str(&text).unwrap();
    let mut wrong = Vec::new();
    for (new, known, right) in &pairs {
        let known: Vec<&str> = known.iter().map(String::as_str).collect();
        let found = outcome(new, &known);
        if !right.split('|').any(|right| right == found) {
            wrong.push(format!(
                "{new:?} against {known:?} is {found}, right is {right}"
            ));
        }
    }
    println!(
        "{} of {}: {wrong:?}",
        pairs.len() - wrong.len(),
        pairs.len()
    );
    assert!(wrong.len() <= 1, "{wrong:#?}");
}

/// A row of the second list.
#[derive(serde::Deserialize)]
struct JudgedPair {
    new: String,
    known: Vec<String>,
    expected: Vec<String>,
}

#[test]
fn the_rules_decide_the_second_list_of_shared_pairs() {
    let Some(path) = shared("data/recall/decision-pairs-2.json") else {
        println!("SKIPPED: there is no shared data");
        return;
    };
    let text = std::fs::read_to_string(path).unwrap();
    let pairs: Vec<JudgedPair> = serde_json::from_str(&text).unwrap();
    let mut wrong = Vec::new();
    for pair in &pairs {
        let known: Vec<&str> = pair.known.iter().map(String::as_str).collect();
        let found = outcome(&pair.new, &known);
        if !pair.expected.iter().any(|right| right == found) {
            let JudgedPair { new, expected, .. } = pair;
            wrong.push(format!(
                "{new:?} against {known:?} is {found}, right is {expected:?}"
            ));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
