//! Pending work: tried again over restarts, with what the add asked for; done or given up to patterns in the end.

use amem_facts::FactBrain;
use amem_format::types::Micros;
use amem_memory::limits::PENDING_TRIES_MAX;
use amem_memory::model::ModelFailure;
use amem_memory::store::BuiltinEmbedder;
use amem_store::NewBrain;
use serde_json::json;

use crate::ports::{FailingEmbedder, ScriptedModel, TOPICS};
use crate::support::{Bench, alice};

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
