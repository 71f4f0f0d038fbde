//! Calls that are lost with their daemon: begun again, done once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use amem_client::{Retry, v1};
use tonic::Code;

use crate::kit::{Kit, check, fact};

/// Daemons that die under each of the writers' ways.
const KILLS: u64 = 20;

#[tokio::test(flavor = "multi_thread")]
async fn changes_left_unanswered_by_a_dying_daemon_are_executed_once() {
    const WRITERS: u64 = 4;
    let mut kit = Kit::new();
    kit.brain("b").await;
    let is_enough = Arc::new(AtomicBool::new(false));
    let mut writers = Vec::new();
    for writer in 0..WRITERS {
        let brain = kit.client().await.brain("b").await.unwrap();
        let is_enough = is_enough.clone();
        writers.push(tokio::spawn(async move {
            let mut ids = Vec::new();
            while !is_enough.load(Ordering::Relaxed) {
                let text = format!("writer {writer} change {}", ids.len());
                ids.extend(brain.ingest(vec![fact(text)]).await.unwrap().event_ids);
            }
            ids
        }));
    }
    let watcher = kit.client().await.brain("b").await.unwrap();
    for kill in 1..=KILLS {
        // Each daemon has done something before it dies.
        let done = || watcher.reader().and_then(|reader| reader.view().ok());
        while done().is_none_or(|view| view.nodes() < kill * 5) {
            // A daemon that recovers may put the brain into another file: asking finds it.
            drop(watcher.get(&[]).await);
            tokio::task::yield_now().await;
        }
        kit.kill();
        kit.restart();
    }
    is_enough.store(true, Ordering::Relaxed);
    let mut ids = Vec::new();
    for writer in writers {
        ids.extend(writer.await.unwrap());
    }
    ids.sort_unstable();
    // Each change has its own event, and there is no other.
    let count = ids.len() as u64;
    assert!(count >= KILLS * 5, "{count}");
    assert_eq!(ids, (0..count).collect::<Vec<_>>());
    let all = v1::PatternRequest {
        page_size: 10_000,
        ..Default::default()
    };
    let all = watcher.by_call().ask(all).await.unwrap();
    assert_eq!(all.events.len() as u64, count);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_ingest_resumes_where_its_stream_broke() {
    const BATCHES: usize = 300;
    let mut kit = Kit::new();
    let brain = kit.brain("b").await;
    let batch = |n: usize| v1::IngestRequest {
        events: match n {
            // One that is refused costs only itself.
            50 => vec![fact("")],
            _ => (0..5)
                .map(|at| fact(format!("batch {n} event {at}")))
                .collect(),
        },
        ..Default::default()
    };
    let (told, mut outcomes) = tokio::sync::mpsc::unbounded_channel();
    let ingesting = tokio::spawn({
        let brain = brain.clone();
        async move {
            let answered = move |at, outcome| drop(told.send((at, outcome)));
            brain.ingest_all((0..BATCHES).map(batch), answered).await
        }
    });
    let mut ids: Vec<Option<Vec<u64>>> = vec![None; BATCHES];
    let (mut count, mut kills) = (0, 0);
    while let Some((at, outcome)) = outcomes.recv().await {
        count += 1;
        match outcome {
            Ok(done) => {
                let done: v1::IngestResponse = done;
                assert!(ids[at].replace(done.event_ids).is_none(), "{at} twice");
            }
            Err(refusal) => {
                assert_eq!(at, 50);
                check::<()>(Err(refusal), Code::InvalidArgument, "INVALID", "text");
            }
        }
        if count % 12 == 6 && kills < KILLS {
            kit.kill();
            kit.restart();
            kills += 1;
        }
    }
    assert_eq!(kills, KILLS);
    ingesting.await.unwrap().unwrap();
    assert_eq!(count, BATCHES);
    for (n, ids) in ids.iter().enumerate() {
        let Some(ids) = ids else { continue };
        let events = brain.get(ids).await.unwrap();
        assert_eq!(events[4].text, format!("batch {n} event 4"));
    }
    let all = v1::PatternRequest {
        page_size: 10_000,
        ..Default::default()
    };
    let all = brain.by_call().ask(all).await.unwrap();
    assert_eq!(all.events.len(), (BATCHES - 1) * 5);
}

#[tokio::test]
async fn a_call_that_cannot_be_retried_reports_the_lost_connection() {
    let mut kit = Kit::new();
    kit.brain("b").await;
    let once = Retry {
        until: Duration::ZERO,
        ..Retry::default()
    };
    let brain = kit
        .client()
        .await
        .with_retry(once)
        .brain("b")
        .await
        .unwrap();
    brain.ingest(vec![fact("one")]).await.unwrap();
    kit.kill();
    let lost = brain.ingest(vec![fact("two")]).await;
    check(lost, Code::Unavailable, "CONNECTION_LOST", "was lost");
    // What can be read without a daemon is read.
    assert_eq!(brain.get(&[0]).await.unwrap()[0].text, "one");
    check(
        brain.flush().await,
        Code::Unavailable,
        "CONNECTION_LOST",
        "was lost",
    );
}
