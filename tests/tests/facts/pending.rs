//! Pending work: tried again over restarts, with what the add asked for; done or given up to patterns in the end.

use amem_facts::{FactBrain, PendingIndex};
use amem_format::types::{EventType, Micros};
use amem_memory::FactScope;
use amem_memory::limits::PENDING_TRIES_MAX;
use amem_memory::model::ModelFailure;
use amem_memory::store::BuiltinEmbedder;
use amem_store::NewBrain;
use amem_store::mutation::{Ingest, Mutation, NewEvent};
use serde_json::json;

use crate::ports::{FailingEmbedder, ScriptedModel, TOPICS};
use crate::support::{Bench, alice, bob};

fn down() -> ScriptedModel {
    let failure = || Err(ModelFailure::Unreachable("connection refused".into()));
    ScriptedModel::new((0..8).map(|_| failure()).collect())
}

const REPLY: &str = r#"{"facts":[{"text":"User lives in Porto","turns":[1],"kind":"fact","because":[],"about":"user"}]}"#;

/// A brain with an add whose model was down.
fn waiting() -> Bench {
    let bench = Bench::new();
    let model = down();
    let mut request = bench.request("I live in Porto", &alice());
    request.metadata = json!({"tag": "x"}).as_object().unwrap().clone();
    let (answer, _) = bench
        .facts_with(&BuiltinEmbedder, Some(&model))
        .add(&request)
        .unwrap();
    assert!(
        answer.results.is_empty() && answer.pending.len() == 1,
        "{answer:?}"
    );
    bench
}

#[test]
fn work_is_done_by_the_next_try_and_keeps_what_the_add_asked_for() {
    let bench = waiting().reopened();
    let now = bench.now();
    let early = bench.facts().retry(&alice(), now, true).unwrap();
    assert!(early.is_empty(), "its time has not come: {early:?}");
    let later = Micros(now.0 + 120_000_000);
    let model = ScriptedModel::saying(&[REPLY]);
    let facts = bench.facts_with(&BuiltinEmbedder, Some(&model));
    let outcomes = facts.retry(&alice(), later, true).unwrap();
    assert!(outcomes[0].is_done, "{outcomes:?}");
    let items = bench.all(&alice());
    assert_eq!(items.len(), 1);
    assert_eq!(
        (&*items[0].memory, &items[0].metadata["tag"]),
        ("User lives in Porto", &json!("x"))
    );
    assert_eq!(items[0].sources, outcomes[0].entry.work.turns);
    let facts = bench.facts();
    assert!(
        facts
            .pending(&alice(), &facts.moment(None).unwrap())
            .unwrap()
            .is_empty()
    );
    assert!(facts.retry(&alice(), later, false).unwrap().is_empty());
}

#[test]
fn tries_are_counted_and_patterns_take_over() {
    let bench = waiting();
    let mut now = bench.now();
    for tries in 2..=PENDING_TRIES_MAX {
        now = Micros(now.0 + 7 * 3_600_000_000);
        let model = down();
        let facts = bench.facts_with(&BuiltinEmbedder, Some(&model));
        let outcomes = facts.retry(&alice(), now, true).unwrap();
        assert!(!outcomes[0].is_done, "{tries}: {outcomes:?}");
        let left = facts
            .pending(&alice(), &facts.moment(None).unwrap())
            .unwrap();
        assert_eq!(left.len(), 1);
        assert_eq!(
            (left[0].work.tries, left[0].id),
            (tries, outcomes[0].entry.id)
        );
    }
    now = Micros(now.0 + 7 * 3_600_000_000);
    let model = down();
    let facts = bench.facts_with(&BuiltinEmbedder, Some(&model));
    facts.retry(&alice(), now, true).unwrap();
    let texts = bench.texts(&alice());
    assert!(texts.iter().any(|text| text.contains("Porto")), "{texts:?}");
}

#[test]
fn a_missing_vector_is_made_later() {
    let bench = Bench::with(&NewBrain {
        space: TOPICS,
        ..NewBrain::default()
    });
    let embedder = FailingEmbedder("nuts");
    let request = bench.request("I'm allergic to nuts.", &alice());
    let (answer, _) = bench.facts_with(&embedder, None).add(&request).unwrap();
    let id = answer.pending[0].facts[0];
    let failed = bench
        .facts_with(&embedder, None)
        .retry(&alice(), bench.now(), false)
        .unwrap();
    assert!(!failed[0].is_done);
    let done = bench.facts().retry(&alice(), bench.now(), false).unwrap();
    assert!(done[0].is_done, "{done:?}");
    let view = bench.brain.view();
    let with_vector = (0..view.nodes()).filter(|id| {
        let node = view.node(amem_format::NodeId(*id)).unwrap();
        let is_ours = node
            .attributes_json()
            .unwrap()
            .unwrap_or_default()
            .contains(&id_text(id_of(&answer)));
        is_ours && node.vector().unwrap().is_some()
    });
    assert_eq!(with_vector.count(), 1, "{id}");
}

fn id_of(answer: &amem_memory::add::AddAnswer) -> uuid::Uuid {
    answer.results[0].id
}

fn id_text(id: uuid::Uuid) -> String {
    format!("\"id\":\"{id}\"")
}

/// What a look at the brain finds equals the list of its open work.
fn check_looked(bench: &Bench, index: &mut PendingIndex, expected: usize) {
    let facts = bench.facts();
    let everyone = FactScope::default();
    let moment = facts.moment(None).unwrap();
    let listed = facts.pending(&everyone, &moment).unwrap();
    assert_eq!(listed.len(), expected);
    let found = index.look(moment.view()).unwrap();
    assert_eq!(found.count, listed.len() as u64);
    assert_eq!(found.oldest, listed.first().map(|entry| entry.since));
    let next = listed.iter().filter_map(|entry| entry.work.next_try).min();
    assert_eq!(found.next_try, next);
    assert_eq!(PendingIndex::default().look(moment.view()).unwrap(), found);
}

#[test]
fn the_index_of_pending_work_equals_the_list_after_every_change() {
    let bench = waiting();
    let mut index = PendingIndex::default();
    check_looked(&bench, &mut index, 1);
    let model = down();
    let failing = bench.facts_with(&BuiltinEmbedder, Some(&model));
    failing
        .add(&bench.request("I moved to Rome", &bob()))
        .unwrap();
    check_looked(&bench, &mut index, 2);
    let later = Micros(bench.now().0 + 3_600_000_000);
    let failed = failing.retry(&alice(), later, true).unwrap();
    assert!(!failed[0].is_done);
    check_looked(&bench, &mut index, 2);
    bench.checkpoint();
    check_looked(&bench, &mut index, 2);
    for at in 0..1_100 {
        bench.keep(&format!("note {at}"), &alice());
    }
    let model = ScriptedModel::saying(&[REPLY]);
    let facts = bench.facts_with(&BuiltinEmbedder, Some(&model));
    facts.retry(&alice(), later, false).unwrap();
    check_looked(&bench, &mut index, 1);
    let reset = bench.facts().events_of_scope(&bob()).unwrap();
    bench.erase(reset);
    check_looked(&bench, &mut index, 0);
}

#[test]
fn work_whose_try_cannot_be_made_waits_and_holds_up_no_other() {
    let bench = Bench::new();
    let model = down();
    let failing = bench.facts_with(&BuiltinEmbedder, Some(&model));
    failing
        .add(&bench.request("I live in Porto", &alice()))
        .unwrap();
    failing
        .add(&bench.request("I moved to Rome", &bob()))
        .unwrap();
    // The filter of the first is not understood, as if a newer program had written it.
    let facts = bench.facts();
    let mut entry = facts
        .pending(&alice(), &facts.moment(None).unwrap())
        .unwrap()
        .remove(0);
    entry.options.filter = json!({"field": "tag", "operator": "none such", "value": 1});
    let record = json!({"id": entry.id, "state": "open"});
    let attributes = json!({"amem.user": "alice", "amem.pending": record});
    let mut event = NewEvent::new(EventType::FACT, json!(entry).to_string());
    event.attributes = Some(attributes.as_object().unwrap().clone());
    let ingest = Ingest {
        events: vec![event],
        ..Ingest::default()
    };
    bench.brain.commit(Mutation::Ingest(ingest)).unwrap();
    let now = Micros(bench.now().0 + 120_000_000);
    let outcomes = facts.retry(&FactScope::default(), now, true).unwrap();
    assert_eq!(outcomes.len(), 2, "{outcomes:?}");
    assert!(outcomes[0].failure.is_some(), "{outcomes:?}");
    assert!(!outcomes[0].is_done && outcomes[1].is_done, "{outcomes:?}");
    let left = bench.facts();
    let left = left
        .pending(&FactScope::default(), &left.moment(None).unwrap())
        .unwrap();
    assert_eq!((left.len(), left[0].work.tries), (1, 2), "{left:?}");
    assert!(left[0].work.next_try > Some(now), "{left:?}");
}
