//! The outcomes of the batches of an ingest: of each that was taken, once, with the id for a retry.

use std::time::Duration;

use amem_client::{Refusal, Retry, v1};
use tonic::Code;

use crate::kit::{Kit, check, fact};

type Outcomes = Vec<(usize, Result<v1::IngestResponse, Refusal>)>;

fn batch(text: &str) -> v1::IngestRequest {
    v1::IngestRequest {
        events: vec![fact(text)],
        ..Default::default()
    }
}

#[tokio::test]
async fn a_batch_that_cannot_be_sent_is_refused_alone() {
    let kit = Kit::new();
    let brain = kit.brain("b").await;
    let mut batches: Vec<_> = (0..12).map(|n| batch(&format!("{n}"))).collect();
    batches[3].brain = "other".into();
    batches[5].events = (0..5).map(|_| fact("x".repeat(1 << 20))).collect();
    let mut told: Outcomes = Vec::new();
    brain
        .ingest_all(batches, |at, outcome| told.push((at, outcome)))
        .await
        .unwrap();
    told.sort_by_key(|told| told.0);
    for (n, (at, outcome)) in told.into_iter().enumerate() {
        assert_eq!(at, n);
        match n {
            3 => check(outcome, Code::InvalidArgument, "INVALID", "omit the name"),
            5 => check(outcome, Code::ResourceExhausted, "MESSAGE_SIZE", "split it"),
            _ => assert_eq!(outcome.unwrap().event_ids.len(), 1),
        }
    }
    assert_eq!(
        brain.get(&(0..10).collect::<Vec<_>>()).await.unwrap().len(),
        10
    );
}

#[tokio::test]
async fn every_accepted_batch_gets_an_outcome_when_the_daemon_does_not_return() {
    let mut kit = Kit::new();
    kit.brain("b").await;
    let once = Retry {
        until: Duration::ZERO,
        ..Retry::default()
    };
    let client = kit.client().await.with_retry(once);
    let brain = client.brain("b").await.unwrap();
    let mut taken = 0;
    let batches = (0..100).map(|n| {
        taken += 1;
        if n == 20 {
            kit.kill();
        }
        batch(&format!("{n}"))
    });
    let mut told: Outcomes = Vec::new();
    let ended = brain.ingest_all(batches, |at, outcome| told.push((at, outcome)));
    check(ended.await, Code::Unavailable, "CONNECTION_LOST", "lost");
    told.sort_by_key(|told| told.0);
    assert_eq!(told.len(), taken);
    assert!((20..100).contains(&taken), "{taken}");
    let (mut ids, mut unknown) = (Vec::new(), 0);
    for (n, (at, outcome)) in told.into_iter().enumerate() {
        assert_eq!(at, n);
        if let Err(refusal) = outcome {
            unknown += usize::from(refusal.reason == "OUTCOME_UNKNOWN");
            ids.push((n, refusal.metadata["request_id"].clone()));
        }
    }
    assert!(unknown > 0);
    // With their ids they can be asked for again, and are done once.
    kit.restart();
    let brain = kit.client().await.brain("b").await.unwrap();
    for (n, request_id) in ids {
        let mut change = batch(&format!("{n}"));
        change.options.get_or_insert_default().request_id = request_id;
        brain.write(change).await.unwrap();
    }
    let all = v1::PatternRequest {
        page_size: 10_000,
        ..Default::default()
    };
    assert_eq!(brain.ask(all).await.unwrap().events.len(), taken);
}

#[tokio::test]
async fn an_unanswered_write_returns_its_request_id() {
    let mut kit = Kit::new();
    kit.brain("b").await;
    let once = Retry {
        until: Duration::ZERO,
        ..Retry::default()
    };
    let client = kit.client().await.with_retry(once);
    let brain = client.brain("b").await.unwrap();
    kit.kill();
    let refusal = brain.write(batch("one")).await.unwrap_err();
    let request_id = refusal.metadata["request_id"].clone();
    kit.restart();
    let brain = kit.client().await.brain("b").await.unwrap();
    let mut again = batch("one");
    again.options.get_or_insert_default().request_id = request_id;
    let done = brain.write(again.clone()).await.unwrap();
    let commit = brain.write(again).await.unwrap().commit.unwrap();
    assert_eq!(commit.lsn, done.commit.unwrap().lsn);
    assert!(commit.replayed);
}
