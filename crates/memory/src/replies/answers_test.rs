//! The reader on real answers of a small model, which are not part of the project (`AMEM_SHARED`, else `../shared`).

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::Value;

use super::facts_in_reply;
use crate::check::Grounds;

#[test]
fn real_answers_of_a_small_model_give_grounded_facts_only() {
    let folder = std::env::var_os("AMEM_SHARED").map(PathBuf::from);
    let beside = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let path = folder
        .unwrap_or(beside)
        .join("data/facts/small-model-answers.jsonl");
    let Ok(text) = std::fs::read_to_string(path) else {
        println!("SKIPPED: there is no shared data");
        return;
    };
    let mut sets: BTreeMap<String, [usize; 4]> = BTreeMap::new();
    for line in text.lines() {
        let row: Value = serde_json::from_str(line).unwrap();
        let (raw, user) = (row["raw"].as_str().unwrap(), row["user"].as_str().unwrap());
        let counts = sets
            .entry(row["set"].as_str().unwrap().to_owned())
            .or_default();
        counts[0] += 1;
        let Some(facts) = facts_in_reply(raw) else {
            continue;
        };
        counts[1] += 1;
        let grounds = Grounds::of(
            [(user, crate::language::TurnLanguage::English)].into_iter(),
            std::iter::empty(),
        );
        for fact in facts {
            // Escapes aside, a string is in the answer as it is: with a quote behind it, so that it is not cut.
            let written = serde_json::to_string(&fact.text).unwrap();
            let inner = &written[1..written.len() - 1];
            let is_whole = ["\"", "'", "\u{201d}", "`"].iter().any(|quote| {
                raw.contains(&format!("{inner}{quote}"))
                    || raw.contains(&format!("{}{quote}", fact.text))
            });
            assert!(
                is_whole || fact.text.trim() != fact.text || raw.contains(&fact.text),
                "{:?} is cut in {raw:?}",
                fact.text
            );
            counts[2] += 1;
            counts[3] += usize::from(grounds.failure(&fact.text).is_none());
        }
    }
    println!("set: answers, with facts, facts, grounded");
    for (set, counts) in &sets {
        println!("{set}: {counts:?}");
    }
    assert!(sets.values().map(|counts| counts[1]).sum::<usize>() >= 20);
}
