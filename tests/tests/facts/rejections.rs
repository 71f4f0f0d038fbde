//! Facts that are no memories: a review makes them memories, or leaves them out.

use amem_facts::{FactBrain, FactVerdict, review_count};
use amem_memory::add::AddAnswer;
use uuid::Uuid;

use crate::ports::ScriptedModel;
use crate::support::{Bench, alice, bob};

/// An add whose model invents a fact.
fn invented(bench: &Bench) -> (AddAnswer, Uuid) {
    let model = ScriptedModel::saying(&["[\"User keeps bees in Murmansk\"]"]);
    let facts = bench.facts_with(&amem_memory::store::BuiltinEmbedder, Some(&model));
    let request = bench.request("I live in Porto", &alice());
    let (answer, _) = facts.add(&request).unwrap();
    let id = answer.rejected[0].id.unwrap();
    (answer, id)
}

fn waiting(bench: &Bench) -> Vec<(String, Option<String>)> {
    let facts = bench.facts();
    let moment = facts.moment(None).unwrap();
    let (open, next) = facts
        .review(&alice(), (10, None), bench.now(), &moment)
        .unwrap();
    assert_eq!(next, None);
    let counted = review_count(moment.view()).unwrap();
    assert_eq!(counted, open.len() as u64);
    open.into_iter()
        .map(|one| (one.item.memory, one.rejected))
        .collect()
}

#[test]
fn a_rejected_fact_waits_and_is_no_memory() {
    let bench = Bench::new();
    let (answer, _) = invented(&bench);
    assert_eq!(answer.rejected.len(), 1, "{answer:?}");
    assert_eq!(bench.texts(&alice()), ["User lives in Porto"]);
    let open = waiting(&bench);
    assert_eq!(open.len(), 1, "{open:?}");
    assert_eq!(open[0].0, "User keeps bees in Murmansk");
    assert!(open[0].1.is_some());
    assert!(
        bench
            .texts_found("bees in Murmansk", &alice())
            .iter()
            .all(|text| !text.contains("bees"))
    );
}

#[test]
fn verdicts_store_it_correct_it_or_leave_it_out() {
    for (verdict, expected) in [
        (FactVerdict::Accept, Some("User keeps bees in Murmansk")),
        (FactVerdict::Keep, Some("User keeps bees in Murmansk")),
        (
            FactVerdict::Correct("User keeps bees in Porto".into()),
            Some("User keeps bees in Porto"),
        ),
        (FactVerdict::Reject, None),
    ] {
        let bench = Bench::new();
        let (_, id) = invented(&bench);
        let facts = bench.facts();
        let decide = |verdict: &FactVerdict| {
            facts.decide((id, &alice()), verdict, Some("seen"), bench.now())
        };
        decide(&verdict).unwrap();
        assert_eq!(waiting(&bench), [], "{verdict:?}");
        let texts = bench.texts(&alice());
        let kept = texts.iter().find(|text| text.contains("bees"));
        assert_eq!(kept.map(String::as_str), expected, "{verdict:?}");
        if let Some(text) = expected {
            assert_eq!(bench.get(id).unwrap().memory, text);
            assert!(!bench.get(id).unwrap().sources.is_empty());
        } else {
            assert!(decide(&FactVerdict::Accept).is_err());
            decide(&FactVerdict::Undo).unwrap();
            assert_eq!(waiting(&bench).len(), 1);
            assert!(decide(&FactVerdict::Undo).is_err());
        }
    }
}

#[test]
fn it_is_of_its_scope_and_goes_with_its_turn() {
    let bench = Bench::new();
    let (answer, id) = invented(&bench);
    let facts = bench.facts();
    assert!(
        facts
            .decide((id, &bob()), &FactVerdict::Accept, None, bench.now())
            .is_err()
    );
    let (events, _) = facts.events_of_source(answer.turns[0], &alice()).unwrap();
    bench.erase(events);
    facts.erased();
    assert_eq!(waiting(&bench), []);
    let view = bench.brain.view();
    for id in 0..view.nodes() {
        let text = view
            .node(amem_format::NodeId(id))
            .unwrap()
            .text()
            .unwrap()
            .into_owned();
        assert!(!text.contains("bees"), "{id}: {text}");
    }
}

#[test]
fn the_stages_of_an_add_are_told() {
    let bench = Bench::new();
    let (answer, _) = invented(&bench);
    let told: Vec<String> = answer
        .stages
        .iter()
        .map(|stage| {
            let counts = stage.counts.iter().filter(|(_, count)| *count > 0);
            let counts = counts.map(|(what, count)| format!("{what} {count}"));
            format!("{}: {}", stage.stage, counts.collect::<Vec<_>>().join(", "))
        })
        .collect();
    assert_eq!(
        told,
        [
            "observe: turns 1, new_turns 1",
            "extract: facts 1, rejected 1",
            "store: added 1",
            "relate: sources 1, entities 2, relations 1",
        ]
    );
}
