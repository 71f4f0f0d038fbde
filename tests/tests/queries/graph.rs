//! Traverse, path, why, impact, resolve.

use amem_format::view::Direction;
use amem_format::{EdgeType, Error, NodeId};
use amem_query::graph::Tree;
use amem_query::{Follow, Impact, Resolve, ShortestPath, Traverse, Why};
use amem_tests::model::{Act, NewEvent, Requests, World, resolve, route, tree};

use crate::in_worlds;

/// Rows of the model's table.
#[expect(clippy::type_complexity, reason = "a row of an expected table")]
fn rows(tree: &Tree) -> Vec<(NodeId, u32, Option<(NodeId, u8, bool)>, bool)> {
    let row = |step: &amem_query::graph::TreeStep| {
        let via = step.via.map(|via| {
            let is_outgoing = via.direction == Direction::Outgoing;
            (
                tree.steps[via.parent as usize].id,
                via.edge_type.0,
                is_outgoing,
            )
        });
        (step.id, step.depth, via, step.is_stub)
    };
    tree.steps.iter().map(row).collect()
}

fn is_hidden(error: &Error) -> bool {
    matches!(error, Error::Forgotten { .. } | Error::Invalid { .. })
}

#[test]
fn a_traversal_is_the_breadth_first_one() {
    in_worlds(60, |world, view, known| {
        for start in 0..view.nodes() {
            let (follow, types) = Requests::of(world).ways();
            let request = Traverse {
                start: NodeId(start),
                follow,
                types,
                depth: world.random.below(5) as u32,
                limit: 10_000,
                scope: Requests::of(world).scope(),
                include_forgotten: world.random.below(3) == 0,
            };
            let found = match request.run(view) {
                Ok(found) => found,
                Err(error) if is_hidden(&error) => continue,
                Err(error) => panic!("{error}"),
            };
            let Traverse {
                types,
                depth,
                scope,
                ..
            } = &request;
            let all = request.include_forgotten;
            let expected = tree(known, start, follow, types, *depth, scope, all);
            assert_eq!(rows(&found), expected, "{request:?}");
            assert!(!found.is_cut);
            let shown = expected.iter().filter(|row| !row.3).count();
            // A limit cuts the same list.
            let cut = Traverse {
                limit: 1 + world.random.below(6) as usize,
                ..request.clone()
            };
            let found = cut.run(view).unwrap();
            let of_all: Vec<_> = rows(&found).into_iter().filter(|row| !row.3).collect();
            let first = expected.into_iter().filter(|row| !row.3).take(cut.limit);
            assert_eq!(of_all, first.collect::<Vec<_>>(), "{cut:?}");
            assert_eq!(found.is_cut, shown > cut.limit, "{cut:?}");
        }
    });
}

#[test]
fn why_and_impact_are_traversals_of_reasons() {
    in_worlds(30, |world, view, known| {
        let scope = Requests::of(world).scope();
        for event in (0..view.nodes()).map(NodeId) {
            let why = Why {
                event,
                scope: scope.clone(),
                ..Why::default()
            };
            let include_parts = world.random.below(2) == 0;
            let impact = Impact {
                event,
                include_parts,
                scope: scope.clone(),
                ..Impact::default()
            };
            let mut types = vec![EdgeType::CAUSED_BY, EdgeType::SUPPORTS];
            if let Ok(found) = why.run(view) {
                let follow = Follow::Outgoing;
                let expected = tree(known, event.0, follow, &types, 10, &scope, false);
                assert_eq!(rows(&found), expected, "{why:?}");
            }
            if let Ok(found) = impact.run(view) {
                if include_parts {
                    types.push(EdgeType::PART_OF);
                }
                let follow = Follow::Incoming;
                let expected = tree(known, event.0, follow, &types, 10, &scope, false);
                assert_eq!(rows(&found), expected, "{impact:?}");
            }
        }
    });
}

#[test]
fn a_path_is_the_shortest_and_of_those_the_first() {
    in_worlds(60, |world, view, known| {
        for _ in 0..12.min(view.nodes()) {
            let (follow, types) = Requests::of(world).ways();
            let mut any = || NodeId(world.random.below(view.nodes()));
            let (from, to) = (any(), any());
            let request = ShortestPath {
                from,
                to,
                follow,
                types,
                depth: world.random.below(8) as u32,
                scope: Requests::of(world).scope(),
                include_forgotten: world.random.below(3) == 0,
            };
            let found = match request.run(view) {
                Ok(found) => found,
                Err(error) if is_hidden(&error) => continue,
                Err(error) => panic!("{error}"),
            };
            let ShortestPath {
                types,
                depth,
                scope,
                ..
            } = &request;
            let expected = route(known, from.0, to.0, follow, types, *depth, scope);
            let ids: Vec<NodeId> = found.steps.iter().map(|step| step.id).collect();
            assert_eq!(ids, expected, "{request:?}");
            for (i, step) in found.steps.iter().enumerate() {
                assert_eq!(step.depth as usize, i);
                assert_eq!(step.via.map(|via| via.parent as usize), i.checked_sub(1));
            }
        }
    });
}

#[test]
fn resolve_finds_every_head_through_forgotten_events_and_cycles() {
    in_worlds(80, |world, view, known| {
        for event in (0..view.nodes()).map(NodeId) {
            let request = Resolve {
                event,
                scope: Requests::of(world).scope(),
                include_forgotten: world.random.below(3) == 0,
                ..Resolve::default()
            };
            let all = request.include_forgotten;
            let found = match request.run(view) {
                Ok(found) => found,
                Err(Error::Forgotten { .. }) => {
                    assert_eq!(resolve(known, event.0, &request.scope, all), None);
                    continue;
                }
                Err(Error::Invalid { .. }) => {
                    assert_ne!(request.scope, Default::default());
                    continue;
                }
                Err(error) => panic!("{error}"),
            };
            let expected = resolve(known, event.0, &request.scope, all).unwrap();
            assert_eq!(found.heads, expected.heads, "{request:?}");
            assert_eq!(found.head, expected.heads[0]);
            assert_eq!(found.is_contested(), expected.heads.len() > 1);
            let chain: Vec<_> = found.chain.iter().map(|l| (l.id, l.is_stub)).collect();
            assert_eq!(chain, expected.chain, "{request:?}");
            assert_eq!(found.chain_len, chain.len());
            assert_eq!(found.is_cyclic, expected.is_cyclic, "{request:?}");
        }
    });
}

#[test]
fn a_chain_of_ten_thousand_corrections_is_followed_to_its_end() {
    const LEN: u64 = 10_000;
    let event = || NewEvent {
        event_type: amem_format::EventType::CORRECTION,
        session: 0,
        event_time: None,
        confidence: 1.0,
        lambda: 0.0,
        text: "belief".into(),
        attributes: None,
        vector: None,
    };
    let mut world = World::new(1).unwrap();
    let mut acts = vec![Act::Add(event())];
    for id in 1..=LEN {
        acts.push(Act::Add(event()));
        acts.push(Act::Link(id, id - 1, EdgeType::SUPERSEDES.0, 1.0));
    }
    world.commit(acts).unwrap();
    for is_folded in [false, true] {
        if is_folded {
            world.checkpoint().unwrap();
        }
        let view = world.view();
        let found = Resolve::default().run(&view).unwrap();
        assert_eq!(found.head, NodeId(LEN));
        assert_eq!(found.chain_len as u64, LEN + 1);
        assert_eq!(found.chain.len(), 10_000, "the end of it is kept");
        assert!(found.chain.iter().map(|link| link.id.0).eq(1..=LEN));
        assert!(!found.is_contested() && !found.is_cyclic);
        let half = Resolve {
            event: NodeId(LEN / 2),
            ..Resolve::default()
        };
        assert_eq!(half.run(&view).unwrap().chain_len as u64, LEN / 2 + 1);
    }
    // The last replaced by the first: a circle of all.
    world
        .commit(vec![Act::Link(0, LEN, EdgeType::SUPERSEDES.0, 1.0)])
        .unwrap();
    let found = Resolve::default().run(&world.view()).unwrap();
    assert!(found.is_cyclic);
    assert_eq!((found.head, found.head_count), (NodeId(LEN), 1));
}
