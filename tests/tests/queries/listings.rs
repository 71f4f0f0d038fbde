//! Patterns and timelines.

use amem_format::{EventType, Micros, NodeId, SessionId};
use amem_query::{Axis, Order, Pattern, Selection, Timeline};
use amem_tests::model::{Act, Requests, World, list};

use crate::{FailureContext, in_worlds};

#[test]
fn a_pattern_equals_a_full_scan() {
    in_worlds(150, |world, view, known| {
        for _ in 0..4 {
            let selection = Requests::of(world).selection();
            let order = Requests::of(world).order();
            let mut expected = list(known, &selection, order);
            let limit = 1 + world.random.below(12) as usize;
            expected.truncate(limit);
            let request = Pattern {
                selection,
                order,
                limit,
                cursor: None,
            };
            let found = request.run(view).unwrap();
            assert_eq!(found.ids, expected, "{request:?}");
            assert_eq!(found.answered.lsn.0, known.now);
            assert_eq!(found.answered.moment.0, known.moment);
            assert_eq!(found.answered.instance, view.instance());
        }
    });
}

#[test]
fn a_pattern_finds_the_same_among_thousands() {
    // Enough events for indexes of several blocks, and for every way to read a list.
    for seed in 0..5 {
        let mut place = FailureContext { seed, step: 0 };
        let mut world = World::new(seed).unwrap();
        for part in 0..12 {
            let count = world.random.below(500) + 1;
            world.ingest_many(count).unwrap();
            if part == 6 {
                world.checkpoint().unwrap();
            }
            for _ in 0..10 {
                world.step().unwrap();
            }
        }
        let view = world.view();
        let known = world.model.known(&view, None);
        for step in 0..150 {
            place.step = step;
            let request = Pattern {
                selection: Requests::of(&mut world).selection(),
                order: Requests::of(&mut world).order(),
                limit: world.random.pick(&[1, 10, 100, 1_000]),
                cursor: None,
            };
            let mut expected = list(&known, &request.selection, request.order);
            expected.truncate(request.limit);
            assert_eq!(request.run(&view).unwrap().ids, expected, "{request:?}");
        }
    }
}

#[test]
fn the_strongest_of_thousands_are_those_at_any_time_whatever_came_after_the_base() {
    for seed in 0..4 {
        let mut place = FailureContext { seed, step: 0 };
        let mut world = World::new(seed).unwrap();
        for _ in 0..4 {
            let count = world.random.below(500) + 100;
            world.ingest_many(count).unwrap();
            (0..20).for_each(|_| world.step().unwrap());
        }
        world.checkpoint().unwrap();
        // On the base alone, then with a journal, decay runs, beliefs and new events in it.
        for part in 0..3 {
            let view = world.view();
            let known = world.model.known(&view, None);
            for days in [-1, 0, 1, 3, 10, 30, 100, 1_000, 30_000] {
                place.step += 1;
                let time = Micros(view.time().0 + days * Micros::DAY);
                let mut request = Pattern {
                    selection: Selection {
                        strength_at: (days >= 0).then_some(time),
                        ..Selection::default()
                    },
                    order: Order::Strongest,
                    limit: world.random.pick(&[1, 7, 50]),
                    cursor: None,
                };
                let expected = list(&known, &request.selection, request.order);
                for page in expected.chunks(request.limit).take(3) {
                    let found = request.run(&view).unwrap();
                    assert_eq!(found.ids, page, "part {part}: {request:?}");
                    request.cursor = found.next;
                }
            }
            (0..30).for_each(|_| world.step().unwrap());
            let rates = [0.3, 0.01, 0.0, 0.02, 0.5, 0.1];
            world.commit(vec![Act::Decay(rates)]).unwrap();
            world.ingest_many(70).unwrap();
        }
    }
}

#[test]
fn a_timeline_has_the_time_of_every_event() {
    in_worlds(40, |world, view, known| {
        let request = Timeline {
            selection: Requests::of(world).selection(),
            axis: world.random.pick(&[Axis::Recorded, Axis::Happened]),
            newest_first: world.random.below(2) == 0,
            limit: 1 + world.random.below(20) as usize,
            cursor: None,
        };
        let order = if request.newest_first {
            Order::Newest(request.axis)
        } else {
            Order::Oldest(request.axis)
        };
        let mut expected = list(known, &request.selection, order);
        expected.truncate(request.limit);
        let found = request.run(view).unwrap().moments;
        let ids: Vec<NodeId> = found.iter().map(|(_, id)| *id).collect();
        assert_eq!(ids, expected, "{request:?}");
        for (time, id) in found {
            let event = &known.state.events[id.0 as usize];
            let expected = match request.axis {
                Axis::Recorded => event.created_at,
                Axis::Happened => event.happened(),
            };
            assert_eq!(time.0, expected);
        }
    });
}

#[test]
fn every_list_that_a_pattern_can_be_read_from_gives_the_same() {
    // Whole lists and walks: the limit decides which it is, the answer must not.
    in_worlds(30, |world, view, known| {
        let order = Requests::of(world).order();
        let mut selection = Requests::of(world).selection();
        selection.types = vec![EventType(0)];
        selection.sessions = (0..4).map(SessionId).collect();
        let expected = list(known, &selection, order);
        for limit in [1, 2, 5, 1_000] {
            let request = Pattern {
                selection: selection.clone(),
                order,
                limit,
                cursor: None,
            };
            let found = request.run(view).unwrap().ids;
            assert_eq!(found, expected[..limit.min(expected.len())], "{request:?}");
        }
        let everything = Pattern {
            selection: Selection {
                include_forgotten: true,
                include_compressed: true,
                ..Selection::default()
            },
            order,
            limit: 10_000,
            cursor: None,
        };
        let found = everything.run(view).unwrap().ids;
        assert_eq!(found, list(known, &everything.selection, order));
        assert_eq!(found.len() as u64, view.nodes());
    });
}
