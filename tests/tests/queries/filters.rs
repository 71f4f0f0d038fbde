//! Filters on attributes, of every form: an index that proposes must lose nothing.

use amem_format::base::section::{HEADER, tag};
use amem_format::base::values::VALUES_VERSION;
use amem_format::view::{AsOf, View};
use amem_format::{Flags, NodeId};
use amem_query::filter::Filter;
use amem_query::{Pattern, Selection};
use amem_tests::model::{Act, Requests, ViewState, World, list};
use serde_json::{Value, json};

use crate::{FailureContext, in_worlds};

/// A pattern by a filter, in any order, against what looking at every event finds.
fn check(world: &mut World, view: &View, known: &ViewState, filter: Filter) {
    let mut request = Pattern {
        selection: Selection {
            filter: Some(filter),
            include_forgotten: world.random.below(2) == 0,
            ..Selection::default()
        },
        order: Requests::of(world).order(),
        limit: world.random.pick(&[1, 10, 1_000]),
        cursor: None,
    };
    let expected = list(known, &request.selection, request.order);
    for page in expected.chunks(request.limit).take(3) {
        let found = request.run(view).unwrap();
        assert_eq!(found.ids, page, "{request:?}");
        request.cursor = found.next;
    }
    if expected.is_empty() {
        assert_eq!(request.run(view).unwrap().ids, [], "{request:?}");
    }
}

#[test]
fn a_filter_on_attributes_equals_a_full_scan() {
    in_worlds(120, |world, view, known| {
        for _ in 0..8 {
            let filter = Requests::of(world).filter();
            check(world, view, known, filter);
        }
    });
}

/// A world of some thousand events, in which few have a project. The base is followed by a journal in which events
/// gain, lose and change attributes, are forgotten and erased, and new ones come.
fn crowded(seed: u64) -> World {
    let mut world = World::new(seed).unwrap();
    world.ingest_many(2_500).unwrap();
    let rare = |world: &mut World| {
        let project = format!("x{}", world.random.below(5));
        json!({"project": project, "n": world.random.below(3)})
    };
    for round in 0..3 {
        let count = world.view().nodes();
        for _ in 0..40 {
            let id = world.random.below(count);
            let attributes = match world.random.below(4) {
                0 => world.attributes(),
                _ => rare(&mut world).as_object().cloned(),
            };
            world.commit(vec![Act::Attributes(id, attributes)]).unwrap();
        }
        for _ in 0..10 {
            let id = world.random.below(count);
            world.commit(vec![Act::Erase(id)]).unwrap();
            let id = world.random.below(count);
            let belief = Act::Belief(id, 0.5, Flags::FORGOTTEN, 0.0);
            world.commit(vec![belief]).unwrap();
        }
        world.ingest_many(100).unwrap();
        if round < 2 {
            world.checkpoint().unwrap();
        }
    }
    world
}

fn rare(world: &mut World) -> Filter {
    let project = |world: &mut World| Value::from(format!("x{}", world.random.below(6)));
    let filters = [
        json!({"project": project(world)}),
        json!({"project": project(world), "n": 1.0}),
        json!({"project": {"in": [project(world), 1, project(world)]}}),
        json!({"or": [{"project": project(world)}, {"n": 2, "project": project(world)}]}),
        json!({"project": project(world), "not": {"n": 1}}),
        json!({"not": {"project": project(world)}}),
        // Of more events than a block of a list has.
        json!({"amem.user": "u1"}),
        json!({"amem.user": {"in": ["u0"]}, "tags": 2}),
    ];
    Filter::parse(&filters[world.random.below(8) as usize]).unwrap()
}

#[test]
fn a_rare_value_is_found_among_thousands_at_every_moment_of_base_and_journal() {
    for seed in 0..6 {
        let mut place = FailureContext { seed, step: 0 };
        let mut world = crowded(seed);
        let view = world.view();
        for moment in 0..8 {
            let at = match moment {
                0 => None,
                _ => Some(AsOf::Lsn(world.moment(view.lsn()))),
            };
            let known = world.model.known(&view, at);
            let view = at.map_or_else(|| view.clone(), |at| view.as_of(at).unwrap());
            for step in 0..10 {
                place.step = moment * 10 + step;
                let filter = match step {
                    0..7 => rare(&mut world),
                    _ => Requests::of(&mut world).filter(),
                };
                check(&mut world, &view, &known, filter);
            }
        }
    }
}

#[test]
fn an_index_that_is_missing_or_of_another_version_counts_as_absent() {
    let mut world = crowded(11);
    let place = world.view().brain().base().table().find(tag::VALUES);
    let at = place.unwrap().offset as usize;
    let known = world.model.known(&world.view(), None);
    let missing = |bytes: &mut [u8]| bytes[at - HEADER as usize] = 0x33;
    let of_another = |bytes: &mut [u8]| {
        bytes[at..at + 4].copy_from_slice(&(VALUES_VERSION + 1).to_le_bytes());
    };
    let copies = [
        world.written.copy_with(&missing).unwrap(),
        world.written.copy_with(&of_another).unwrap(),
    ];
    for view in copies {
        assert!(view.brain().base().values().unwrap().is_none());
        for _ in 0..20 {
            let filter = rare(&mut world);
            check(&mut world, &view, &known, filter);
        }
    }
}

#[test]
fn the_filter_decides_on_the_candidates_of_the_index() {
    // Every hash has the list of another: most of what is proposed is wrong, and none of that is in an answer.
    let mut world = crowded(12);
    world.checkpoint().unwrap();
    let view = world.view();
    let base = view.brain().base();
    let at = base.table().find(tag::VALUES).unwrap().offset as usize + 16;
    let count = base.values().unwrap().unwrap().hashes().len();
    let lie = |bytes: &mut [u8]| bytes.copy_within(at + 8..at + 8 * count, at);
    let copy = world.written.copy_with(&lie).unwrap();
    let mut missed = 0;
    for _ in 0..40 {
        let selection = Selection {
            filter: Some(rare(&mut world)),
            ..Selection::default()
        };
        let request = Pattern {
            selection,
            limit: 1_000,
            ..Pattern::default()
        };
        let (found, expected) = (request.run(&copy).unwrap(), request.run(&view).unwrap());
        assert!(found.ids.iter().all(|id| expected.ids.contains(id)));
        missed += expected.ids.len() - found.ids.len();
    }
    assert!(missed > 0, "the index was not asked");
}

#[test]
fn an_event_with_more_values_than_the_index_holds_is_found() {
    let mut world = crowded(13);
    world.checkpoint().unwrap();
    let view = world.view();
    let untold = view.brain().base().values().unwrap().unwrap().unlisted();
    let request = Pattern {
        selection: Selection {
            filter: Some(Filter::parse(&json!({"n": 299})).unwrap()),
            include_forgotten: true,
            include_compressed: true,
            ..Selection::default()
        },
        limit: 1_000,
        ..Pattern::default()
    };
    let expected = untold.iter().rev().map(|&id| NodeId(id.into()));
    let found = request.run(&view).unwrap().ids;
    assert_eq!(found, expected.collect::<Vec<_>>());
    assert!(!found.is_empty(), "some events have too many values");
}
