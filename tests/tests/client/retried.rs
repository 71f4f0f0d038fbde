//! Calls that are lost with their daemon: begun again, done once.

use std::time::Duration;

use amem_client::{Retry, v1};
use tonic::Code;

use crate::kit::{Kit, check, fact};

#[tokio::test(flavor = "multi_thread")]
async fn changes_that_a_dying_daemon_leaves_unanswered_are_done_once() {
    const WRITERS: u64 = 4;
    const CHANGES: u64 = 60;
    let mut kit = Kit::new();
    kit.brain("b").await;
    let mut writers = Vec::new();
    for writer in 0..WRITERS {
        let brain = kit.client().await.brain("b").await.unwrap();
        writers.push(tokio::spawn(async move {
            let mut ids = Vec::new();
            for n in 0..CHANGES {
                let text = format!("writer {writer} change {n}");
                ids.extend(brain.ingest(vec![fact(text)]).await.unwrap().event_ids);
            }
            ids
        }));
    }
    let watcher = kit.client().await.brain("b").await.unwrap();
    let mut kills = 0;
    while !writers.iter().all(tokio::task::JoinHandle::is_finished) {
        let done = watcher.reader().unwrap().view().unwrap().nodes();
        if done >= (kills + 1) * 40 && kills < 5 {
            kit.kill();
            kit.restart();
            kills += 1;
        }
        tokio::task::yield_now().await;
    }
    let mut ids = Vec::new();
    for writer in writers {
        ids.extend(writer.await.unwrap());
    }
    ids.sort_unstable();
    // Each change has its own event, and there is no other.
    assert_eq!(ids, (0..WRITERS * CHANGES).collect::<Vec<_>>());
    let all = v1::PatternRequest {
        page_size: 10_000,
        ..Default::default()
    };
    let all = watcher.by_call().ask(all).await.unwrap();
    assert_eq!(all.events.len() as u64, WRITERS * CHANGES);
    println!("{kills} kills");
    assert!(kills > 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_ingest_goes_on_where_its_stream_broke() {
    const BATCHES: usize = 120;
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
    let mut count = 0;
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
        if count % 40 == 20 {
            kit.kill();
            kit.restart();
        }
    }
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
async fn a_call_that_may_not_be_begun_again_says_that_its_connection_was_lost() {
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
