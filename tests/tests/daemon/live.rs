//! A reader in this process follows the file that the daemon, in another, writes.

use amem_client::core::NodeId;
use amem_client::{Client, Reader, v1};

use crate::process::{Daemon, create_bare, folder, ingest};

/// Each answered commit must be in the next view.
async fn follow(client: Client, reader: &Reader, writer: u32, commits: u32) {
    for n in 0..commits {
        let text = format!("writer {writer} commit {n}");
        let done = ingest(&client, "b", &[&text]).await;
        let view = reader.view().unwrap();
        let lsn = done.commit.unwrap().lsn;
        assert!(view.lsn().0 >= lsn, "{} is before {lsn}", view.lsn());
        let node = view.node(NodeId(done.event_ids[0])).unwrap();
        assert_eq!(node.text().unwrap(), text);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_answered_commit_is_in_the_next_view_across_checkpoints() {
    let folder = folder();
    let daemon = Daemon::start(folder.path());
    let client = daemon.client().await;
    create_bare(&client, "b").await;
    let opened = client.open("b").await.unwrap();
    let reader = std::sync::Arc::new(opened.reader.unwrap());
    assert!(reader.is_live());
    let writers: Vec<_> = (0..3)
        .map(|writer| {
            let (client, reader) = (client.clone(), reader.clone());
            tokio::spawn(async move { follow(client, &reader, writer, 150).await })
        })
        .collect();
    let mut generation = 1;
    while !writers.iter().all(|writer| writer.is_finished()) || generation < 4 {
        let request = v1::CheckpointBrainRequest { brain: "b".into() };
        let made = client.brains().checkpoint_brain(request).await.unwrap();
        let made = made.into_inner().generation;
        assert_eq!(made, generation + 1);
        generation = made;
        // A commit after the answer is in the new file, and the reader is there.
        follow(client.clone(), &reader, 9, 1).await;
        assert_eq!(reader.view().unwrap().identity().generation.0, generation);
    }
    for writer in writers {
        writer.await.unwrap();
    }
    println!("{generation} generations followed");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stopped_daemon_leaves_a_valid_file_and_the_next_one_continues_it() {
    let folder = folder();
    let daemon = Daemon::start(folder.path());
    let client = daemon.client().await;
    create_bare(&client, "b").await;
    let reader = client.open("b").await.unwrap().reader.unwrap();
    ingest(&client, "b", &["one"]).await;
    let socket = daemon.socket.clone();
    assert!(daemon.stop().success());
    assert!(!socket.exists());
    let copy = Reader::open_copy(folder.path().join("b.amem")).unwrap();
    assert_eq!(copy.nodes(), 1);

    let daemon = Daemon::start(folder.path());
    let client = daemon.client().await;
    let done = ingest(&client, "b", &["two"]).await;
    assert_eq!(done.event_ids, [1]);
    let view = reader.view().unwrap();
    assert_eq!(view.nodes(), 2);
}
