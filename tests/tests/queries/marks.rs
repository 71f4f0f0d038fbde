//! Marks of answers: contested and superseded events.

use std::collections::BTreeSet;

use amem_format::{EdgeType, EventType, NodeId};
use amem_query::graph::BeliefMarks;
use amem_query::planner::Sight;
use amem_query::{AuthorNames, Order, Pattern};
use amem_query::{Scope, Selection};
use amem_tests::model::{Act, NewEvent, Requests, ViewState, World, author_of, edges, heads};

use crate::in_worlds;

/// True if an event, or one that it replaces, has several heads.
fn is_contested(known: &ViewState, id: u64, scope: &Scope, all: bool) -> bool {
    let (mut seen, mut todo) = (BTreeSet::from([id]), vec![id]);
    while let Some(at) = todo.pop() {
        if heads(known, at, scope, all).len() > 1 {
            return true;
        }
        // Through forgotten events as well.
        for (other, edge_type) in edges(known, at, true, scope, true) {
            if edge_type == EdgeType::SUPERSEDES.0 && seen.insert(other) {
                todo.push(other);
            }
        }
    }
    false
}

#[test]
fn contested_and_superseded_events_are_those_of_a_full_walk() {
    let (mut contested, mut superseded) = (0, 0);
    let counts = std::cell::RefCell::new((&mut contested, &mut superseded));
    in_worlds(40, |world, view, known| {
        let scope = match world.random.below(3) {
            0 => Requests::of(world).scope(),
            _ => Scope::default(),
        };
        let all = world.random.below(3) == 0;
        let sight = Sight::new(&scope, all).unwrap();
        let mut marks = BeliefMarks::new(view, &sight);
        // In any order: what is known of one event must not change what is found of another.
        for _ in 0..2 * view.nodes() {
            let id = world.random.below(view.nodes());
            if sight.open(view, NodeId(id)).is_err() {
                continue;
            }
            let found = marks.of(NodeId(id)).unwrap();
            let newest = heads(known, id, &scope, all)[0];
            assert_eq!(found.is_superseded, newest != NodeId(id), "event {id}");
            let expected = is_contested(known, id, &scope, all);
            assert_eq!(found.is_contested, expected, "event {id}");
            let mut counts = counts.borrow_mut();
            *counts.0 += u32::from(found.is_contested);
            *counts.1 += u32::from(found.is_superseded);
        }
    });
    assert!(
        contested > 50 && superseded > 50,
        "{contested} {superseded}"
    );
}

#[test]
fn a_rare_author_among_thousands_is_read_from_its_own_list() {
    let event = || NewEvent {
        event_type: EventType::FACT,
        session: 0,
        event_time: None,
        confidence: 1.0,
        lambda: 0.0,
        text: "stone".into(),
        attributes: None,
        vector: None,
    };
    let mut world = World::new(3).unwrap();
    for part in 0..4 {
        world
            .commit((0..500).map(|_| Act::Add(event())).collect())
            .unwrap();
        if part == 2 {
            world.checkpoint().unwrap();
        }
    }
    let view = world.view();
    let ask = |by: &[&str], agents: &[&str]| {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let authors = AuthorNames {
            by: names(by),
            agents: names(agents),
        };
        let request = Pattern {
            selection: Selection {
                authors,
                ..Selection::default()
            },
            order: Order::Oldest(amem_query::Axis::Recorded),
            limit: 10_000,
            cursor: None,
        };
        request.run(&view).unwrap().ids
    };
    let expected = |is_it: &dyn Fn((&str, &str)) -> bool| -> Vec<NodeId> {
        let ids = (0..2_000).filter(|&id| is_it(author_of(id)));
        ids.map(NodeId).collect()
    };
    assert_eq!(ask(&["token:t"], &[]), expected(&|of| of.0 == "token:t"));
    assert_eq!(
        ask(&["uid:1"], &["b"]),
        expected(&|of| of == ("uid:1", "b"))
    );
    assert_eq!(ask(&[], &["a"]), expected(&|of| of.1 == "a"));
    assert_eq!(ask(&["uid:9"], &[]), []);
    let listed = view.of_author(view.find_actor("token:t", "").unwrap().unwrap());
    assert_eq!(
        listed.unwrap().iter().collect::<Vec<_>>(),
        ask(&["token:t"], &[])
    );
}
