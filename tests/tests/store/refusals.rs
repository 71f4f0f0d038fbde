//! What a store refuses: each with an error that names the thing, and nothing changed.

use std::fs;
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::Path;
use std::sync::Arc;

use amem_format::{EdgeType, EventType, NodeId, SessionId};
use amem_interop::Layout;
use amem_interop::foreign::{CompatOptions, write_compatible};
use amem_store::disk::os::OsDisk;
use amem_store::limits::FOREIGN_BYTES_MAX;
use amem_store::mutation::{Correct, NewEdge, NewEvent};
use amem_store::{Error, Folder, IncomingFile, Mutation, NewBrain, Store, create};
use amem_tests::disk::{LONG, Thin};
use amem_tests::random;
use uuid::Uuid;

use crate::{correction, dump, fact, ingest, open, run};

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
        (ingest(vec![fact("")]), "text: it is blank"),
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
            Mutation::CloseSession {
                session: session.unwrap(),
                outcome: "done".into(),
            },
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
        (link(0, 0, EdgeType::SUPPORTS, 1.0), "an edge to itself"),
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
            "belongs to no client",
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
fn invalid_names_and_missing_brains_are_reported() {
    let (_disk, store) = open(7);
    let folder = store.folder().clone();
    for name in ["", "a/b", "..", ".x", "a b", "é", "x.amem"] {
        let error = create(&folder, name, &NewBrain::default()).unwrap_err();
        assert!(matches!(error, Error::Name { .. }), "{name:?}: {error}");
    }
    assert!(matches!(
        create(&folder, "b", &NewBrain::default()),
        Err(Error::Exists { .. })
    ));
    assert!(matches!(
        Store::open(&folder, "c"),
        Err(Error::NotFound { .. })
    ));
    assert_eq!(folder.names().unwrap(), ["b"]);
}

#[test]
fn a_second_writer_gets_the_name_of_the_holder() {
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
fn a_file_that_cannot_be_opened_stays_protected() {
    let dir = tempfile::tempdir().unwrap();
    let folder = Folder::open(Arc::new(OsDisk::new(dir.path()).unwrap()), "a test").unwrap();
    create(&folder, "b", &NewBrain::default()).unwrap();
    let mut store = Store::open(&folder, "b").unwrap();
    run(&mut store, ingest(vec![fact("acknowledged")])).unwrap();
    let frame = store.brain().start().unwrap().at;
    store.close().unwrap();
    let path = dir.path().join("b.amem");
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let set_mode = |mode| fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    assert_eq!(mode(&path), 0o400);
    set_mode(0o600);
    let file = fs::OpenOptions::new().write(true).open(&path).unwrap();
    file.write_all_at(b"damaged", frame).unwrap();
    set_mode(0o400);
    let refused = Store::open(&folder, "b").unwrap_err();
    assert!(matches!(refused, Error::Damaged { .. }), "{refused}");
    assert_eq!(mode(&path), 0o400);
    // What can't be opened for writing has the mode that it had.
    let other = dir.path().join("other");
    fs::create_dir(&other).unwrap();
    let before = mode(&other);
    folder.disk().open("other").unwrap_err();
    assert_eq!(mode(&other), before);
}

#[test]
fn an_oversized_foreign_file_is_refused_before_it_is_read_into_memory() {
    let place = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let disk = Thin::new(Arc::new(OsDisk::new(place.path()).unwrap()));
    let folder = Folder::open(Arc::new(disk), "a test").unwrap();
    let mut start = Vec::new();
    write_compatible(&random::graph(3), CompatOptions::default(), &mut start).unwrap();
    // A section behind the others, of an unknown kind, of any size.
    let received = |name: Option<&str>, parts: u64| {
        let section = parts * LONG as u64;
        let head = [&start[..], &[0xee], &section.to_le_bytes()].concat();
        let bytes = head.len() as u64 + section;
        let mut file = match name {
            Some(name) => IncomingFile::begin(&folder, name, bytes),
            None => IncomingFile::read_only(&folder, bytes),
        }
        .unwrap();
        file.push(&head).unwrap();
        let zeros = vec![0; LONG];
        for _ in 0..parts {
            file.push(&zeros).unwrap();
        }
        file
    };
    let imported = received(Some("small"), 1).finish(false).unwrap();
    assert_eq!(imported.layout, Layout::Reference);
    received(None, 1).into_view().unwrap();

    let parts = FOREIGN_BYTES_MAX / LONG as u64;
    let large = |name| received(name, parts);
    let refused = [
        large(Some("large")).finish(false).unwrap_err(),
        large(None).into_view().unwrap_err(),
    ];
    for refused in refused {
        let limit = matches!(
            refused,
            Error::Format(amem_format::Error::Limit {
                max: FOREIGN_BYTES_MAX,
                ..
            })
        );
        let told = refused.to_string();
        assert!(limit && told.contains("another layout"), "{told}");
    }
    // Nothing of them is left.
    assert_eq!(folder.names().unwrap(), ["small"]);
    let left = fs::read_dir(place.path().join(".amemd/tmp")).unwrap();
    assert_eq!(left.count(), 0);
}
