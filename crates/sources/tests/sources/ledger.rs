//! A source that was edited, against what was taken of it before.

use amem_sources::{ItemChange, SourceLedger};

use crate::support::{Shelf, SourceReading};

const BEFORE: &str =
    "---\ntitle: Plan\n---\n# A\n- one\n- two\n- two\n  - below\n\n# B\nthree\n\n> four\n";

/// What a ledger has of a reading: each item under its text.
fn ledger(reading: &SourceReading) -> SourceLedger<String> {
    let mut ledger = SourceLedger::default();
    for item in reading.items() {
        ledger.has(&item.id.to_string(), item.hash, item.text.clone());
    }
    ledger
}

/// New, edited and gone texts.
fn changes(before: &str, after: &str) -> (Vec<String>, Vec<String>, Vec<String>) {
    let shelf = Shelf::new();
    shelf.file("v/plan.md", before);
    let mut ledger = ledger(&shelf.read("v"));
    shelf.file("v/plan.md", after);
    let (mut new, mut edited) = (Vec::new(), Vec::new());
    for item in shelf.read("v").items() {
        match ledger.see(item, item.text.clone()) {
            ItemChange::New => new.push(item.text.clone()),
            ItemChange::Edited(_) => edited.push(item.text.clone()),
            ItemChange::Known(_) | ItemChange::Repeated => {}
        }
    }
    let mut gone: Vec<String> = ledger.unseen().cloned().collect();
    gone.sort();
    (new, edited, gone)
}

#[test]
fn ten_kinds_of_edits_are_what_they_are() {
    type EditRow<'r> = (&'r str, String, &'r [&'r str], &'r [&'r str], &'r [&'r str]);
    let rows: [EditRow<'_>; 11] = [
        ("nothing", BEFORE.into(), &[], &[], &[]),
        (
            "a line is added",
            BEFORE.replace("three\n", "three\n\nnew\n"),
            &["new"],
            &[],
            &[],
        ),
        (
            "a line goes",
            BEFORE.replace("- one\n", ""),
            &[],
            &[],
            &["one"],
        ),
        (
            "a line is edited",
            BEFORE.replace("one", "One"),
            &["One"],
            &[],
            &["one"],
        ),
        (
            "a line moves within its heading",
            BEFORE.replace("- one\n- two\n- two\n", "- two\n- one\n- two\n"),
            &[],
            // The item below is part of the second of the two.
            &[],
            &[],
        ),
        (
            "a line moves below another heading",
            BEFORE
                .replace("- one\n", "")
                .replace("three\n", "three\n\n- one\n"),
            &[],
            &["one"],
            &[],
        ),
        (
            "one of two equal lines goes",
            BEFORE.replace("- two\n- two\n", "- two\n"),
            &[],
            &["below"],
            &["two"],
        ),
        (
            "a heading gets another name",
            BEFORE.replace("# B", "# C"),
            &["C"],
            &["three", "four"],
            &["B"],
        ),
        (
            "the note gets another title",
            BEFORE.replace("Plan", "Goal"),
            &[],
            &[
                "Goal", "A", "one", "two", "two", "below", "B", "three", "four",
            ],
            &[],
        ),
        (
            "a property is added",
            BEFORE.replace("title", "status: done\ntitle"),
            &[],
            &["Plan\nstatus: done"],
            &[],
        ),
        (
            "blanks, ends of lines and marks of lists change",
            BEFORE.replace("- one", "* one  ").replace('\n', "\r\n"),
            &[],
            &[],
            &[],
        ),
    ];
    for (name, after, new, edited, gone) in rows {
        let got = changes(BEFORE, &after);
        assert_eq!(got.0, new, "{name}: new");
        assert_eq!(got.1, edited, "{name}: edited");
        assert_eq!(got.2, gone, "{name}: gone");
    }
}

#[test]
fn an_item_is_compared_once() {
    let shelf = Shelf::new();
    let reading = shelf.read(shelf.file("a.txt", "Ada: a\nAda: b\n"));
    let mut ledger = SourceLedger::default();
    assert!(ledger.is_empty());
    let item = &reading.items()[0];
    assert_eq!(ledger.see(item, 7), ItemChange::New);
    assert_eq!(ledger.see(item, 8), ItemChange::Repeated);
    assert_eq!((ledger.len(), ledger.unseen().count()), (1, 0));
    ledger.has(&reading.items()[1].id.to_string(), 0, 9);
    assert_eq!(ledger.unseen().copied().collect::<Vec<_>>(), [9]);
    assert_eq!(ledger.see(&reading.items()[1], 10), ItemChange::Edited(9));
}

#[test]
fn a_conversation_that_goes_on_has_only_new_turns() {
    let shelf = Shelf::new();
    let path = shelf.file("a.txt", "Ada: a\nJonas: b\n");
    let mut ledger = ledger(&shelf.read(&path));
    shelf.file("a.txt", "Ada: a\nJonas: b\nAda: c\n");
    let reading = shelf.read(&path);
    let new: Vec<_> = reading
        .items()
        .iter()
        .filter(|item| ledger.see(item, String::new()) == ItemChange::New)
        .map(|item| item.text.as_str())
        .collect();
    assert_eq!(new, ["c"]);
    assert_eq!(ledger.unseen().count(), 0);
}
