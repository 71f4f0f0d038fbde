//! `kill -9` under load: what was answered is there, what was not is there once or not at all.

use std::collections::HashMap;

use amem_client::{Client, v1};
use tonic::Code;
use uuid::Uuid;

use crate::process::{Daemon, check_refused, create_bare, facts, folder, ingest};

const KILLS: u32 = 12;
const WRITERS: u32 = 4;

/// A batch that was sent, and what is known of it.
#[derive(Clone)]
struct SentBatch {
    request: v1::IngestRequest,
    /// The ids, if it was answered.
    ids: Option<Vec<u64>>,
}

fn batch(round: u32, writer: u32, n: u32) -> v1::IngestRequest {
    let texts = [0, 1, 2].map(|k| format!("round {round} writer {writer} batch {n} event {k}"));
    let mut request = facts("b", &texts.each_ref().map(String::as_str));
    request.options = Some(v1::WriteOptions {
        agent: format!("writer-{writer}"),
        request_id: Uuid::now_v7().to_string(),
        ..Default::default()
    });
    request
}

/// Sends batches until the daemon dies; the last one was not answered.
async fn write(client: Client, round: u32, writer: u32) -> Vec<SentBatch> {
    let mut sent = Vec::new();
    for n in 0.. {
        let request = batch(round, writer, n);
        let answer = client.memory().ingest(request.clone()).await;
        let ids = answer.ok().map(|done| done.into_inner().event_ids);
        let is_last = ids.is_none();
        sent.push(SentBatch { request, ids });
        if is_last {
            break;
        }
    }
    sent
}

#[tokio::test(flavor = "multi_thread")]
async fn after_a_kill_every_answered_write_is_there_and_no_retry_is_duplicated() {
    let folder = folder();
    let mut all: Vec<SentBatch> = Vec::new();
    let (mut answered, mut replayed) = (0, 0);
    for round in 0..KILLS {
        let daemon = Daemon::start(folder.path());
        let client = daemon.client().await;
        if round == 0 {
            create_bare(&client, "b").await;
        }
        // What the last kill left open is asked again, and so is something that was answered.
        for sent in all.iter_mut().rev().take(3 * WRITERS as usize) {
            let answer = client.memory().ingest(sent.request.clone()).await;
            let done = answer.unwrap().into_inner();
            let again = done.commit.unwrap().replayed;
            if let Some(ids) = &sent.ids {
                assert!(again, "an answered batch was executed again");
                assert_eq!(*ids, done.event_ids);
            }
            replayed += u32::from(again);
            sent.ids = Some(done.event_ids);
        }
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| tokio::spawn(write(client.clone(), round, writer)))
            .collect();
        // It dies while all of them write, some rounds in the middle of a checkpoint.
        let reader = client.open("b").await.unwrap().reader.unwrap();
        let enough = reader.view().unwrap().nodes() + 60 + u64::from(round) * 7;
        let folding = (round % 3 == 1).then(|| {
            let client = client.clone();
            tokio::spawn(async move {
                let request = v1::CheckpointBrainRequest { brain: "b".into() };
                client.brains().checkpoint_brain(request).await.map(drop)
            })
        });
        while reader.view().unwrap().nodes() < enough {
            tokio::task::yield_now().await;
        }
        daemon.kill();
        if let Some(folding) = folding {
            drop(folding.await.unwrap());
        }
        for writer in writers {
            let sent = writer.await.unwrap();
            answered += sent.iter().filter(|sent| sent.ids.is_some()).count();
            all.extend(sent);
        }
        // The unanswered ones last, so that they are asked again first.
        all.sort_by_key(|sent| sent.ids.is_none());
    }
    let daemon = Daemon::start(folder.path());
    let client = daemon.client().await;
    for sent in all.iter_mut().filter(|sent| sent.ids.is_none()) {
        let answer = client.memory().ingest(sent.request.clone()).await;
        sent.ids = Some(answer.unwrap().into_inner().event_ids);
    }
    let view = client
        .open("b")
        .await
        .unwrap()
        .reader
        .unwrap()
        .view()
        .unwrap();
    let mut times: HashMap<String, u32> = HashMap::new();
    for id in 0..view.nodes() {
        let node = view.node(amem_client::core::NodeId(id)).unwrap();
        *times.entry(node.text().unwrap().into_owned()).or_default() += 1;
    }
    for sent in &all {
        for (event, id) in sent.request.events.iter().zip(sent.ids.as_ref().unwrap()) {
            let node = view.node(amem_client::core::NodeId(*id)).unwrap();
            assert_eq!(node.text().unwrap(), event.text);
            assert_eq!(times.remove(&event.text), Some(1), "{}", event.text);
        }
    }
    assert!(times.is_empty(), "nobody wrote {times:?}");
    println!(
        "{KILLS} kills, {answered} batches answered, {replayed} answered again, 0 lost, 0 doubled"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_id_is_for_one_request_across_restarts() {
    let folder = folder();
    let daemon = Daemon::start(folder.path());
    let client = daemon.client().await;
    create_bare(&client, "b").await;
    let request = batch(0, 0, 0);
    let first = client.memory().ingest(request.clone()).await.unwrap();
    assert!(daemon.stop().success());

    let daemon = Daemon::start(folder.path());
    let client = daemon.client().await;
    let again = client.memory().ingest(request.clone()).await.unwrap();
    let (first, again) = (first.into_inner(), again.into_inner());
    assert_eq!(first.event_ids, again.event_ids);
    let (first, again) = (first.commit.unwrap(), again.commit.unwrap());
    assert_eq!((first.lsn, first.instance), (again.lsn, again.instance));
    assert!(again.replayed && !first.replayed);
    let mut other = request;
    other.events[0].text.push('!');
    let status = client.memory().ingest(other).await.unwrap_err();
    assert_eq!(status.code(), Code::AlreadyExists, "{status}");
}

#[tokio::test]
async fn a_brain_whose_file_is_removed_is_saved_and_the_next_write_reports_it() {
    let folder = folder();
    let daemon = Daemon::start(folder.path());
    let client = daemon.client().await;
    create_bare(&client, "b").await;
    ingest(&client, "b", &["one", "two"]).await;
    std::fs::remove_file(folder.path().join("b.amem")).unwrap();
    let answer = client.memory().ingest(facts("b", &["three"])).await;
    check_refused(
        "gone",
        answer,
        Code::Unavailable,
        "REPLACED",
        &["recovered"],
    );
    let saved: Vec<_> = std::fs::read_dir(folder.path().join(".amemd/recovered"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    assert_eq!(saved.len(), 1);
    let view = amem_client::Reader::open_copy(&saved[0]).unwrap();
    assert_eq!(view.nodes(), 2);
    // The name is free from then on.
    let gone = loop {
        match client.memory().ingest(facts("b", &["four"])).await {
            Err(status) if status.code() == Code::Unavailable => {}
            answer => break answer,
        }
    };
    check_refused("name", gone, Code::NotFound, "UNKNOWN_BRAIN", &[]);
    create_bare(&client, "b").await;
}
