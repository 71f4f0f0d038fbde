//! A store on a disk in memory: what the writer of a brain promises, apart from crashes.

#![forbid(unsafe_code)]
#![expect(
    clippy::unwrap_used,
    reason = "a helper that fails is a test that fails"
)]

mod believed;
mod checkpoints;
mod clock;
mod commits;
mod cost;
mod damaged;
mod growth;
mod in_place;
mod leftovers;
mod lock;
mod merge;
mod newer;
mod overwritten;
mod parts;
mod ranges;
mod refusals;
mod requests;
mod spans;
mod sparse;
mod taken;

use std::sync::Arc;

use amem_format::event::Graph;
use amem_format::view::{AsOf, View};
use amem_format::{ActorId, EdgeType, EventType, Lsn, Micros, NodeId, SessionId};
use amem_store::disk::Disk;
use amem_store::mutation::{Correct, End, Ingest, NewEvent, NewLink};
use amem_store::{Answer, Error, Folder, Mutation, NewBrain, Request, Store, create};
use amem_tests::disk::SimDisk;
use uuid::Uuid;

pub(crate) fn open(seed: u64) -> (Arc<SimDisk>, Store) {
    let disk = Arc::new(SimDisk::new(seed));
    let folder = Folder::open(disk.clone() as Arc<dyn Disk>, "a test").unwrap();
    create(&folder, "b", &NewBrain::default()).unwrap();
    (disk, Store::open(&folder, "b").unwrap())
}

pub(crate) fn fact(text: &str) -> NewEvent {
    NewEvent::new(EventType::FACT, text)
}

pub(crate) fn ingest(events: Vec<NewEvent>) -> Mutation {
    Mutation::Ingest(Ingest {
        events,
        ..Ingest::default()
    })
}

pub(crate) fn correction(target: u64, text: &str) -> Correct {
    Correct {
        target: NodeId(target),
        to_head: false,
        event: NewEvent::new(EventType::CORRECTION, text),
        target_confidence: None,
        reason: None,
    }
}

pub(crate) fn run(store: &mut Store, mutation: Mutation) -> Result<Answer, Error> {
    store.execute(Request::new(mutation))
}

fn confidence(store: &Store, id: u64) -> f32 {
    store.view().node(NodeId(id)).unwrap().confidence()
}

/// Everything that a view shows but for access counts, which are no history.
pub(crate) fn dump(view: &View) -> Vec<String> {
    let mut out = vec![format!("{:?} {} events", view.moment(), view.nodes())];
    for id in 0..view.nodes() {
        let mut event = view.event_at(id).unwrap();
        (event.access_count, event.last_accessed) = (0, Micros(0));
        out.push(format!("{event:?} {:?}", view.edges_at(id).unwrap()));
    }
    out
}

#[test]
fn ingested_events_are_read_before_and_after_a_checkpoint_and_a_reopen() {
    let (_disk, mut store) = open(1);
    let answer = run(
        &mut store,
        ingest(vec![fact("the sky is blue"), fact("water is wet")]),
    )
    .unwrap();
    assert_eq!(answer.ids, [NodeId(0), NodeId(1)]);
    let linked = Mutation::Ingest(Ingest {
        events: vec![NewEvent::new(EventType::DECISION, "we go out")],
        links: vec![NewLink {
            source: End::New(0),
            target: End::Event(NodeId(0)),
            edge_type: EdgeType::CAUSED_BY,
            weight: 0.5,
        }],
        ..Ingest::default()
    });
    store
        .execute(Request::new(linked).by("uid:1", "agent"))
        .unwrap();
    run(
        &mut store,
        Mutation::Correct(correction(0, "the sky is grey")),
    )
    .unwrap();
    let before = dump(&store.view());
    assert_eq!(store.view().edges(), 2);
    store.checkpoint().unwrap();
    assert_eq!(store.journal_bytes(), 0);
    assert_eq!(dump(&store.view()), before);
    run(&mut store, ingest(vec![fact("more")])).unwrap();
    let (folder, before) = (store.folder().clone(), dump(&store.view()));
    store.close().unwrap();
    let again = Store::open(&folder, "b").unwrap();
    assert_eq!(dump(&again.view()), before);
    drop(again);
    // Not closed in order: recovered into a new generation.
    let again = Store::open(&folder, "b").unwrap();
    assert_eq!(dump(&again.view()), before);
}

#[test]
fn a_correction_lowers_its_target_and_forgetting_it_restores_it() {
    let (_disk, mut store) = open(2);
    let belief = NewEvent {
        confidence: 0.8,
        ..fact("the limit is 100")
    };
    run(&mut store, ingest(vec![belief])).unwrap();
    let first = run(
        &mut store,
        Mutation::Correct(correction(0, "the limit is 1000")),
    )
    .unwrap();
    assert_eq!(first.target, Some(NodeId(0)));
    assert_eq!(confidence(&store, 0), 0.0);
    let partial = Correct {
        target_confidence: Some(0.2),
        ..correction(0, "the limit is 500 for guests")
    };
    run(&mut store, Mutation::Correct(partial)).unwrap();
    assert_eq!(
        confidence(&store, 0),
        0.0,
        "the lower of two successors counts"
    );
    for checkpoint in [false, true] {
        if checkpoint {
            store.checkpoint().unwrap();
        }
        run(&mut store, Mutation::Forget(NodeId(1))).unwrap();
        assert!((confidence(&store, 0) - 0.2).abs() < 1e-6);
        run(&mut store, Mutation::Forget(NodeId(2))).unwrap();
        assert_eq!(confidence(&store, 0), 0.8, "its own confidence was kept");
        run(&mut store, Mutation::Restore(NodeId(2))).unwrap();
        run(&mut store, Mutation::Restore(NodeId(1))).unwrap();
        assert_eq!(confidence(&store, 0), 0.0);
    }
    let unlink = Mutation::Unlink {
        source: NodeId(1),
        target: NodeId(0),
        edge_type: EdgeType::SUPERSEDES,
    };
    run(&mut store, unlink).unwrap();
    assert!((confidence(&store, 0) - 0.2).abs() < 1e-6);
}

#[test]
fn edges_of_one_ingest_that_replace_events_count_together() {
    let (_disk, mut store) = open(4);
    let replace = |source, target, weight| NewLink {
        source,
        target: End::Event(NodeId(target)),
        edge_type: EdgeType::SUPERSEDES,
        weight,
    };
    let [old, new] = [|id| End::Event(NodeId(id)), |at| End::New(at as usize)];
    // What the edges leave of events 0 and 1, in whichever order they come.
    let rows = [
        (
            vec![replace(new(0), 0, 1.0), replace(new(1), 0, 0.75)],
            [0.0, 1.0],
        ),
        (
            vec![replace(new(0), 0, 0.75), replace(new(1), 0, 1.0)],
            [0.0, 1.0],
        ),
        (
            vec![replace(new(0), 0, 1.0), replace(new(0), 0, 0.0)],
            [1.0, 1.0],
        ),
        (
            vec![replace(old(2), 0, 0.5), replace(new(1), 1, 0.25)],
            [0.5, 0.75],
        ),
    ];
    for (links, left) in rows {
        let facts = vec![fact("one"), fact("another"), fact("a third")];
        let first = run(&mut store, ingest(facts)).unwrap().ids[0].0;
        let mut links = links;
        for link in &mut links {
            for end in [&mut link.source, &mut link.target] {
                if let End::Event(id) = end {
                    id.0 += first;
                }
            }
        }
        let ingest = Ingest {
            events: vec![fact("a new one"), fact("another new one")],
            links: links.clone(),
            ..Ingest::default()
        };
        run(&mut store, Mutation::Ingest(ingest)).unwrap();
        let found = [first, first + 1].map(|id| confidence(&store, id));
        assert_eq!(found, left, "{links:?}");
    }
    let around = Ingest {
        links: vec![replace(old(0), 1, 1.0), replace(old(1), 0, 1.0)],
        ..Ingest::default()
    };
    let before = store.view().lsn();
    let refused = run(&mut store, Mutation::Ingest(around));
    assert!(matches!(refused, Err(Error::Cycle { .. })), "{refused:?}");
    assert_eq!(store.view().lsn(), before);
}

#[test]
fn a_correction_without_a_session_has_none() {
    let (_disk, mut store) = open(3);
    let key = "monday".to_owned();
    let session = run(&mut store, Mutation::OpenSession { key })
        .unwrap()
        .session;
    let belief = NewEvent {
        session,
        ..fact("in a session")
    };
    run(&mut store, ingest(vec![belief])).unwrap();
    run(&mut store, Mutation::Correct(correction(0, "elsewhere"))).unwrap();
    let view = store.view();
    let sessions = [0, 1].map(|id| view.node(NodeId(id)).unwrap().session().0);
    assert_eq!(sessions, [session.unwrap().0, 0]);
}

#[test]
fn a_correction_to_the_head_attaches_to_the_newest() {
    let (_disk, mut store) = open(3);
    run(&mut store, ingest(vec![fact("a")])).unwrap();
    for i in 1..20 {
        let to_head = Correct {
            to_head: true,
            ..correction(0, &format!("version {i}"))
        };
        let answer = run(&mut store, Mutation::Correct(to_head)).unwrap();
        assert_eq!(answer.target, Some(NodeId(i - 1)));
    }
}

#[test]
fn a_request_is_executed_once_however_often_it_is_sent() {
    let (disk, mut store) = open(4);
    let id = Uuid::new_v7(uuid::Timestamp::from_unix(
        uuid::NoContext,
        disk.now().0 as u64 / 1_000_000,
        0,
    ));
    let request = || Request::new(ingest(vec![fact("once")])).with_id(id);
    let first = store.execute(request()).unwrap();
    for checkpoint in [false, true] {
        if checkpoint {
            store.checkpoint().unwrap();
        }
        let again = store.execute(request()).unwrap();
        assert!(again.replayed && !first.replayed);
        assert_eq!(
            (again.lsn, again.ids, store.view().nodes()),
            (first.lsn, first.ids.clone(), 1)
        );
        let other = Request::new(ingest(vec![fact("twice")])).with_id(id);
        assert!(matches!(
            store.execute(other),
            Err(Error::RequestReused { .. })
        ));
    }
    // Twice in one group as well.
    let id = Uuid::new_v7(uuid::Timestamp::from_unix(
        uuid::NoContext,
        disk.now().0 as u64 / 1_000_000,
        7,
    ));
    let request = || Request::new(ingest(vec![fact("in a group")])).with_id(id);
    let answers = store.commit(&[request(), request()]);
    assert_eq!(
        answers[0].as_ref().unwrap().lsn,
        answers[1].as_ref().unwrap().lsn
    );
    assert_eq!(store.view().nodes(), 2);
    // The newest requests are remembered for longer than a day.
    disk.advance(25 * 3600 * 1_000_000);
    store.checkpoint().unwrap();
    assert!(store.execute(request()).unwrap().replayed);
    let random = Request::new(ingest(vec![fact("x")])).with_id(Uuid::from_u128(4 << 76));
    assert!(
        store
            .execute(random)
            .unwrap_err()
            .to_string()
            .contains("UUIDv7")
    );
}

#[test]
fn preconditions_are_checked_and_a_refused_request_fails_no_neighbour() {
    let (_disk, mut store) = open(5);
    let lsn = run(&mut store, ingest(vec![fact("a"), fact("b")]))
        .unwrap()
        .lsn;
    let at = |lsn| Request {
        expected_lsn: Some(lsn),
        ..Request::new(ingest(vec![fact("c")]))
    };
    let answers = store.commit(&[
        at(lsn),
        at(lsn),
        Request::new(Mutation::Pin(NodeId(99))),
        Request::new(Mutation::Pin(NodeId(2))),
    ]);
    assert!(answers[0].is_ok() && answers[3].is_ok());
    assert!(
        matches!(answers[1], Err(Error::Aborted { .. })),
        "the one before it came later than expected"
    );
    assert!(
        answers[2]
            .as_ref()
            .unwrap_err()
            .to_string()
            .contains("no event 99")
    );
    let head = |expected| Request {
        expected_head: Some((NodeId(0), expected)),
        ..Request::new(Mutation::Correct(correction(0, "a, corrected")))
    };
    assert!(matches!(
        store.execute(head(NodeId(1))),
        Err(Error::OtherHead {
            found: NodeId(0),
            ..
        })
    ));
    store.execute(head(NodeId(0))).unwrap();
}

#[test]
fn erased_bytes_are_in_no_file_and_the_event_remains() {
    const SECRET: &str = "correct horse battery staple";
    let (disk, mut store) = open(8);
    let attributes = serde_json::json!({ "where": "under the zzmatzz" })
        .as_object()
        .cloned();
    run(
        &mut store,
        ingest(vec![
            NewEvent {
                attributes,
                ..fact(SECRET)
            },
            fact("public"),
        ]),
    )
    .unwrap();
    store.checkpoint().unwrap();
    let compress = Mutation::Compress {
        session: SessionId(0),
        text: "we talked".into(),
        vector: None,
    };
    run(&mut store, compress).unwrap();
    let was = Mutation::SetAttributes {
        target: NodeId(0),
        attributes: None,
    };
    run(&mut store, was).unwrap();
    let answer = run(&mut store, Mutation::Erase(vec![NodeId(0)])).unwrap();
    assert_eq!(answer.related, [NodeId(2)], "the episode that tells of it");
    assert!(store.erase_pending());
    store.checkpoint().unwrap();
    assert!(!store.erase_pending());
    for needle in [SECRET, "battery", "zzmatzz", "zzmat"] {
        assert_eq!(
            disk.files_with(needle.as_bytes()),
            Vec::<String>::new(),
            "{needle}"
        );
    }
    let view = store.view();
    let node = view.node(NodeId(0)).unwrap();
    assert!(
        node.is_erased() && node.text().unwrap().is_empty() && node.vector().unwrap().is_none()
    );
    let then = view.as_of(AsOf::Lsn(Lsn(1))).unwrap();
    assert!(then.node(NodeId(0)).unwrap().text().unwrap().is_empty());
    let again = Mutation::SetAttributes {
        target: NodeId(0),
        attributes: None,
    };
    assert!(matches!(run(&mut store, again), Err(Error::Erased { .. })));
}

#[test]
fn a_checkpoint_beside_a_writer_includes_concurrent_commits() {
    let (_disk, mut store) = open(9);
    run(&mut store, ingest(vec![fact("before")])).unwrap();
    let mut checkpoint = amem_store::Checkpoint::begin(&store).unwrap();
    run(&mut store, ingest(vec![fact("while it is built")])).unwrap();
    checkpoint.build().unwrap();
    for i in 0..5 {
        run(&mut store, ingest(vec![fact(&format!("round {i}"))])).unwrap();
        checkpoint.carry(&store.brain().clone()).unwrap();
    }
    run(&mut store, ingest(vec![fact("in the last round")])).unwrap();
    let before = dump(&store.view());
    store.install(checkpoint).unwrap();
    assert_eq!(dump(&store.view()), before);
    assert_eq!(store.view().identity().generation.0, 2);
    assert!(store.journal_bytes() > 0);
    run(&mut store, ingest(vec![fact("after")])).unwrap();
    assert_eq!(store.view().nodes(), 9);
}

#[test]
fn an_agent_that_appears_during_a_checkpoint_is_recorded_once() {
    let (_disk, mut store) = open(9);
    let by = |agent: &str, text: &str| Request::new(ingest(vec![fact(text)])).by("uid:1", agent);
    let commit = |store: &mut Store, request| store.execute(request).unwrap();
    commit(&mut store, by("first", "before"));
    let mut checkpoint = amem_store::Checkpoint::begin(&store).unwrap();
    commit(&mut store, by("second", "before it is built"));
    checkpoint.build().unwrap();
    commit(&mut store, by("third", "after it was built"));
    checkpoint.carry(&store.brain().clone()).unwrap();
    commit(&mut store, by("fourth", "in the last round"));
    commit(&mut store, by("second", "the same again"));
    store.install(checkpoint).unwrap();
    commit(&mut store, by("fifth", "after"));
    let view = store.view();
    let agents =
        (1..=view.actors().unwrap()).map(|id| view.actor(ActorId(id as u32)).unwrap().agent);
    let agents: Vec<&str> = agents.collect();
    assert_eq!(agents, ["first", "second", "third", "fourth", "fifth"]);
}
