//! A conversation of two people over two weeks, from its turns to memories, reasons, graph, episode, table, and to
//! forgetting one of them.

use std::collections::{BTreeMap, BTreeSet};

use amem_tests::programs::number;
use serde_json::Value;

use crate::daemon::ServedFolder;

/// What they said: three corrections, four decisions, one language for another.
const TALK: &str = include_str!("talks/two_weeks.jsonl");
/// Every memory that is formed, judged: `+` says what was said, `-` does not; then its kind.
const JUDGED: &str = include_str!("talks/two_weeks.judged");

impl ServedFolder {
    fn formed() -> (Self, Value) {
        let served = Self::start();
        let line = "fact add - --user shop --session talk --explain";
        let told = served.data_with(line, TALK.as_bytes(), 0);
        (served, told)
    }

    /// The event of a memory's current version.
    fn event_of(&self, text: &str) -> u64 {
        let told = self.data("query memories --limit 1000", 0);
        let events = told["events"].as_array().unwrap();
        let found = events.iter().rev().find(|event| event["text"] == text);
        let found = found.unwrap_or_else(|| panic!("{text}: {told}"));
        number(&found["id"])
    }
}

fn texts(list: &Value, field: &str) -> BTreeSet<String> {
    let list = list.as_array().unwrap_or_else(|| panic!("{list}"));
    list.iter()
        .map(|one| one[field].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn two_weeks_of_two_people_are_formed_end_to_end() {
    let (served, told) = ServedFolder::formed();
    let stages: Vec<&str> = told["stages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|stage| stage["stage"].as_str().unwrap())
        .collect();
    assert_eq!(stages, ["observe", "extract", "store", "relate"]);
    let counts = told["stages"][0]["counts"].as_array().unwrap();
    let new_turns = counts.iter().find(|count| count["what"] == "new_turns");
    assert_eq!(new_turns.unwrap()["count"], "60");

    // Memories: as they were judged, and right by kind.
    let facts = served.data("fact ls --user shop", 0);
    let mut counts: BTreeMap<String, (u32, u32)> = BTreeMap::new();
    let mut judged = BTreeSet::new();
    for line in JUDGED.lines() {
        let (mark, rest) = line.split_once(' ').unwrap();
        let (kind, text) = rest.split_once(' ').unwrap();
        judged.insert(format!("{kind} {text}"));
        let (right, all) = counts.entry(kind.to_owned()).or_default();
        *right += u32::from(mark == "+");
        *all += 1;
    }
    let formed = facts["facts"].as_array().unwrap().iter().map(|fact| {
        format!(
            "{} {}",
            fact["kind"].as_str().unwrap(),
            fact["memory"].as_str().unwrap()
        )
    });
    let formed: BTreeSet<String> = formed.collect();
    assert_eq!(formed, judged, "judge what is new, and what is gone");
    let (right, all) = counts
        .values()
        .fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    assert!(f64::from(right) / f64::from(all) >= 0.95, "{counts:?}");
    for kind in [
        "decision",
        "event",
        "inference",
        "skill",
        "preference",
        "plan",
    ] {
        assert!(
            counts.get(kind).is_some_and(|(right, _)| *right > 0),
            "{kind}: {counts:?}"
        );
    }

    // Why: a decision follows from its reason, and both from what was said.
    let decision = served.event_of("Emil and others chose PostgreSQL");
    let why = served
        .data(&format!("why memories {decision}"), 0)
        .to_string();
    assert!(why.contains("PostgreSQL has JSON columns"), "{why}");
    let mut chose = facts["facts"].as_array().unwrap().iter();
    let chose = chose.find(|fact| fact["memory"] == "Emil and others chose PostgreSQL");
    let id = chose.unwrap()["id"].as_str().unwrap();
    let history = served.data(&format!("fact history {id}"), 0).to_string();
    assert!(
        history.contains("We chose PostgreSQL because it has JSON columns."),
        "{history}"
    );

    // A preference that changed twice is one chain.
    let all = facts["facts"].as_array().unwrap();
    let mode = all
        .iter()
        .find(|fact| fact["memory"] == "Emil prefers dark mode again")
        .unwrap();
    let history = served.data(&format!("fact history {}", mode["id"].as_str().unwrap()), 0);
    assert_eq!(history["records"].as_array().unwrap().len(), 3, "{history}");

    // The graph, and the page of a person at two times.
    let relations = served.data("fact relations --user shop", 0);
    let relations: BTreeSet<String> = relations["relations"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| {
            ["source", "relation", "target"]
                .map(|end| one["relation"][end].as_str().unwrap())
                .join(" ")
        })
        .collect();
    let expected = [
        "Clara lives_in Berlin",
        "Clara sister_of Nora",
        "Clara works_at Blende Studio",
        "Emil chose PostgreSQL",
        "Emil chose Vite",
        "Emil likes Darjeeling",
        "Emil lives_in Halle",
        "Emil studies Spanish",
        "Emil uses SQLite",
        "Emil uses Vim",
        "Mr Stein accountant_of Nora",
        "Nora chose Keramik Haller",
        "Nora lives_in Halle",
    ];
    assert_eq!(relations, expected.map(str::to_owned).into());
    let clara = served.data("fact entities Clara --user shop", 0);
    assert_eq!(clara["entity"]["kind"], "person");
    assert!(
        clara["facts"][0]["sources"][0]["text"]
            .as_str()
            .unwrap()
            .contains("Clara")
    );
    let before = served.data("fact entities Clara --user shop --at 2026-03-05", 0);
    // That she moved "last week" was said later, and was so then; where she works was not known yet.
    let then = [
        "Clara moved to Berlin last week",
        "Nora's sister Clara will do the photos",
    ];
    let known = before["facts"].as_array().unwrap().iter();
    let known: Value = known.map(|one| one["fact"].clone()).collect();
    assert_eq!(texts(&known, "memory"), then.map(str::to_owned).into());
    let dot = String::from_utf8(served.out("fact graph --user shop --format dot")).unwrap();
    assert!(
        dot.contains("\"Clara\" -> \"Nora\" [label=\"sister_of\"];"),
        "{dot}"
    );

    // What ends a part waits for a review.
    let open = served.data("fact review --user shop", 0);
    assert_eq!(
        open["conflicts"][0]["fact"]["memory"],
        "Nora no longer has a dog"
    );
    let status = served.data("status", 0).to_string();
    assert!(status.contains("\"reviewFacts\":\"1\""), "{status}");

    // The episode covers the session.
    let told = String::from_utf8(served.out("compress memories talk")).unwrap();
    let id = told.split(' ').nth(1).unwrap_or_else(|| panic!("{told}"));
    let parts = served.data(
        &format!(
            "traverse memories {id} --edge part-of --direction incoming --depth 1 --limit 1000"
        ),
        0,
    );
    let parts = parts.to_string();
    assert!(
        parts.contains("Emil uses Vim") && parts.contains("We chose PostgreSQL"),
        "{parts}"
    );
}

#[test]
fn a_person_of_a_conversation_is_forgotten_and_the_rest_stays() {
    let (served, _) = ServedFolder::formed();
    let dry = served.told(
        &["fact", "forget", "shop", "--entity", "Clara", "--dry-run"],
        0,
    );
    assert_eq!(dry["brains"][0]["erased"]["factCount"], "4", "{dry}");
    assert!(
        served
            .data("fact ls --user shop", 0)
            .to_string()
            .contains("Blende Studio")
    );
    let told = served.told(&["fact", "forget", "shop", "--entity", "Clara", "--yes"], 0);
    assert_eq!(told["brains"][0]["erased"]["factCount"], "4", "{told}");
    for gone in ["Blende", "Clara works", "Clara moved", "visit Clara"] {
        let left = crate::persons::having(&served.path("brains"), gone.as_bytes());
        assert_eq!(left, Vec::<String>::new(), "{gone}");
    }
    let left = served.data("fact ls --user shop", 0).to_string();
    assert!(
        !left.contains("Clara") && left.contains("Emil uses Vim"),
        "{left}"
    );
    served.refused(
        "fact entities Clara --user shop",
        3,
        "unknown_memory",
        "Clara",
        "",
    );
    // Nobody of them is left once the user is.
    served.told(&["fact", "forget", "shop", "--mentions", "--yes"], 0);
    for gone in ["Nora", "Emil", "Darjeeling", "Keramik"] {
        let left = crate::persons::having(&served.path("brains"), gone.as_bytes());
        assert_eq!(left, Vec::<String>::new(), "{gone}");
    }
}
