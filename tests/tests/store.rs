//! A store on a disk in memory: what a brain's writer promises, apart from crashes.

#![expect(
    clippy::unwrap_used,
    reason = "a helper that fails is a test that fails"
)]

use std::collections::BTreeMap;
use std::sync::Arc;

use amem_core::event::Graph;
use amem_core::reader::Reader;
use amem_core::view::{AsOf, View};
use amem_core::{EdgeType, EventType, Lsn, Micros, NodeId, SessionId};
use amem_store::disk::Disk;
use amem_store::disk::os::OsDisk;
use amem_store::mutation::{Correct, End, Ingest, NewEdge, NewEvent, NewLink};
use amem_store::{Answer, Create, Error, Folder, Mutation, Request, Store, create};
use amem_tests::disk::SimDisk;
use amem_tests::random::Random;
use uuid::Uuid;

fn open(seed: u64) -> (Arc<SimDisk>, Store) {
    let disk = Arc::new(SimDisk::new(seed));
    let folder = Folder::open(disk.clone() as Arc<dyn Disk>, "a test").unwrap();
    create(&folder, "b", &Create::default()).unwrap();
    (disk, Store::open(&folder, "b").unwrap())
}

fn fact(text: &str) -> NewEvent {
    NewEvent::new(EventType::FACT, text)
}

fn ingest(events: Vec<NewEvent>) -> Mutation {
    Mutation::Ingest(Ingest {
        events,
        ..Ingest::default()
    })
}

fn correction(target: u64, text: &str) -> Correct {
    Correct {
        target: NodeId(target),
        to_head: false,
        event: NewEvent::new(EventType::CORRECTION, text),
        target_confidence: None,
        reason: None,
    }
}

fn run(store: &mut Store, mutation: Mutation) -> Result<Answer, Error> {
    store.execute(Request::new(mutation))
}

fn confidence(store: &Store, id: u64) -> f32 {
    store.view().node(NodeId(id)).unwrap().confidence()
}

/// Everything that a view shows but for access counts, which are no history.
fn dump(view: &View) -> Vec<String> {
    let mut out = vec![format!("{:?} {} events", view.moment(), view.nodes())];
    for id in 0..view.nodes() {
        let mut event = view.event_at(id).unwrap();
        (event.access_count, event.last_accessed) = (0, Micros(0));
        out.push(format!("{event:?} {:?}", view.edges_at(id).unwrap()));
    }
    out
}

#[test]
fn what_is_ingested_is_read_before_and_after_a_checkpoint_and_a_reopen() {
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
    disk.advance(25 * 3600 * 1_000_000);
    store.checkpoint().unwrap();
    assert!(matches!(
        store.execute(request()),
        Err(Error::RequestExpired { .. })
    ));
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
fn preconditions_are_held_and_a_refused_request_fails_no_neighbour() {
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
        Err(Error::Aborted { .. })
    ));
    store.execute(head(NodeId(0))).unwrap();
}

#[test]
fn bad_requests_are_refused_by_name_and_change_nothing() {
    let (_disk, mut store) = open(6);
    let session = run(&mut store, Mutation::OpenSession { key: "s".into() })
        .unwrap()
        .session;
    run(&mut store, ingest(vec![fact("a"), fact("b"), fact("c")])).unwrap();
    run(&mut store, Mutation::Correct(correction(0, "a2"))).unwrap();
    run(&mut store, Mutation::Forget(NodeId(2))).unwrap();
    let closing = Mutation::CloseSession {
        session: session.unwrap(),
        outcome: "done".into(),
    };
    run(&mut store, closing).unwrap();
    let link = |source, target, edge_type, weight| {
        Mutation::Link(NewEdge {
            source: NodeId(source),
            target: NodeId(target),
            edge_type,
            weight,
        })
    };
    let wide = vec![1.0; 3];
    let mut deep = serde_json::json!(1);
    for _ in 0..10 {
        deep = serde_json::json!({ "d": deep });
    }
    let attributes = |value: serde_json::Value| value.as_object().cloned();
    let rows: Vec<(Mutation, &str)> = vec![
        (ingest(vec![]), "neither an event nor an edge"),
        (ingest(vec![fact("")]), "text: it is empty"),
        (
            ingest(vec![fact(&"x".repeat((1 << 20) + 1))]),
            "text (bytes) is 1048577",
        ),
        (
            ingest(vec![NewEvent {
                confidence: 1.5,
                ..fact("x")
            }]),
            "1.5 is not within 0 and 1",
        ),
        (
            ingest(vec![NewEvent {
                confidence: f32::NAN,
                ..fact("x")
            }]),
            "NaN is not within 0 and 1",
        ),
        (
            ingest(vec![NewEvent {
                lambda: Some(-1.0),
                ..fact("x")
            }]),
            "-1 is no rate per day",
        ),
        (
            ingest(vec![NewEvent {
                vector: Some(wide),
                ..fact("x")
            }]),
            "3 dimensions, the brain 128",
        ),
        (
            ingest(vec![NewEvent {
                vector: Some(vec![f32::NAN; 128]),
                ..fact("x")
            }]),
            "number 0 is NaN",
        ),
        (
            ingest(vec![NewEvent {
                vector: Some(vec![1.0; 128]),
                space: Some(Uuid::from_u128(1)),
                ..fact("x")
            }]),
            "embed with the brain's model",
        ),
        (
            ingest(vec![NewEvent {
                session: Some(SessionId(9)),
                ..fact("x")
            }]),
            "no session 9",
        ),
        (
            ingest(vec![NewEvent {
                session,
                ..fact("x")
            }]),
            "is closed",
        ),
        (
            ingest(vec![NewEvent {
                event_type: EventType(9),
                ..fact("x")
            }]),
            "9 is not one of the six",
        ),
        (
            ingest(vec![NewEvent {
                attributes: attributes(deep),
                ..fact("x")
            }]),
            "nested deeper",
        ),
        (
            ingest(vec![NewEvent {
                attributes: attributes(serde_json::json!({ "k": "v".repeat(70_000) })),
                ..fact("x")
            }]),
            "65536",
        ),
        (link(0, 0, EdgeType::SUPPORTS, 1.0), "tied to itself"),
        (link(0, 77, EdgeType::SUPPORTS, 1.0), "no event 77"),
        (link(0, 2, EdgeType::SUPPORTS, 1.0), "event 2 is forgotten"),
        (link(0, 1, EdgeType(9), 1.0), "9 is not one of the seven"),
        (link(0, 1, EdgeType::SUPPORTS, -0.1), "weight: -0.1"),
        (
            link(0, 3, EdgeType::SUPERSEDES, 1.0),
            "supersedes 0 already",
        ),
        (
            Mutation::Unlink {
                source: NodeId(1),
                target: NodeId(0),
                edge_type: EdgeType::PART_OF,
            },
            "no edge 1 part-of 0",
        ),
        (Mutation::Touch(vec![(NodeId(0), 0)]), "touched 0 times"),
        (Mutation::Correct(correction(44, "x")), "no event 44"),
        (
            Mutation::Correct(Correct {
                target_confidence: Some(1.1),
                ..correction(1, "x")
            }),
            "target_confidence: 1.1",
        ),
        (Mutation::Erase(vec![]), "no event is named"),
        (
            Mutation::Compress {
                session: SessionId(5),
                text: "sum".into(),
                vector: None,
            },
            "has no event that is not compressed",
        ),
        (
            Mutation::CloseSession {
                session: SessionId(0),
                outcome: String::new(),
            },
            "nobody's",
        ),
        (
            Mutation::OpenSession {
                key: "k".repeat(300),
            },
            "key (bytes) is 300",
        ),
    ];
    let before = (store.view().lsn(), dump(&store.view()));
    for (mutation, expected) in rows {
        let error = run(&mut store, mutation.clone()).expect_err(&format!("{mutation:?}"));
        let text = error.to_string();
        assert!(
            text.contains(expected),
            "{text:?} does not say {expected:?}"
        );
        assert_eq!(
            (store.view().lsn(), dump(&store.view())),
            before,
            "{expected}"
        );
    }
}

#[test]
fn names_that_are_no_names_and_brains_that_are_not_there_are_told() {
    let (_disk, store) = open(7);
    let folder = store.folder().clone();
    for name in ["", "a/b", "..", ".x", "a b", "é", "x.amem"] {
        let error = create(&folder, name, &Create::default()).unwrap_err();
        assert!(matches!(error, Error::Name { .. }), "{name:?}: {error}");
    }
    assert!(matches!(
        create(&folder, "b", &Create::default()),
        Err(Error::Exists { .. })
    ));
    assert!(matches!(
        Store::open(&folder, "c"),
        Err(Error::NotFound { .. })
    ));
    assert_eq!(folder.names().unwrap(), ["b"]);
}

#[test]
fn a_second_writer_is_told_who_holds_the_folder() {
    let dir = tempfile::tempdir().unwrap();
    let disk = || Arc::new(OsDisk::new(dir.path()).unwrap());
    let held = Folder::open(disk(), "process 12, since Monday").unwrap();
    let error = Folder::open(disk(), "another").unwrap_err().to_string();
    assert!(error.contains("process 12, since Monday"), "{error}");
    drop(held);
    Folder::open(disk(), "another").unwrap();
    assert!(OsDisk::new(dir.path().join("nowhere")).is_err());
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
fn a_checkpoint_beside_a_writer_carries_what_came_meanwhile() {
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

/// One of everything, at random, on what is there.
fn random_mutation(random: &mut Random, store: &Store) -> Mutation {
    let n = store.view().nodes();
    let id = NodeId(random.below(n.max(1)));
    let other = NodeId(random.below(n.max(1)));
    let edge_type = EdgeType(random.below(7) as u8);
    match random.below(if n < 3 { 1 } else { 16 }) {
        0..=3 => {
            let attributes = (random.below(3) == 0)
                .then(|| {
                    serde_json::json!({ "n": random.below(5) })
                        .as_object()
                        .cloned()
                })
                .flatten();
            let event_time = (random.below(3) == 0).then(|| Micros(random.below(1 << 50) as i64));
            let event_type = EventType(random.below(6) as u8);
            let confidence = random.unit();
            let event = NewEvent {
                confidence,
                attributes,
                event_time,
                ..NewEvent::new(event_type, "text")
            };
            Mutation::Ingest(Ingest {
                events: vec![event, fact("and")],
                follow: true,
                ..Ingest::default()
            })
        }
        4 | 5 => Mutation::Link(NewEdge {
            source: id,
            target: other,
            edge_type,
            weight: random.unit(),
        }),
        6 => Mutation::Unlink {
            source: id,
            target: other,
            edge_type,
        },
        7 | 8 => Mutation::Correct(correction(id.0, "corrected")),
        9 => Mutation::Forget(id),
        10 => Mutation::Restore(id),
        11 => Mutation::Pin(id),
        12 => Mutation::Unpin(id),
        13 => Mutation::SetAttributes {
            target: id,
            attributes: serde_json::json!({ "set": random.below(9) })
                .as_object()
                .cloned(),
        },
        14 => Mutation::SetVector {
            target: id,
            vector: (random.below(2) == 0).then(|| vec![random.unit(); 128]),
            space: None,
        },
        _ => Mutation::Compress {
            session: SessionId(0),
            text: "a summary".into(),
            vector: None,
        },
    }
}

#[test]
fn what_was_believed_is_the_same_after_checkpoint_copy_and_reopen() {
    for seed in 0..12 {
        let (disk, mut store) = open(seed);
        let mut random = Random::new(seed);
        // What the newest view showed when it was the newest, but for what hides as of now.
        let mut shown: BTreeMap<Lsn, Vec<String>> = BTreeMap::new();
        for step in 0..120 {
            let mutation = random_mutation(&mut random, &store);
            if matches!(mutation, Mutation::Forget(_)) && step % 2 == 0 {
                continue;
            }
            drop(run(&mut store, mutation));
            if random.below(40) == 0 {
                store.checkpoint().unwrap();
            }
            disk.advance(random.below(1 << 33) as i64);
            shown.insert(store.view().lsn(), dump(&store.view()));
        }
        let answers = |view: &View| -> Vec<Vec<String>> {
            let moments = shown.keys().flat_map(|&lsn| {
                let time = view.as_of(AsOf::Lsn(lsn)).unwrap().moment().1;
                [
                    AsOf::Lsn(lsn),
                    AsOf::Time(time),
                    AsOf::Time(Micros(time.0 + 1)),
                ]
            });
            moments
                .map(|moment| dump(&view.as_of(moment).unwrap()))
                .collect()
        };
        let before = answers(&store.view());
        let strip = |lines: &[String]| lines.iter().map(|l| stripped(l)).collect::<Vec<_>>();
        for (lsn, lines) in &shown {
            let then = dump(&store.view().as_of(AsOf::Lsn(*lsn)).unwrap());
            assert_eq!(strip(&then), strip(lines), "seed {seed}, as of {lsn}");
        }
        store.checkpoint().unwrap();
        assert!(
            answers(&store.view()) == before,
            "seed {seed}: after a checkpoint"
        );
        let copy = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(copy.path(), disk.contents("b.amem").unwrap()).unwrap();
        let copied = Reader::open(copy.path()).unwrap();
        assert!(
            answers(&copied.view().unwrap()) == before,
            "seed {seed}: in a copy"
        );
        let folder = store.folder().clone();
        drop(store);
        let again = Store::open(&folder, "b").unwrap();
        assert!(
            answers(&again.view()) == before,
            "seed {seed}: after a reopen"
        );
    }
}

/// A line of a dump without what is as of now (hidden or not) and without strength, which an `as_of` view
/// computes for its moment.
fn stripped(line: &str) -> String {
    let Some(flags) = line.find("flags: Flags(") else {
        return line.to_owned();
    };
    let end = flags + line[flags..].find("),").unwrap_or(0);
    let number: u8 = line[flags + 13..end].parse().unwrap();
    let score = line.find("decay_score: ").unwrap();
    let after = score + line[score..].find(',').unwrap();
    format!(
        "{}{}{}{}",
        &line[..flags],
        number & !8,
        &line[end..score],
        &line[after..]
    )
}
