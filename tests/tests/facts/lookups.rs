//! Lookups and candidates cost what they find, not what there is; and they are the same before and after a checkpoint.

use amem_memory::add::AddEvent;
use amem_memory::{ContentPart, Message};

use crate::support::{Bench, alice, bob};

#[test]
fn what_the_journal_knows_the_base_knows_too() {
    let bench = Bench::new();
    let first = bench.add("I live in Porto", &alice()).results[0].id;
    bench.checkpoint();
    let again = bench.add("I live in Porto", &alice());
    assert_eq!(
        (again.results[0].event, again.results[0].id),
        (AddEvent::None, first)
    );
    let moved = bench.add("I moved to Rome", &alice());
    assert_eq!(
        (moved.results[0].event, moved.results[0].id),
        (AddEvent::Update, first)
    );
    bench.checkpoint();
    let bench = bench.reopened();
    let back = bench.add("I moved to Porto", &alice());
    assert_eq!(
        (back.results[0].event, back.results[0].id),
        (AddEvent::Update, first)
    );
    assert_eq!(bench.history(first).entries.len(), 3);
}

#[test]
fn another_scope_is_no_candidate_however_large() {
    let bench = Bench::new();
    let mut request = bench.request("", &bob());
    request.infer = false;
    request.messages = (0..400)
        .map(|n| Message::user(format!("Bob lives in town {n}")))
        .collect();
    bench.run(&request);
    bench.add("I live in Porto", &bob());
    let answer = bench.add("I live in Rome", &alice());
    assert_eq!(answer.results[0].event, AddEvent::Add, "{answer:?}");
}

#[test]
fn a_batch_is_one_commit() {
    let bench = Bench::new();
    let before = bench.commits();
    let mut request = bench.request("", &alice());
    request.infer = false;
    request.messages = (0..1000)
        .map(|n| Message::user(format!("note {n}")))
        .collect();
    let answer = bench.run(&request);
    assert_eq!(answer.results.len(), 1000);
    assert_eq!(bench.commits(), before + 1);
    assert_eq!(bench.all(&alice()).len(), 1000);
}

#[test]
fn facts_of_one_add_see_each_other() {
    let bench = Bench::new();
    let mut request = bench.request("", &alice());
    request.messages = ["I lived in Rome.", "I live in Rome.", "I moved to Porto."]
        .map(|text| Message {
            content: vec![ContentPart::Text(text.into())],
            ..Message::user("")
        })
        .to_vec();
    let answer = bench.run(&request);
    let moved = answer
        .results
        .iter()
        .find(|one| one.event == AddEvent::Update);
    let moved = moved.unwrap_or_else(|| panic!("{answer:?}"));
    let history = bench.history(moved.id);
    assert!(history.entries.len() >= 2, "{history:?}");
    let texts = bench.texts(&alice());
    assert!(texts.iter().any(|text| text.contains("Porto")), "{texts:?}");
    assert!(
        !texts.contains(moved.old_memory.as_ref().unwrap()),
        "{texts:?}"
    );
}
