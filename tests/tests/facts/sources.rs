//! Sources: turns are searchable and tied to facts; an erased one takes what only it supported.

use amem_facts::FactBrain;
use amem_query::{Search, Selection};

use crate::support::{Bench, alice, bob};

#[test]
fn turns_are_searchable_events_and_no_memories() {
    let bench = Bench::new();
    let answer = bench.add("I live in Porto", &alice());
    let view = bench.brain.view();
    let search = Search {
        question: "Porto".into(),
        selection: Selection::default(),
        ..Search::default()
    };
    let hits = search.run(&view).unwrap().hits;
    let texts: Vec<String> = hits
        .iter()
        .map(|hit| view.node(hit.id).unwrap().text().unwrap().into_owned())
        .collect();
    assert!(texts.contains(&"I live in Porto".to_owned()), "{texts:?}");
    assert_eq!(bench.all(&alice()).len(), answer.results.len());
}

#[test]
fn an_erased_source_takes_the_facts_that_only_it_supported() {
    let bench = Bench::new();
    let first = bench.add("I live in Porto. I have a dog.", &alice());
    bench.add("I moved to Rome", &alice());
    let turn = first.turns[0];
    let facts = bench.facts();
    let (events, memories) = facts.events_of_source(turn, &alice()).unwrap();
    bench.erase(events);
    facts.erased();
    assert_eq!(memories.len(), 1, "the dog: {memories:?}");
    let texts = bench.texts(&alice());
    assert_eq!(texts.len(), 1, "{texts:?}");
    assert!(texts[0].contains("Rome"), "{texts:?}");
    let home = bench.all(&alice())[0].id;
    let history = bench.history(home);
    assert_eq!(
        history.entries.len(),
        1,
        "the version of the erased turn is gone: {history:?}"
    );
    assert!(facts.events_of_source(turn, &alice()).is_err());
}

#[test]
fn an_erased_source_of_the_newest_version_brings_the_one_before_back() {
    let bench = Bench::new();
    let id = bench.add("I live in Porto", &alice()).results[0].id;
    let moved = bench.add("I moved to Rome", &alice());
    assert_eq!(moved.results[0].id, id, "{moved:?}");
    let (facts, turn) = (bench.facts(), moved.turns[0]);
    let outlasting = facts.outlast_source(turn, &alice(), bench.now()).unwrap();
    assert_eq!(outlasting, [id]);
    let (events, memories) = facts.events_of_source(turn, &alice()).unwrap();
    assert!(memories.is_empty(), "{memories:?}");
    bench.erase(events);
    facts.erased();
    assert_eq!(bench.texts(&alice()), ["User lives in Porto"]);
    assert_eq!(
        bench.texts_found("Porto", &alice()),
        ["User lives in Porto"]
    );
    let again = bench.add("My home is in Porto. I live in Porto now.", &alice());
    let all = bench.all(&alice());
    assert!(all.iter().any(|item| item.id == id), "{again:?}, {all:?}");
    let left = facts.events_of_source(turn, &alice());
    assert!(left.is_err(), "{left:?}");
}

#[test]
fn new_keys_leave_a_text_with_its_sources() {
    let bench = Bench::new();
    let answer = bench.add("I live in Porto", &alice());
    let (id, turn) = (answer.results[0].id, answer.turns[0]);
    let mut request = amem_memory::change::UpdateRequest {
        id,
        text: None,
        metadata: Some([("tag".to_owned(), "home".into())].into_iter().collect()),
        expected: None,
        reason: None,
        secrets: amem_memory::add::SecretPolicy::Mask,
        now: bench.now(),
    };
    let facts = bench.facts();
    let (item, _) = facts.update(&request, &alice(), None).unwrap();
    assert_eq!(item.sources, [turn]);
    let (_, memories) = facts.events_of_source(turn, &alice()).unwrap();
    assert_eq!(memories, [id], "its text is from the turn alone");
    // What is said later changes the text, and leaves the keys.
    bench.add("I moved to Rome", &alice());
    let moved = bench.get(id).unwrap();
    assert!(moved.memory.contains("Rome"), "{moved:?}");
    assert_eq!(moved.metadata.get("tag"), Some(&"home".into()));
    // What a caller sets replaces them.
    request.metadata = Some(serde_json::Map::new());
    request.now = bench.now();
    let (item, _) = facts.update(&request, &alice(), None).unwrap();
    assert!(item.metadata.is_empty(), "{item:?}");
}

#[test]
fn ended_memories_are_in_no_general_query() {
    let bench = Bench::new();
    let id = bench.keep("User likes tea", &alice());
    bench.update(id, "User likes green tea");
    bench.delete(id);
    let view = bench.brain.view();
    let shown = amem_query::Pattern {
        limit: 100,
        ..amem_query::Pattern::default()
    };
    let shown = shown.run(&view).unwrap().ids;
    let texts: Vec<String> = shown
        .iter()
        .map(|id| view.node(*id).unwrap().text().unwrap().into_owned())
        .collect();
    assert_eq!(texts, ["User likes tea"], "the turn alone: {texts:?}");
}

#[test]
fn an_episode_that_covers_what_is_erased_goes_with_it() {
    for of in ["scope", "memory", "source", "entity"] {
        let bench = Bench::new();
        let session = bench.session();
        let mut request = bench.request("I live in Porto", &alice());
        request.session = Some(session);
        let added = bench.run(&request);
        let mut request = bench.request("I drink green tea", &bob());
        request.session = Some(session);
        bench.run(&request);
        let episode = bench.compress(session, "someone lives in Porto");
        let facts = bench.facts();
        let events = match of {
            "scope" => facts.events_of_scope(&alice()).unwrap(),
            "memory" => {
                facts
                    .events_of_memory(added.results[0].id, &alice())
                    .unwrap()
                    .0
            }
            "source" => facts.events_of_source(added.turns[0], &alice()).unwrap().0,
            _ => {
                let found = facts.events_of_entity(&alice(), "Porto", bench.now());
                found.unwrap().events
            }
        };
        assert!(events.contains(&episode), "{of}: {events:?}");
        bench.erase(events);
        facts.erased();
        let view = bench.brain.view();
        for id in 0..view.nodes() {
            let node = view.node(amem_format::NodeId(id)).unwrap();
            assert!(!node.text().unwrap().contains("Porto"), "{of}: {id}");
        }
        assert_eq!(bench.texts(&bob()), ["User drinks green tea"], "{of}");
    }
}
