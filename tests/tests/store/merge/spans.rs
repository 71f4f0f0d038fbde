//! Sessions that went on in both brains: every span and event is there after a merge, and a second one adds nothing.

use amem_format::SessionId;
use amem_store::{Mutation, Store};

use super::World;
use crate::{fact, ingest, run};

fn key() -> Mutation {
    Mutation::OpenSession { key: "talk".into() }
}

fn session(store: &Store) -> SessionId {
    let found = store.view().session_by_key("talk").unwrap();
    found.unwrap()
}

fn say(world: &mut World, who: usize, text: &str) {
    world.disk.advance(1_000_000);
    let mut event = fact(text);
    event.session = Some(session(&world.brains[who]));
    run(&mut world.brains[who], ingest(vec![event])).unwrap();
}

fn close(world: &mut World, who: usize, outcome: &str) {
    world.disk.advance(1_000_000);
    let close = Mutation::CloseSession {
        session: session(&world.brains[who]),
        outcome: outcome.into(),
    };
    run(&mut world.brains[who], close).unwrap();
}

/// The texts and the outcome of each span; no outcome while it is open.
fn spans(store: &Store) -> Vec<(Vec<String>, Option<String>)> {
    let view = store.view();
    let id = session(store);
    let all = view.session_spans(id).unwrap();
    let mut found: Vec<_> = all
        .iter()
        .map(|span| (Vec::new(), span.closed.map(|_| span.outcome.to_owned())))
        .collect();
    for event in view.of_session(id).unwrap().iter() {
        let node = view.node(event).unwrap();
        let begun = all.partition_point(|span| span.opened <= node.created_at());
        let text = node.text().unwrap().into_owned();
        found[begun.max(1) - 1].0.push(text);
    }
    found
}

fn told(texts: &[&str], outcome: Option<&str>) -> (Vec<String>, Option<String>) {
    let texts = texts.iter().map(|text| (*text).to_owned()).collect();
    (texts, outcome.map(str::to_owned))
}

#[test]
fn spans_of_a_session_that_is_not_here_come_with_their_events() {
    let mut world = World::of(2, 70);
    world.disk.advance(1_000_000);
    run(&mut world.brains[1], key()).unwrap();
    say(&mut world, 1, "one");
    close(&mut world, 1, "first");
    say(&mut world, 1, "two");
    close(&mut world, 1, "second");
    let expected = [
        told(&["one"], Some("first")),
        told(&["two"], Some("second")),
    ];
    world.disk.advance(1_000_000);
    assert_eq!(world.merge(0, 1).sessions, 1);
    assert_eq!(spans(&world.brains[0]), expected);
    // A copy that had the session when it was first closed learns of the second span.
    say(&mut world, 1, "three");
    world.disk.advance(1_000_000);
    assert_eq!(world.merge(0, 1).sessions, 1);
    let expected = [&expected[..], &[told(&["three"], None)]].concat();
    assert_eq!(spans(&world.brains[0]), expected);
    world.brains[0].checkpoint().unwrap();
    assert_eq!(spans(&world.brains[0]), expected);
    let lsn = world.brains[0].view().lsn();
    assert_eq!(world.merge(0, 1).sessions, 0);
    assert_eq!(world.merge(1, 0).sessions, 0);
    assert_eq!(world.brains[0].view().lsn(), lsn);
}

#[test]
fn brains_that_both_went_on_with_a_session_have_all_and_the_last_end() {
    let mut world = World::of(2, 71);
    world.disk.advance(1_000_000);
    run(&mut world.brains[1], key()).unwrap();
    say(&mut world, 1, "one");
    close(&mut world, 1, "first");
    world.disk.advance(1_000_000);
    world.merge(0, 1);
    say(&mut world, 0, "here");
    close(&mut world, 0, "ended here");
    say(&mut world, 1, "there");
    close(&mut world, 1, "ended there");
    world.disk.advance(1_000_000);
    world.merge(0, 1);
    let first = told(&["one"], Some("first"));
    assert_eq!(
        spans(&world.brains[0]),
        [
            first.clone(),
            told(&["here"], Some("ended here")),
            told(&["there"], Some("ended there")),
        ]
    );
    world.disk.advance(1_000_000);
    world.merge(1, 0);
    let there = spans(&world.brains[1]);
    assert_eq!(there[..2], [first, told(&["there"], Some("ended there"))]);
    // What came later from the other brain joins after it; the last end is the one that both have.
    assert_eq!(there[2], told(&["here"], Some("ended there")));
    let lsns: Vec<_> = world
        .brains
        .iter()
        .map(|brain| brain.view().lsn())
        .collect();
    assert_eq!(
        (world.merge(0, 1).sessions, world.merge(1, 0).sessions),
        (0, 0)
    );
    let after: Vec<_> = world
        .brains
        .iter()
        .map(|brain| brain.view().lsn())
        .collect();
    assert_eq!(lsns, after);
}

#[test]
fn a_session_that_goes_on_here_is_not_ended_by_an_older_end() {
    let mut world = World::of(2, 72);
    world.disk.advance(1_000_000);
    run(&mut world.brains[1], key()).unwrap();
    say(&mut world, 1, "one");
    close(&mut world, 1, "first");
    world.disk.advance(1_000_000);
    world.merge(0, 1);
    say(&mut world, 0, "two");
    world.disk.advance(1_000_000);
    assert_eq!(world.merge(0, 1).sessions, 0);
    let expected = [told(&["one"], Some("first")), told(&["two"], None)];
    assert_eq!(spans(&world.brains[0]), expected);
    world.disk.advance(1_000_000);
    assert_eq!(world.merge(1, 0).sessions, 1);
    assert_eq!(spans(&world.brains[1]), expected);
}
