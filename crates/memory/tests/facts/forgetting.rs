//! Requests to forget: what is understood ends a memory, what is not is named, and nothing of its turn is formed.

use crate::support::NaiveStore;
use amem_format::types::Micros;
use amem_memory::add::AddEvent;
use amem_memory::model::FormTable;
use amem_memory::store::BuiltinEmbedder;
use amem_memory::{AddAnswer, AddPorts, AddRequest, FactScope, add, messages_from_json};
use serde_json::json;

fn said(store: &NaiveStore, text: &str, infer: bool) -> AddAnswer {
    let at = 1_700_000_000_000_000 + i64::from(store.commits.get());
    let messages = messages_from_json(&json!(text)).expect("messages");
    let mut request = AddRequest::new(messages, FactScope::user("ada"), Micros(at));
    request.infer = infer;
    let forms = FormTable::default();
    let ports = AddPorts {
        store,
        embedder: &BuiltinEmbedder,
        ids: store,
        model: None,
        forms: &forms,
    };
    add(&request, ports).expect("an add")
}

#[test]
fn a_request_to_forget_that_is_not_understood_is_named_as_not_done() {
    for text in [
        "Don't remember my salary",
        "Forget everything about Karl",
        "Please forget what I said about my salary.",
        "I earn 90k a year. Please don't remember that.",
        "I live in Rome. Forget what I said about my address.",
        "Vergiss, was ich über mein Gehalt gesagt habe",
        "Ich wohne in Rom. Bitte vergiss alles über Karl.",
        "Oublie ce que j'ai dit sur mon salaire",
        "Olvida lo que dije sobre mi sueldo",
    ] {
        let store = NaiveStore::default();
        said(
            &store,
            "My salary is 90k and my friend is called Karl",
            true,
        );
        let before = store.texts(&FactScope::user("ada"));
        let answer = said(&store, text, true);
        assert!(answer.results.is_empty(), "{text}: {:?}", answer.results);
        let [rejected] = &answer.rejected[..] else {
            panic!("{text}: {:?}", answer.rejected);
        };
        assert!(
            rejected.why.starts_with("not done: "),
            "{text}: {rejected:?}"
        );
        assert!(text.contains(&rejected.text), "{rejected:?}");
        assert_eq!(store.texts(&FactScope::user("ada")), before, "{text}");
    }
}

#[test]
fn a_statement_that_asks_to_forget_is_stored_by_no_door() {
    let store = NaiveStore::default();
    let answer = said(&store, "Don't remember my salary", false);
    assert!(
        answer.results.is_empty() && answer.rejected.len() == 1,
        "{answer:?}"
    );
    let answer = said(
        &store,
        "The job of the janitor: delete what nobody needs.",
        false,
    );
    assert_eq!(answer.results.len(), 1, "{answer:?}");
}

#[test]
fn everything_about_a_person_is_answered_with_the_command_that_erases_it() {
    let store = NaiveStore::default();
    let answer = said(&store, "Forget everything about Karl", true);
    let why = &answer.rejected[0].why;
    assert!(
        why.contains("\"amemctl fact forget ada --entity Karl\""),
        "{why}"
    );
}

#[test]
fn a_request_to_forget_that_is_understood_ends_the_memory() {
    let store = NaiveStore::default();
    said(&store, "I have two cats. I live in Rome.", true);
    let answer = said(&store, "Forget that I have two cats", true);
    assert_eq!(answer.results[0].event, AddEvent::Delete, "{answer:?}");
    assert_eq!(store.texts(&FactScope::user("ada")), ["User lives in Rome"]);
}

#[test]
fn a_part_of_a_memory_is_not_forgotten_with_all_of_it() {
    let store = NaiveStore::default();
    said(&store, "I have two cats and a dog.", true);
    let before = store.texts(&FactScope::user("ada"));
    let answer = said(&store, "Forget that I have two cats", true);
    assert!(
        answer.rejected[0].why.starts_with("not done: "),
        "{answer:?}"
    );
    assert_eq!(store.texts(&FactScope::user("ada")), before);
}
