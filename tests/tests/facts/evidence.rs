//! What memories rest on, as `why` and `impact` answer it: the turns that they are from.

use amem_facts::FactBrain;
use amem_format::types::EdgeType;
use amem_format::view::{Direction, View};
use amem_format::{EventType, NodeId};
use amem_memory::{FactKind, FactScope, Message};
use amem_query::{Impact, Why};
use amem_store::mutation::{Ingest, Mutation, NewEdge, NewEvent};

use crate::support::{Bench, alice};

const KINDS: [FactKind; 8] = [
    FactKind::Fact,
    FactKind::Preference,
    FactKind::Decision,
    FactKind::Inference,
    FactKind::Skill,
    FactKind::Event,
    FactKind::Plan,
    FactKind::Correction,
];

fn why(view: &View, event: NodeId) -> Vec<NodeId> {
    let why = Why {
        event,
        ..Why::default()
    };
    let tree = why.run(view).unwrap();
    tree.steps.iter().skip(1).map(|step| step.id).collect()
}

fn impact(view: &View, event: NodeId) -> Vec<NodeId> {
    let impact = Impact {
        event,
        ..Impact::default()
    };
    let tree = impact.run(view).unwrap();
    tree.steps.iter().skip(1).map(|step| step.id).collect()
}

/// The event whose text is that of a turn, told from a memory with the same text by its attribute.
fn turn_of(view: &View, text: &str) -> NodeId {
    let is_turn = |id: &NodeId| {
        let node = view.node(*id).unwrap();
        let attributes = node.attributes_json().unwrap().unwrap_or_default();
        node.text().unwrap() == text && attributes.contains("amem.turn")
    };
    (0..view.nodes()).map(NodeId).find(is_turn).unwrap()
}

/// Memories of each kind, with their versions and turns.
fn formed(bench: &Bench) -> Vec<(NodeId, NodeId)> {
    let mut pairs = Vec::new();
    for (at, kind) in KINDS.into_iter().enumerate() {
        let text = format!("Statement number {at} is of the kind {kind:?}");
        let mut request = bench.request(&text, &alice());
        (request.infer, request.kind) = (false, Some(kind));
        let id = bench.run(&request).results[0].id;
        let version = bench.facts().version_of(id).unwrap().unwrap();
        pairs.push((version, turn_of(&bench.brain.view(), &text)));
    }
    for text in [
        "I live in Porto",
        "I prefer tea to coffee",
        "We decided to use Postgres because it has transactions",
        "I moved to Rome",
    ] {
        let answer = bench.add(text, &alice());
        assert!(!answer.results.is_empty(), "{text}");
        for result in &answer.results {
            let version = bench.facts().version_of(result.id).unwrap().unwrap();
            pairs.push((version, turn_of(&bench.brain.view(), text)));
        }
    }
    pairs
}

#[track_caller]
fn check(view: &View, pairs: &[(NodeId, NodeId)]) {
    for (version, turn) in pairs {
        assert!(why(view, *version).contains(turn), "why of {version}");
        assert!(impact(view, *turn).contains(version), "impact of {turn}");
        assert!(why(view, *turn).is_empty(), "why of {turn}");
        assert!(
            !impact(view, *version).contains(turn),
            "impact of {version}"
        );
    }
}

#[test]
fn a_memory_of_each_kind_rests_on_the_turn_that_it_is_from() {
    let bench = Bench::new();
    let pairs = formed(&bench);
    check(&bench.brain.view(), &pairs);
    bench.checkpoint();
    check(&bench.brain.view(), &pairs);
}

/// Turns the evidence of all memories around, as earlier builds stored it.
fn reverse(bench: &Bench) -> usize {
    let view = bench.brain.view();
    let mut edges = Vec::new();
    for id in (0..view.nodes()).map(NodeId) {
        for edge in view.edges_of(id, Direction::Outgoing).unwrap().iter() {
            if edge.edge_type == EdgeType::SUPPORTS {
                edges.push((id, edge.other));
            }
        }
    }
    for (version, turn) in &edges {
        let edge_type = EdgeType::SUPPORTS;
        bench.execute(Mutation::Unlink {
            source: *version,
            target: *turn,
            edge_type,
        });
        bench.execute(Mutation::Link(NewEdge {
            source: *turn,
            target: *version,
            edge_type,
            weight: 1.0,
        }));
    }
    edges.len()
}

#[test]
fn a_brain_with_edges_from_turns_to_memories_answers_the_same() {
    let bench = Bench::new();
    let pairs = formed(&bench);
    let before = bench.brain.view();
    assert!(reverse(&bench) >= pairs.len());
    let turned = bench.brain.view();
    let same = |view: &View| {
        check(view, &pairs);
        for id in (0..before.nodes()).map(NodeId) {
            let sorted = |mut ids: Vec<NodeId>| {
                ids.sort_unstable();
                ids
            };
            let is_hidden = before.node(id).unwrap().is_forgotten();
            if !is_hidden {
                assert_eq!(sorted(why(view, id)), sorted(why(&before, id)), "{id}");
                assert_eq!(
                    sorted(impact(view, id)),
                    sorted(impact(&before, id)),
                    "{id}"
                );
            }
        }
    };
    same(&turned);
    bench.checkpoint();
    same(&bench.brain.view());
    let bench = bench.reopened();
    same(&bench.brain.view());
}

#[test]
fn what_rests_on_a_memory_is_not_its_evidence() {
    let bench = Bench::new();
    let (version, turn) = formed(&bench)[0];
    reverse(&bench);
    let decision = NewEvent::new(EventType::DECISION, "the statement is believed");
    let id = NodeId(bench.brain.view().nodes());
    bench.execute(Mutation::Ingest(Ingest {
        events: vec![decision],
        ..Ingest::default()
    }));
    bench.execute(Mutation::Link(NewEdge {
        source: id,
        target: version,
        edge_type: EdgeType::SUPPORTS,
        weight: 1.0,
    }));
    let view = bench.brain.view();
    assert_eq!(why(&view, id), [version, turn]);
    assert_eq!(why(&view, version), [turn]);
    assert_eq!(impact(&view, version), [id]);
    assert_eq!(impact(&view, turn), [version, id]);
}

#[test]
fn an_erased_turn_stays_evidence_whichever_way_its_edge_leads() {
    for is_reversed in [false, true] {
        let bench = Bench::new();
        let (version, turn) = formed(&bench)[0];
        if is_reversed {
            reverse(&bench);
        }
        bench.erase(vec![turn]);
        let view = bench.brain.view();
        assert!(impact(&view, version).is_empty(), "{is_reversed}");
    }
}

#[test]
fn each_turn_that_says_a_memory_again_is_evidence_for_it() {
    let bench = Bench::new();
    let scope = FactScope::user("alice");
    bench.add("I live in Porto", &scope);
    let mut again = bench.request("I live in Porto", &scope);
    again.messages = vec![Message::user("I live in Porto")];
    let answer = bench.run(&again);
    let view = bench.brain.view();
    let id = answer.results.first().map(|result| result.id);
    let id = id.unwrap_or_else(|| bench.all(&scope)[0].id);
    let version = bench.facts().version_of(id).unwrap().unwrap();
    assert_eq!(why(&view, version).len(), 2);
}
