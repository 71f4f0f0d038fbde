//! Listings page by page, and what commits between the pages do to them.

use amem_format::view::AsOf;
use amem_format::{Error, NodeId};
use amem_query::graph::Conflict;
use amem_query::{ListConflicts, Order, Pattern};
use amem_tests::model::{Act, Requests, World, list, place};

use crate::{FailureContext, in_worlds};

#[test]
fn pages_join_to_the_whole_list() {
    in_worlds(60, |world, view, known| {
        let mut request = Pattern {
            selection: Requests::of(world).selection(),
            order: Requests::of(world).order(),
            limit: 1 + world.random.below(7) as usize,
            cursor: None,
        };
        let mut found = Vec::new();
        loop {
            let page = request.run(view).unwrap();
            assert!(page.ids.len() <= request.limit);
            found.extend(page.ids);
            request.cursor = page.next;
            if request.cursor.is_none() {
                break;
            }
        }
        assert_eq!(
            found,
            list(known, &request.selection, request.order),
            "{request:?}"
        );
    });
}

#[test]
fn a_listing_resumes_after_its_last_row_across_commits() {
    for seed in 0..300 {
        let mut at = FailureContext { seed, step: 0 };
        let mut world = World::new(seed).unwrap();
        for _ in 0..40 {
            world.step().unwrap();
        }
        let mut request = Pattern {
            selection: Requests::of(&mut world).selection(),
            order: Requests::of(&mut world).order(),
            limit: 1 + world.random.below(6) as usize,
            cursor: None,
        };
        let mut view = world.view();
        let nodes = view.nodes();
        let mut known = world.model.known(&view, None);
        while at.step < 30 {
            at.step += 1;
            let page = request.run(&view).unwrap();
            let Some(token) = page.next else { break };
            let last = page.ids[page.ids.len() - 1].0 as usize;
            let last = place(
                &known,
                &known.state.events[last],
                &request.selection,
                request.order,
            );
            for _ in 0..world.random.below(4) {
                world.step().unwrap();
            }
            request.cursor = Some(token);
            view = world.view();
            known = world.model.known(&view, None);
            let mut expected = list(&known, &request.selection, request.order);
            let here = |id: &NodeId| {
                let event = &known.state.events[id.0 as usize];
                place(&known, event, &request.selection, request.order)
            };
            expected.retain(|id| id.0 < nodes && here(id) > last);
            expected.truncate(request.limit);
            assert_eq!(request.run(&view).unwrap().ids, expected, "{request:?}");
        }
    }
}

#[test]
fn a_page_token_is_bound_to_one_query_one_brain_and_one_moment() {
    let mut world = World::new(5).unwrap();
    for _ in 0..60 {
        world.step().unwrap();
    }
    let view = world.view();
    let request = Pattern {
        limit: 1,
        ..Pattern::default()
    };
    let token = request.run(&view).unwrap().next;
    assert!(token.is_some());
    let goes_on = |request: Pattern, view| {
        let cursor = token.clone();
        Pattern { cursor, ..request }.run(view)
    };
    goes_on(request.clone(), &view).unwrap();
    let strongest = Pattern {
        order: Order::Strongest,
        ..request.clone()
    };
    let error = goes_on(strongest, &view).unwrap_err().to_string();
    assert!(error.contains("of another query"), "{error}");

    let earlier = AsOf::Lsn(amem_format::Lsn(view.lsn().0 - 1));
    let then = view.as_of(earlier).unwrap();
    let error = goes_on(request.clone(), &then).unwrap_err().to_string();
    assert!(error.contains("start the listing again"), "{error}");

    // A listing as of the newest commit goes on when that is no longer the newest.
    world.commit(vec![Act::Touch(0, 1)]).unwrap();
    let now = AsOf::Lsn(view.lsn());
    goes_on(request.clone(), &world.view().as_of(now).unwrap()).unwrap();

    // A reader that lags behind the one that gave the token says so.
    let newer = request.run(&world.view()).unwrap().next;
    let lagging = Pattern {
        cursor: newer,
        ..request
    };
    assert!(matches!(lagging.run(&view), Err(Error::UnknownLsn { .. })));
}

#[test]
fn conflicts_join_from_pages_and_equal_the_model() {
    in_worlds(80, |world, view, known| {
        let mut request = ListConflicts {
            limit: 1 + world.random.below(4) as usize,
            cursor: None,
            scope: Requests::of(world).scope(),
            include_forgotten: world.random.below(3) == 0,
        };
        let (mut pairs, mut contested) = (Vec::new(), Vec::new());
        loop {
            let page = request.run(view).unwrap();
            for conflict in page.conflicts {
                match conflict {
                    Conflict::Contradiction { source, target } => {
                        assert!(contested.is_empty(), "contradictions come first");
                        pairs.push((source, target));
                    }
                    Conflict::Contested { belief, heads } => contested.push((belief, heads)),
                }
            }
            request.cursor = page.next;
            if request.cursor.is_none() {
                break;
            }
        }
        let all = request.include_forgotten;
        let expected = amem_tests::model::conflicts(known, &request.scope, all);
        assert_eq!((pairs, contested), expected, "{request:?}");
    });
}
