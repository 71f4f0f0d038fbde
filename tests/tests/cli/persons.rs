//! A person who is to be forgotten: in every brain, with what names them.

use std::fs;
use std::path::Path;

use amem_tests::programs::number;
use serde_json::json;

use crate::daemon::ServedFolder;

/// Files below a folder that have the bytes.
pub(crate) fn having(folder: &Path, bytes: &[u8]) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(having(&path, bytes));
        } else if path.is_file() {
            let all = fs::read(&path).unwrap();
            if all.windows(bytes.len()).any(|part| part == bytes) {
                found.push(path.display().to_string());
            }
        }
    }
    found
}

#[test]
fn a_person_is_erased_from_every_brain() {
    let served = ServedFolder::start();
    served.data("brain create work", 0);
    for brain in ["memories", "work"] {
        for said in [
            "I live in Porto.",
            "I moved to Lisbon.",
            "My name is Ada Low.",
        ] {
            let line = format!("fact add - --user ada --brain {brain}");
            served.data_with(&line, said.as_bytes(), 0);
        }
    }
    served.data_with(
        "fact add - --user bob",
        b"My sister Ada Low lives in Rome.",
        0,
    );
    served.data_with("fact add - --user bob", b"I live in Canada.", 0);
    served.put(
        "notes/a.md",
        "# Shop\n\nAda Low has the key.\n\nThe door is green.\n",
    );
    served.data("import notes --into notes", 0);
    let line = ["fact", "forget", "ada", "--name", "Ada Low"];
    let dry = served.told(&[&line[..], &["--dry-run"]].concat(), 0);
    let of = |name: &str| {
        let brains = dry["brains"].as_array().unwrap();
        brains
            .iter()
            .find(|one| one["brain"] == name)
            .map(|one| number(&one["events"]))
    };
    assert!(
        of("memories").unwrap() >= 6 && of("work") == of("memories"),
        "{dry}"
    );
    assert_eq!((of("notes"), &dry["dryRun"]), (None, &json!(true)));
    // What Bob said of her, the memory of it, and a line of a note.
    let named = dry["mentions"].as_array().unwrap();
    assert_eq!(named.len(), 3, "{dry}");
    assert!(!dry.to_string().contains("Canada"), "{dry}");
    // Nothing is erased without a yes.
    let told = served.told(&line, 5);
    assert!(told.is_null(), "{told}");
    assert!(
        served
            .data("fact ls --user ada", 0)
            .to_string()
            .contains("Lisbon")
    );
    let told = served.told(&[&line[..], &["--yes"]].concat(), 0);
    assert_eq!(told["mentionsErased"], false);
    assert_eq!(
        having(&served.path("brains"), b"Lisbon"),
        Vec::<String>::new()
    );
    assert!(!having(&served.path("brains"), b"Ada Low").is_empty());
    let told = served.told(&[&line[..], &["--mentions", "--yes"]].concat(), 0);
    assert_eq!(told["mentionsErased"], true);
    assert_eq!(
        having(&served.path("brains"), b"Ada Low"),
        Vec::<String>::new()
    );
    let bob = served.data("fact ls --user bob", 0).to_string();
    assert!(bob.contains("Canada") && !bob.contains("Rome"), "{bob}");
    assert!(
        served
            .data("query notes", 0)
            .to_string()
            .contains("door is green")
    );
    let again = served.told(&[&line[..], &["--dry-run"]].concat(), 0);
    assert_eq!(
        (&again["brains"], &again["mentions"]),
        (&json!([]), &json!([]))
    );
}

#[test]
fn forgetting_a_name_shows_by_person_what_goes_and_asks() {
    let served = ServedFolder::start();
    for said in [
        "My wife's name is Ottilie.",
        "Ottilie works at Acme.",
        "I live in Rome.",
    ] {
        served.data_with("fact add - --user ada", said.as_bytes(), 0);
    }
    let line = "fact forget ada --entity Ottilie";
    let dry = served.data(&format!("{line} --dry-run"), 0);
    let facts = dry["brains"][0]["erased"]["facts"].as_array().unwrap();
    let shown = |person: &str| {
        let of_person = facts.iter().filter(|fact| fact["about"] == person);
        of_person.count() == 1
    };
    assert!(shown("User") && shown("Ottilie"), "{dry}");
    let page = String::from_utf8(served.out(&format!("{line} --dry-run"))).unwrap();
    assert!(
        page.contains("  Ottilie: 1\n    Ottilie works at Acme\n"),
        "{page}"
    );
    // Without a terminal, and without --yes, nothing goes.
    served.refused(line, 5, "unconfirmed", "no terminal to ask on", "--yes");
    served.data(&format!("{line} --yes"), 0);
    let left = served.data("fact ls --user ada", 0).to_string();
    assert!(
        left.contains("User lives in Rome") && !left.contains("Ottilie"),
        "{left}"
    );
}

#[test]
fn a_request_to_forget_that_is_not_understood_is_printed_as_not_done() {
    let served = ServedFolder::start();
    let run = |said: &str| {
        let ran = served.run_with("fact add - --user ada", said.as_bytes());
        assert_eq!(ran.status.code(), Some(0), "{ran:?}");
        String::from_utf8(ran.stdout).unwrap()
    };
    let told = run("Don't remember my salary");
    assert!(
        told.contains("not stored: Don't remember my salary (not done: "),
        "{told}"
    );
    let told = run("I live in Rome. Forget everything about Karl.");
    assert!(
        told.contains("amemctl fact forget ada --entity Karl") && !told.contains("ADD"),
        "{told}"
    );
    let left = served.data("fact ls --user ada", 0);
    assert!(!left.to_string().contains("Rome"), "{left}");
}
