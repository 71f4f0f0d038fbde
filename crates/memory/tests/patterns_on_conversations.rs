//! Patterns on real conversations, which are not part of the project (`AMEM_SHARED`, else `../shared`): how many turns
//! have facts, and how many of the turns that answer questions do.
//!
//! `AMEM_PATTERN_SAMPLE=50 cargo test -p amem-memory --test patterns_on_conversations -- --nocapture` prints facts of
//! evenly spaced turns, to be judged line by line.

use std::collections::HashSet;
use std::path::PathBuf;
use std::time::Instant;

use amem_memory::facts_in_turn;
use amem_query::time_phrase::Clock;
use serde_json::Value;

fn shared(path: &str) -> Option<PathBuf> {
    let folder = std::env::var_os("AMEM_SHARED").map(PathBuf::from);
    let beside = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let file = folder.unwrap_or(beside).join(path);
    file.exists().then_some(file)
}

#[test]
fn patterns_find_facts_in_turns_that_answer_questions() {
    let Some(path) = shared("data/locomo-dev.json") else {
        println!("SKIPPED: there is no shared data");
        return;
    };
    let data: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let (mut turns, mut with_facts, mut facts) = (0_usize, 0_usize, 0_usize);
    let (mut evidence, mut evidence_found) = (0_usize, 0_usize);
    let mut lines = Vec::new();
    let started = Instant::now();
    for (conversation, value) in data.as_object().unwrap() {
        let wanted: HashSet<&str> = value["questions"]
            .as_array()
            .unwrap()
            .iter()
            .flat_map(|question| question["evidence"].as_array().unwrap())
            .filter_map(Value::as_str)
            .collect();
        for turn in value["turns"].as_array().unwrap() {
            let (id, speaker, text) = (
                turn["id"].as_str().unwrap(),
                turn["speaker"].as_str().unwrap(),
                turn["text"].as_str().unwrap(),
            );
            let text = text.split(" [image:").next().unwrap();
            let found = facts_in_turn(text, Some(speaker), &[], &Clock::default(), 0);
            turns += 1;
            facts += found.len();
            with_facts += usize::from(!found.is_empty());
            if wanted.contains(id) {
                evidence += 1;
                evidence_found += usize::from(!found.is_empty());
            }
            if !found.is_empty() {
                let shown: Vec<_> = found
                    .iter()
                    .map(|fact| format!("    -> [{}] {}", fact.family, fact.text))
                    .collect();
                lines.push(format!(
                    "{conversation} {id} {speaker}: {text}\n{}",
                    shown.join("\n")
                ));
            }
        }
    }
    let micros = started.elapsed().as_micros() as usize / turns;
    println!(
        "{turns} turns, {with_facts} with facts, {facts} facts; {evidence_found} of {evidence} evidence turns; {micros} us a turn"
    );
    if let Some(count) = std::env::var("AMEM_PATTERN_SAMPLE")
        .ok()
        .and_then(|n| n.parse::<usize>().ok())
    {
        let offset = std::env::var("AMEM_PATTERN_OFFSET")
            .ok()
            .and_then(|n| n.parse::<usize>().ok())
            .unwrap_or(0);
        for line in lines
            .iter()
            .skip(offset)
            .step_by((lines.len() / count).max(1))
            .take(count)
        {
            println!("{line}");
        }
    }
    assert!(
        with_facts * 100 >= turns * 15,
        "{with_facts} of {turns} turns have facts"
    );
    assert!(
        evidence_found * 100 >= evidence * 40,
        "{evidence_found} of {evidence} evidence turns have facts"
    );
    assert!(micros < 1_000, "{micros} microseconds a turn");
}
