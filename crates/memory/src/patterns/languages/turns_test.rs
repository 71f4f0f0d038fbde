//! Facts in German, French and Spanish: the turns of `tests/data/turns-*.txt`, line by line.
//!
//! `cargo test -p amem-memory turns_test -- --nocapture` prints what is found, missed and wrong. The last 15 turns
//! of a language were held back while its tables were tuned.

use amem_format::types::Micros;
use amem_query::time_phrase::Clock;

use crate::kind::FactKind;
use crate::patterns::{facts_in_foreign_turn, language_of};
use crate::slots::slot_keys;

const HELD_BACK: usize = 15;
const NOW: Micros = Micros(1_700_000_000_000_000);

/// A turn and the facts that it states: family, kind, text, key of the slot.
struct StatedTurn {
    turn: String,
    facts: Vec<[String; 4]>,
}

fn examples(text: &str) -> Vec<StatedTurn> {
    let mut out: Vec<StatedTurn> = Vec::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let Some(fact) = line.strip_prefix("    ") else {
            out.push(StatedTurn {
                turn: line.to_owned(),
                facts: Vec::new(),
            });
            continue;
        };
        let mut parts = fact.split(" | ").map(str::to_owned);
        let parts = [(); 4].map(|()| parts.next().unwrap_or_default());
        out.last_mut()
            .expect("a turn before its facts")
            .facts
            .push(parts);
    }
    out
}

fn kind_name(kind: FactKind) -> String {
    serde_json::to_value(kind)
        .expect("a kind")
        .as_str()
        .expect("a word")
        .to_owned()
}

#[derive(Default)]
struct TurnScore {
    right: usize,
    wrong: usize,
    missed: usize,
}

/// Counts the facts of turns; prints each that is wrong or missed.
fn score(examples: &[StatedTurn], part: &str) -> TurnScore {
    let mut score = TurnScore::default();
    for example in examples {
        let language = language_of(&example.turn);
        let found = facts_in_foreign_turn(&example.turn, language, None, &Clock::utc(NOW), 0);
        let found: Vec<_> = found
            .iter()
            .map(|fact| {
                let keys = slot_keys(&fact.text);
                let shown = [
                    fact.family.to_owned(),
                    kind_name(fact.kind),
                    fact.text.clone(),
                ];
                (shown, keys)
            })
            .collect();
        for (fact, keys) in &found {
            let is_right = example.facts.iter().any(|wanted| {
                wanted[..3] == fact[..] && (wanted[3].is_empty() || keys.contains(&wanted[3]))
            });
            score.right += usize::from(is_right);
            score.wrong += usize::from(!is_right);
            let mark = if is_right { "right" } else { "WRONG" };
            println!(
                "{part} {mark}: {} -> {} {keys:?}",
                example.turn,
                fact.join(" | ")
            );
        }
        for wanted in &example.facts {
            if !found.iter().any(|(fact, _)| wanted[..3] == fact[..]) {
                score.missed += 1;
                println!(
                    "{part} missed ({language:?}): {} -> {}",
                    example.turn,
                    wanted.join(" | ")
                );
            }
        }
    }
    println!(
        "{part}: {} turns, {} right, {} wrong, {} missed",
        examples.len(),
        score.right,
        score.wrong,
        score.missed
    );
    score
}

/// Checks a language: no fact is wrong, and of those that turns state `percent` are found while tuning, and nine tenths
/// of those of the turns that were held back.
fn check(name: &str, text: &str, percent: usize) {
    let examples = examples(text);
    assert!(examples.len() >= 50, "{name} has {} turns", examples.len());
    let (tuned, held_back) = examples.split_at(examples.len() - HELD_BACK);
    let scores = [
        (score(tuned, &format!("{name}, tuned")), percent),
        (score(held_back, &format!("{name}, held back")), 90),
    ];
    for (score, percent) in scores {
        let wanted = score.right + score.missed;
        assert_eq!(score.wrong, 0, "wrong facts in {name}");
        assert!(
            score.right * 100 >= wanted * percent,
            "{} of {wanted} facts in {name}",
            score.right
        );
    }
}

#[test]
fn german_turns_give_their_facts() {
    check(
        "German",
        include_str!("../../../tests/data/turns-german.txt"),
        80,
    );
}

#[test]
fn french_turns_give_their_facts() {
    check(
        "French",
        include_str!("../../../tests/data/turns-french.txt"),
        80,
    );
}

#[test]
fn spanish_turns_give_their_facts() {
    check(
        "Spanish",
        include_str!("../../../tests/data/turns-spanish.txt"),
        80,
    );
}
