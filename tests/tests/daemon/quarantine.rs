//! Quarantined files: nothing in them is lost, and nothing in them outlives an erase.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use amem_client::core::event::Edge;
use amem_client::core::{EdgeType, Micros};
use amem_client::{Client, v1};
use amem_interop::foreign::{CompatOptions, write_compatible};
use amem_tests::random;
use tonic::Code;
use v1::merge_options::From;
use v1::resolve_kept_file_request::Action;

use crate::merge::{files, merge, resolve};
use crate::process::{Daemon, check_refused, create_bare, files_with, folder, ingest};
use crate::watch::{at, brain, until};

async fn events(client: &Client, name: &str) -> u64 {
    let brain = brain(client, name).await.unwrap();
    brain.status.unwrap().events
}

async fn erase(
    client: &Client,
    name: &str,
    id: u64,
) -> Result<tonic::Response<v1::EraseResponse>, tonic::Status> {
    let request = v1::EraseRequest {
        brain: name.into(),
        event_ids: vec![id],
        ..Default::default()
    };
    client.memory().erase(request).await
}

/// Puts a file in the place of a brain's.
fn put(folder: &Path, bytes: &[u8], name: &str) {
    let copy = folder.join("copy");
    fs::write(&copy, bytes).unwrap();
    fs::rename(&copy, at(folder, name)).unwrap();
}

/// Puts a file in the place of a brain's; gives it as it is kept.
async fn conflict(client: &Client, folder: &Path, bytes: &[u8], name: &str) -> v1::KeptFile {
    put(folder, bytes, name);
    until("no conflict", || async {
        let files = files(client).await;
        files
            .into_iter()
            .find(|file| file.reason() == v1::KeptReason::Conflict)
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conflict_is_resolved_by_theirs_although_agents_recreate_the_brain() {
    let folder = folder();
    let daemon = Daemon::start(folder.path());
    let client = daemon.client().await;
    create_bare(&client, "b").await;
    ingest(&client, "b", &["one", "two"]).await;
    let theirs = fs::read(at(folder.path(), "b")).unwrap();
    let over = Arc::new(AtomicBool::new(false));
    let mut agents = Vec::new();
    for _ in 0..3 {
        let (client, over) = (daemon.client().await, over.clone());
        agents.push(tokio::spawn(async move {
            let mut made = 0;
            while !over.load(Ordering::Relaxed) {
                let request = v1::CreateBrainRequest {
                    brain: "b".into(),
                    ..Default::default()
                };
                made += u64::from(client.brains().create_brain(request).await.is_ok());
            }
            made
        }));
    }
    for round in 0..5 {
        ingest(&client, "b", &["three"]).await;
        let kept = conflict(&client, folder.path(), &theirs, "b").await;
        let taken = resolve(&client, &kept.file, Action::Take(true))
            .await
            .unwrap();
        assert_eq!(events(&client, "b").await, 2, "round {round}");
        // Ours is kept whole.
        let name = format!("ours-{round}");
        resolve(&client, &taken.kept_file, Action::RestoreAs(name.clone()))
            .await
            .unwrap();
        assert_eq!(events(&client, &name).await, 3, "round {round}");
        assert_eq!(files(&client).await, []);
    }
    over.store(true, Ordering::Relaxed);
    for agent in agents {
        assert_eq!(agent.await.unwrap(), 0, "there was no brain for a moment");
    }
}

#[tokio::test]
async fn an_erase_waits_for_a_quarantined_file_that_has_the_event() {
    let folder = folder();
    let daemon = Daemon::start(folder.path());
    let client = daemon.client().await;
    create_bare(&client, "b").await;
    ingest(&client, "b", &["qwertzuiopasdf", "stays"]).await;
    let earlier = fs::read(at(folder.path(), "b")).unwrap();
    let kept = conflict(&client, folder.path(), &earlier, "b").await;
    let erase = |id| erase(&client, "b", id);
    check_refused(
        "kept",
        erase(0).await,
        Code::FailedPrecondition,
        "KEPT_FILE",
        &[],
    );
    assert!(!files_with(folder.path(), b"qwertzuiopasdf").is_empty());
    // What it has not does not matter to it.
    ingest(&client, "b", &["yxcvbnmasdfghj"]).await;
    erase(2).await.unwrap();
    resolve(&client, &kept.file, Action::Discard(true))
        .await
        .unwrap();
    erase(0).await.unwrap();
    for gone in ["qwertzuiopasdf", "yxcvbnmasdfghj"] {
        assert!(
            files_with(folder.path(), gone.as_bytes()).is_empty(),
            "{gone}"
        );
    }
    assert!(!files_with(folder.path(), b"stays").is_empty());
}

#[tokio::test]
async fn an_erase_of_a_merged_event_waits_for_quarantined_files_of_its_origin() {
    let folder = folder();
    let daemon = Daemon::start(folder.path());
    let client = daemon.client().await;
    for (name, text) in [("ours", "stays"), ("theirs", "qwertzuiopasdf")] {
        create_bare(&client, name).await;
        ingest(&client, name, &[text]).await;
    }
    merge(
        &client,
        "ours",
        From::FromBrain("theirs".into()),
        false,
        &[],
    )
    .await
    .unwrap();
    let erase = |id| erase(&client, "ours", id);
    let earlier = fs::read(at(folder.path(), "theirs")).unwrap();
    for name in ["ours", "theirs"] {
        let kept = conflict(&client, folder.path(), &earlier, name).await;
        check_refused(
            name,
            erase(1).await,
            Code::FailedPrecondition,
            "KEPT_FILE",
            &[],
        );
        resolve(&client, &kept.file, Action::Discard(true))
            .await
            .unwrap();
    }
    // The other brain has it still. Files of one that has nothing of it, and damaged ones of others, block nothing.
    create_bare(&client, "unrelated").await;
    ingest(&client, "unrelated", &["something else"]).await;
    let unrelated = fs::read(at(folder.path(), "unrelated")).unwrap();
    conflict(&client, folder.path(), &unrelated, "unrelated").await;
    let text = b"qwertzuiopasdf";
    let found = earlier.windows(text.len()).position(|part| part == text);
    let mut damaged = earlier;
    damaged[found.unwrap()..][..text.len()].fill(7);
    for name in ["ours", "theirs"] {
        put(folder.path(), &damaged, name);
        let kept = until("no conflict", || async {
            let mut files = files(&client).await.into_iter();
            files.find(|file| file.brain == name)
        })
        .await;
        if name == "ours" {
            let refused = erase(1).await;
            check_refused(
                "damaged",
                refused,
                Code::FailedPrecondition,
                "KEPT_FILE",
                &[],
            );
            resolve(&client, &kept.file, Action::Discard(true))
                .await
                .unwrap();
        }
    }
    erase(1).await.unwrap();
    let found = files_with(folder.path(), text);
    let [ours, theirs] = ["ours", "theirs"].map(|name| at(folder.path(), name));
    assert!(
        !found.contains(&ours) && found.contains(&theirs),
        "{found:?}"
    );
}

#[tokio::test]
async fn a_file_with_impossible_edges_stays_until_it_is_removed() {
    let folder = folder();
    let daemon = Daemon::start(folder.path());
    let client = daemon.client().await;
    let mut graph = random::graph(3);
    let secret = "a secret that stands in one event alone";
    graph.events[1].text = secret.into();
    let first = graph.events[0].id;
    graph.edges[0].created_at = Micros(-5);
    graph.edges.push(Edge {
        source: first,
        target: first,
        edge_type: EdgeType::RELATED_TO,
        weight: 0.5,
        created_at: Micros(1_500_000_000_000_000),
    });
    graph.edges.sort_by_key(|edge| (edge.source, edge.target));
    let mut reference = Vec::new();
    write_compatible(&graph, CompatOptions::default(), &mut reference).unwrap();
    fs::write(at(folder.path(), "theirs"), &reference).unwrap();
    until("not adopted", || brain(&client, "theirs")).await;
    let [original] = &files(&client).await[..] else {
        panic!("the original is kept, as the brain has not all of it")
    };
    assert_eq!(original.reason(), v1::KeptReason::Original);
    let options = v1::MergeOptions {
        brain: "theirs".into(),
        dry_run: true,
        from: Some(v1::merge_options::From::FromKeptFile(original.file.clone())),
        ..Default::default()
    };
    let part = v1::MergeBrainRequest {
        part: Some(v1::merge_brain_request::Part::Options(options)),
    };
    let merged = client
        .brains()
        .merge_brain(tokio_stream::iter([part]))
        .await;
    let merged = merged.unwrap().into_inner();
    assert_eq!((merged.dropped_edges, merged.changed_values), (1, 1));
    let name = Action::RestoreAs("again".into());
    let restored = resolve(&client, &original.file, name).await.unwrap();
    assert_eq!((restored.dropped_edges, restored.changed), (1, 1));
    assert_eq!(restored.original, original.file);
    resolve(&client, &original.file, Action::Take(true))
        .await
        .unwrap();
    let left = files(&client).await;
    assert!(
        left.iter().any(|file| file.file == original.file),
        "{left:?}"
    );
    for file in left.iter().filter(|file| file.file != original.file) {
        resolve(&client, &file.file, Action::Discard(true))
            .await
            .unwrap();
    }
    let again = brain(&client, "again").await.unwrap();
    client
        .brains()
        .remove_brain(v1::RemoveBrainRequest {
            brain: "again".into(),
            instance: again.moment.unwrap().instance,
        })
        .await
        .unwrap();

    // Events stand in the order of their times there.
    let request = v1::GetEventsRequest {
        brain: "theirs".into(),
        event_ids: (0..graph.events.len() as u64).collect(),
        ..Default::default()
    };
    let stored = client.queries().get_events(request).await.unwrap();
    let mut stored = stored.into_inner().events.into_iter();
    let id = stored.find(|event| event.text == secret).unwrap().id;

    // It has no lineage, and has what the brain was made of: an erase would leave that there.
    let erase = || async {
        let request = v1::EraseRequest {
            brain: "theirs".into(),
            event_ids: vec![id],
            ..Default::default()
        };
        client.memory().erase(request).await
    };
    let refused = erase().await.map(drop);
    let words = [&*original.file, "quarantined file"];
    check_refused(
        "erase",
        refused,
        Code::FailedPrecondition,
        "KEPT_FILE",
        &words,
    );
    // What only the brain has blocks nothing.
    ingest(&client, "theirs", &["of our own"]).await;
    let ours = graph.events.len() as u64;
    let request = v1::EraseRequest {
        brain: "theirs".into(),
        event_ids: vec![ours],
        ..Default::default()
    };
    client.memory().erase(request).await.unwrap();
    resolve(&client, &original.file, Action::Discard(true))
        .await
        .unwrap();
    erase().await.unwrap();
    let left = files_with(folder.path(), secret.as_bytes());
    assert!(left.is_empty(), "{left:?}");
}

#[tokio::test]
async fn a_file_that_lacks_answered_writes_is_not_adopted_and_stays_unchanged() {
    let folder = folder();
    let daemon = Daemon::start(folder.path());
    let client = daemon.client().await;
    create_bare(&client, "b").await;
    for text in ["first of the journal", "second of the journal"] {
        ingest(&client, "b", &[text]).await;
    }
    let mut bytes = fs::read(at(folder.path(), "b")).unwrap();
    let first = b"first of the journal";
    let place = bytes
        .windows(first.len())
        .position(|window| window == first);
    bytes[place.unwrap()] ^= 1;
    fs::write(at(folder.path(), "damaged"), &bytes).unwrap();
    let refused = until("not refused", || async {
        let status = client.admin().get_status(v1::GetStatusRequest {}).await;
        let problems = status.unwrap().into_inner().problems;
        problems
            .into_iter()
            .find(|problem| problem.brain == "damaged")
    });
    let refused = refused.await;
    assert!(refused.message.contains("amemctl repair"), "{refused:?}");
    assert_eq!(fs::read(at(folder.path(), "damaged")).unwrap(), bytes);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_brain_removed_while_the_daemon_stops_is_saved() {
    for is_taken in [false, true] {
        for is_asked_for in [true, false] {
            let what = format!("taken {is_taken}, asked for {is_asked_for}");
            let folder = folder();
            let start = || Daemon::start(folder.path());
            let mut daemon = start();
            create_bare(&daemon.client().await, "b").await;
            let earlier = fs::read(at(folder.path(), "b")).unwrap();
            ingest(&daemon.client().await, "b", &["qwertzuiopasdf"]).await;
            if !is_asked_for {
                daemon.stop();
                daemon = start();
            }
            if is_taken {
                fs::write(folder.path().join("copy"), &earlier).unwrap();
                fs::rename(folder.path().join("copy"), at(folder.path(), "b")).unwrap();
            } else {
                fs::remove_file(at(folder.path(), "b")).unwrap()
            }
            daemon.stop();
            assert_eq!(
                files_with(folder.path(), b"qwertzuiopasdf").len(),
                1,
                "{what}"
            );
            let daemon = start();
            let client = daemon.client().await;
            let kept = files(&client).await;
            assert_eq!(kept.len(), 1, "{what}: {kept:?}");
            if is_taken {
                assert_eq!(kept[0].reason(), v1::KeptReason::Conflict, "{what}");
                assert_eq!(events(&client, "b").await, 1, "{what}");
            } else {
                assert_eq!(kept[0].reason(), v1::KeptReason::Recovered, "{what}");
            }
        }
    }
}
