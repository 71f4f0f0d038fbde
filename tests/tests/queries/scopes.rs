//! Scores within a scope: other scopes change none of them.

use amem_format::view::{AsOf, View};
use amem_format::{EdgeType, EventType, NodeId};
use amem_query::{Scope, Search, Selection, TextSearch};
use amem_tests::model::{Act, NewEvent, World};
use serde_json::json;

fn said(user: &str, text: &str, vector: Option<Vec<f32>>) -> Act {
    let attributes = json!({"amem.user": user, "topic": "x"});
    Act::Add(NewEvent {
        event_type: EventType::FACT,
        session: 0,
        event_time: None,
        confidence: 1.0,
        lambda: 0.0,
        text: text.into(),
        attributes: attributes.as_object().cloned(),
        vector,
    })
}

const TEXTS: [&str; 6] = [
    "the release is deployed on friday",
    "deploy to the second cluster after the release has been tested on the first one",
    "lunch is at noon",
    "who deploys the release on a friday, stays until it runs",
    "the river is painted",
    "the first cluster runs the release",
];

/// Ann's texts, and after each of them some that others say; Ann's ids.
fn brain(others: usize, is_checkpointed: bool) -> (World, Vec<u64>) {
    let mut seeds = (0..).map(|seed| World::new(seed).unwrap());
    let mut world = seeds.find(|world| world.dimension() > 0).unwrap();
    let dimension = world.dimension() as usize;
    let vector = |n: usize| {
        let numbers = (0..dimension).map(|at| ((n * 7 + at * 3) % 11) as f32 - 5.0);
        Some(numbers.collect::<Vec<_>>())
    };
    let (mut acts, mut ids) = (Vec::new(), Vec::new());
    for (n, text) in TEXTS.iter().enumerate() {
        ids.push(acts.len() as u64);
        acts.push(said("ann", text, vector(n)));
        for other in 0..others {
            let text = format!(
                "friday friday: {other} more releases {n}, deployed at length, and more words"
            );
            acts.push(said("bob", &text, vector(n * 31 + other)));
        }
    }
    for pair in ids.windows(2) {
        acts.push(Act::Link(pair[1], pair[0], EdgeType::TEMPORAL_NEXT.0, 1.0));
    }
    world.commit(acts).unwrap();
    if is_checkpointed {
        world.checkpoint().unwrap();
    }
    (world, ids)
}

fn selection() -> Selection {
    Selection {
        scope: Scope {
            user: Some("ann".into()),
            ..Scope::default()
        },
        ..Selection::default()
    }
}

/// All scores that Ann sees, to the bit, with the positions of her events.
fn scores(world: &World, ids: &[u64]) -> Vec<(&'static str, usize, Vec<u32>)> {
    scores_in(&world.view(), ids)
}

fn scores_in(view: &View, ids: &[u64]) -> Vec<(&'static str, usize, Vec<u32>)> {
    let place = |id: NodeId| ids.iter().position(|own| *own == id.0).unwrap();
    let question = "deploy the release on friday";
    let text = TextSearch {
        question: question.into(),
        selection: selection(),
        limit: 10,
        ..TextSearch::default()
    };
    let mut all = Vec::new();
    for hit in text.run(view).unwrap().hits {
        let bits = vec![hit.score.to_bits(), hit.relevance.to_bits()];
        all.push(("text", place(hit.id), bits));
    }
    let vector: Vec<f32> = (0..view.vector_dimension())
        .map(|at| at as f32 - 2.0)
        .collect();
    for (question, vector) in [(question, vec![]), (question, vector.clone()), ("", vector)] {
        let search = Search {
            question: question.into(),
            vector,
            selection: selection(),
            ..Search::default()
        };
        for hit in search.run(view).unwrap().hits {
            let parts = [hit.score, hit.text, hit.vector, hit.neighbours, hit.session];
            all.push(("search", place(hit.id), parts.map(f32::to_bits).to_vec()));
        }
    }
    all
}

#[test]
fn scores_of_a_scope_are_equal_to_the_bit_whatever_others_store() {
    let (world, ids) = brain(0, false);
    let alone = scores(&world, &ids);
    assert!(alone.iter().filter(|(what, ..)| *what == "text").count() >= 3);
    for others in [1, 40] {
        for is_checkpointed in [false, true] {
            let (mut world, ids) = brain(others, is_checkpointed);
            assert_eq!(scores(&world, &ids), alone, "{others} {is_checkpointed}");
            // The list of the scope is extended by later events, and made again when attributes change.
            world
                .commit(vec![said("bob", "friday is the release", None)])
                .unwrap();
            assert_eq!(scores(&world, &ids), alone, "{others} {is_checkpointed}");
        }
    }
}

#[test]
fn events_that_enter_and_leave_a_scope_count_from_that_commit_on() {
    let (mut world, mut ids) = brain(3, true);
    let before = scores(&world, &ids);
    let end = world.view().nodes();
    world
        .commit(vec![said("ann", "deploy on friday", None)])
        .unwrap();
    ids.push(end);
    let more = scores(&world, &ids);
    assert_ne!(more, before);
    world.commit(vec![Act::Attributes(end, None)]).unwrap();
    assert_eq!(scores(&world, &ids), before);
}

#[test]
fn a_question_about_the_past_changes_no_answer_about_another_moment() {
    let leaves =
        |world: &mut World, end: u64| world.commit(vec![Act::Attributes(end, None)]).unwrap();
    let enters = |world: &mut World, end: u64| {
        let attributes = json!({"amem.user": "ann"}).as_object().cloned();
        world
            .commit(vec![Act::Attributes(end, attributes)])
            .unwrap();
    };
    for is_checkpointed in [false, true] {
        // An event leaves the scope and comes back; the same brain again is asked about the present only.
        let worlds: Vec<(World, Vec<u64>, Vec<AsOf>)> = [(); 2]
            .map(|()| {
                let (mut world, mut ids) = brain(3, is_checkpointed);
                let end = world.view().nodes();
                world
                    .commit(vec![said("ann", "deploy on friday", None)])
                    .unwrap();
                ids.push(end);
                let mut moments = vec![AsOf::Lsn(world.view().lsn())];
                leaves(&mut world, end);
                moments.push(AsOf::Lsn(world.view().lsn()));
                enters(&mut world, end);
                moments.push(AsOf::Lsn(world.view().lsn()));
                leaves(&mut world, end);
                (world, ids, moments)
            })
            .into();
        let [(world, ids, moments), (fresh, ..)] = &worlds[..] else {
            unreachable!()
        };
        let present = scores(fresh, ids);
        let mut answers = Vec::new();
        for turn in 0..2 {
            for (at, moment) in moments.iter().enumerate() {
                let then = scores_in(&world.view().as_of(*moment).unwrap(), ids);
                assert_eq!(
                    scores(world, ids),
                    present,
                    "after moment {at}, turn {turn}"
                );
                answers.push(then);
            }
        }
        let (first, again) = answers.split_at(moments.len());
        assert_eq!(first, again);
        assert_eq!(first[0], first[2]);
        assert_ne!(first[0], first[1]);
        assert_eq!(first[1], present);
    }
}
