//! Turns that come by adds are a conversation: each follows the one before, in the session that they name.

use amem_facts::{FactBrain, Facts, RandomIds};
use amem_format::NodeId;
use amem_format::types::{EdgeType, SessionId};
use amem_format::view::{Direction, View};
use amem_memory::add::AddRequest;
use amem_memory::model::FormTable;
use amem_memory::store::BuiltinEmbedder;
use amem_memory::{FactScope, Message};

use crate::support::{Bench, alice, bob};

fn run(user: Option<&str>, run: &str) -> FactScope {
    FactScope {
        user: user.map(str::to_owned),
        run: Some(run.into()),
        ..FactScope::default()
    }
}

/// The turns of a brain, in order.
fn turns(view: &View) -> Vec<NodeId> {
    let is_turn = |id: &NodeId| {
        let attributes = view.node(*id).unwrap().attributes_json().unwrap();
        attributes.is_some_and(|json| json.contains("amem.turn"))
    };
    (0..view.nodes()).map(NodeId).filter(is_turn).collect()
}

/// What an event follows.
fn followed(view: &View, id: NodeId) -> Vec<NodeId> {
    let edges = view.edges_of(id, Direction::Outgoing).unwrap();
    let next = edges
        .iter()
        .filter(|edge| edge.edge_type == EdgeType::TEMPORAL_NEXT);
    next.map(|edge| edge.other).collect()
}

/// True if each of these events follows the one before, and the first none.
#[track_caller]
fn check_chain(view: &View, ids: &[NodeId]) {
    for (at, id) in ids.iter().enumerate() {
        let before: Vec<NodeId> = at.checked_sub(1).map(|at| ids[at]).into_iter().collect();
        assert_eq!(followed(view, *id), before, "turn {at} of {ids:?}");
    }
}

fn session(view: &View, id: NodeId) -> SessionId {
    view.node(id).unwrap().session()
}

fn exchange(bench: &Bench, scope: &FactScope, texts: &[&str]) -> AddRequest {
    let mut request = bench.request(texts[0], scope);
    request.messages = texts.iter().map(|text| Message::user(*text)).collect();
    request
}

#[test]
fn turns_of_one_call_follow_each_other() {
    let bench = Bench::new();
    let request = exchange(
        &bench,
        &alice(),
        &["I live in Porto", "I like tea", "Bye now"],
    );
    bench.run(&request);
    let view = bench.brain.view();
    let ids = turns(&view);
    assert_eq!(ids.len(), 3);
    check_chain(&view, &ids);
    assert!(ids.iter().all(|id| session(&view, *id) == SessionId(0)));
}

#[test]
fn turns_of_a_run_are_one_session_over_calls_checkpoints_and_restarts() {
    let mut bench = Bench::new();
    let scope = run(None, "standup");
    for at in 0..6 {
        let (first, second) = (format!("I visited town {at}"), format!("I like game {at}"));
        let request = exchange(&bench, &scope, &[&first, &second]);
        bench.run(&request);
        match at {
            1 => bench.checkpoint(),
            3 => bench = bench.reopened(),
            _ => {}
        }
    }
    let view = bench.brain.view();
    let ids = turns(&view);
    assert_eq!(ids.len(), 12);
    check_chain(&view, &ids);
    let known = view.session_by_key("standup").unwrap().unwrap();
    assert!(ids.iter().all(|id| session(&view, *id) == known));
}

#[test]
fn memories_between_the_turns_of_a_session_are_no_links_of_its_chain() {
    let bench = Bench::new();
    let named = bench.session();
    for text in ["I live in Porto", "I like tea", "My dog is called Rex"] {
        let mut request = exchange(&bench, &alice(), &[text]);
        request.session = Some(named);
        assert!(!bench.run(&request).results.is_empty());
        bench.checkpoint();
    }
    let view = bench.brain.view();
    let ids = turns(&view);
    check_chain(&view, &ids);
    assert!(ids.iter().all(|id| session(&view, *id) == SessionId(named)));
}

#[test]
fn runs_of_one_name_of_two_users_are_two_sessions() {
    let bench = Bench::new();
    for user in ["alice", "bob", "alice"] {
        bench.add("I live in Porto", &run(Some(user), "chat"));
    }
    let view = bench.brain.view();
    let ids = turns(&view);
    assert_eq!(ids.len(), 3);
    check_chain(&view, &[ids[0], ids[2]]);
    check_chain(&view, &[ids[1]]);
    assert_ne!(session(&view, ids[0]), session(&view, ids[1]));
}

#[test]
fn an_add_that_is_repeated_adds_no_turn_and_no_edge() {
    let bench = Bench::new();
    let mut request = exchange(&bench, &run(None, "a"), &["I live in Porto", "I like tea"]);
    request.timestamp = Some(request.now);
    bench.run(&request);
    let before = bench.brain.view();
    bench.run(&request);
    let view = bench.brain.view();
    assert_eq!(turns(&view), turns(&before));
    check_chain(&view, &turns(&view));
    assert_eq!(
        view.sessions().unwrap().len(),
        before.sessions().unwrap().len()
    );
}

#[test]
fn adds_to_one_session_at_once_keep_one_chain() {
    const THREADS: usize = 4;
    const CALLS: usize = 8;
    let bench = Bench::new();
    let named = bench.session();
    let now = bench.now();
    let (brain, state) = (&bench.brain, &bench.state);
    std::thread::scope(|threads| {
        for thread in 0..THREADS {
            threads.spawn(move || {
                let forms = FormTable::default();
                for call in 0..CALLS {
                    let scope = if thread % 2 == 0 { alice() } else { bob() };
                    let text = format!("Note {call} of thread {thread} is here");
                    let mut request = AddRequest::new(vec![Message::user(text)], scope, now);
                    (request.infer, request.session) = (false, Some(named));
                    let facts = Facts {
                        brain,
                        state,
                        embedder: &BuiltinEmbedder,
                        ids: &RandomIds,
                        model: None,
                        forms: &forms,
                    };
                    facts.add(&request).unwrap();
                }
            });
        }
    });
    let view = bench.brain.view();
    let ids = turns(&view);
    assert_eq!(ids.len(), THREADS * CALLS);
    check_chain(&view, &ids);
}
