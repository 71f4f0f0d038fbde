//! Who recorded an event, through checkpoints, erasures and merges.

use amem_format::view::View;
use amem_format::{ActorId, NodeId};
use amem_store::{Mutation, Request, Store};

use super::World;
use crate::{fact, ingest, run};

/// The author of each event from an id on.
fn authors(view: &View, from: u64) -> Vec<(String, String)> {
    let ids = (from..view.nodes()).map(NodeId);
    ids.map(|id| {
        let actor = view.node(id).unwrap().author().unwrap();
        let actor = view.actor(actor).unwrap();
        (actor.principal.to_owned(), actor.agent.to_owned())
    })
    .collect()
}

fn tell(store: &mut Store, by: (&str, &str), texts: &[&str]) {
    let events = texts.iter().map(|text| fact(text)).collect();
    let request = Request::new(ingest(events)).by(by.0, by.1);
    store.execute(request).unwrap();
}

#[test]
fn an_author_survives_checkpoints_erasure_and_merges() {
    let owned = |names: &[(&str, &str)]| -> Vec<(String, String)> {
        let owned = |(by, agent): &(&str, &str)| ((*by).to_owned(), (*agent).to_owned());
        names.iter().map(owned).collect()
    };
    let (ann, bob, none) = (("uid:1000", "claude"), ("uid:1001", ""), ("", ""));
    let mut world = World::of(2, 31);
    let first = world.brains[0].view().nodes();
    tell(&mut world.brains[1], ann, &["one", "two"]);
    tell(&mut world.brains[1], bob, &["three"]);
    tell(&mut world.brains[1], none, &["four"]);
    tell(&mut world.brains[1], ann, &["five"]);
    let expected = owned(&[ann, ann, bob, none, ann]);
    assert_eq!(authors(&world.brains[1].view(), first), expected);
    world.brains[1].checkpoint().unwrap();
    assert_eq!(authors(&world.brains[1].view(), first), expected);
    run(&mut world.brains[1], Mutation::Erase(vec![NodeId(first)])).unwrap();
    world.brains[1].checkpoint().unwrap();
    assert_eq!(authors(&world.brains[1].view(), first), expected);

    // One of the actors is known here, and so is who merges; the others get numbers on the way.
    tell(&mut world.brains[0], bob, &["here"]);
    let merge = Request::new(Mutation::Merge(world.other(1))).by("uid:7", "merger");
    let answer = world.brains[0].execute(merge).unwrap();
    assert_eq!(answer.merged.unwrap().events, 5);
    let here = || {
        owned(&[bob])
            .into_iter()
            .chain(expected.clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(authors(&world.brains[0].view(), first), here());
    world.brains[0].checkpoint().unwrap();
    let view = world.brains[0].view();
    assert_eq!(authors(&view, first), here());
    // Who merged is named too, and its number is its own.
    let merger = view.find_actor("uid:7", "merger").unwrap().unwrap();
    assert_eq!(view.of_author(merger).unwrap().len(), 0);
    let ann = view.find_actor(ann.0, ann.1).unwrap().unwrap();
    let of_ann: Vec<u64> = view.of_author(ann).unwrap().iter().map(|id| id.0).collect();
    assert_eq!(of_ann, [first + 1, first + 2, first + 5]);
    assert_eq!(view.actors().unwrap(), 3);
    assert_eq!(view.of_author(ActorId(99)).unwrap().len(), 0);
    let merged = world.merge(0, 1);
    assert_eq!(merged.events, 0, "a second merge finds the same");
}

#[test]
fn who_merges_its_own_events_is_one_actor() {
    let mut world = World::of(2, 32);
    let first = world.brains[0].view().nodes();
    tell(&mut world.brains[1], ("uid:5", "agent"), &["there"]);
    let merge = Request::new(Mutation::Merge(world.other(1))).by("uid:5", "agent");
    world.brains[0].execute(merge).unwrap();
    tell(&mut world.brains[0], ("uid:5", "agent"), &["here"]);
    let view = world.brains[0].view();
    assert_eq!(view.actors().unwrap(), 1);
    assert_eq!(authors(&view, first).len(), 2);
    assert_eq!(view.of_author(ActorId(1)).unwrap().len(), 2);
}
