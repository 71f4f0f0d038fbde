//! Following commits across kills of the daemon.

use amem_client::v1;
use amem_client::v1::change::Change;
use tonic::Code;

use crate::kit::{Kit, check, fact};

/// The texts of the events that a commit made.
fn texts(commit: &v1::SubscribeResponse) -> Vec<String> {
    let events = commit
        .changes
        .iter()
        .filter_map(|change| match &change.change {
            Some(Change::Event(event)) => Some(event.text.clone()),
            _ => None,
        });
    events.collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_commit_arrives_once_and_in_order_across_daemon_failures() {
    const COMMITS: usize = 120;
    let mut kit = Kit::new();
    let brain = kit.brain("b").await;
    let follower = kit.client().await.brain("b").await.unwrap();
    let mut commits = follower.follow(Some(0));
    let writing = tokio::spawn(async move {
        for n in 0..COMMITS {
            brain
                .ingest(vec![fact(format!("commit {n}"))])
                .await
                .unwrap();
        }
    });
    let (mut found, mut last, mut kills) = (Vec::new(), 0, 0);
    while found.len() < COMMITS {
        let commit = commits.next().await.unwrap();
        let lsn = commit.moment.as_ref().unwrap().lsn;
        assert!(lsn > last, "{lsn} after {last}");
        assert_eq!(commits.after_lsn(), Some(lsn));
        last = lsn;
        for text in texts(&commit) {
            // What was followed is seen by every later read.
            let id = found.len() as u64;
            assert_eq!(follower.get(&[id]).await.unwrap()[0].text, text);
            found.push(text);
        }
        if found.len() >= (kills + 1) * 30 && kills < 3 {
            kit.kill();
            kit.restart();
            kills += 1;
        }
    }
    writing.await.unwrap();
    let expected: Vec<_> = (0..COMMITS).map(|n| format!("commit {n}")).collect();
    assert_eq!((found, kills), (expected, 3));
}

#[tokio::test]
async fn a_large_commit_arrives_whole_and_an_lsn_of_another_brain_is_refused() {
    let kit = Kit::new();
    let brain = kit.brain("b").await;
    let text = "x".repeat(300_000);
    let events = (0..12).map(|n| fact(format!("{n} {text}"))).collect();
    let done = brain.ingest(events).await.unwrap();
    let mut commits = brain.follow(Some(0));
    while commits.after_lsn() < done.commit.as_ref().map(|commit| commit.lsn) {
        let commit = commits.next().await.unwrap();
        assert!(!commit.more);
        assert!(matches!(texts(&commit).len(), 0 | 12));
    }
    let foreign = v1::SubscribeRequest {
        after_lsn: Some(0),
        instance: "77b45dbc-bbd2-40a0-9f3f-2e7eae8f43d9".into(),
        ..Default::default()
    };
    let refused = brain.follow_with(foreign).next().await;
    check(
        refused,
        Code::FailedPrecondition,
        "FOREIGN_INSTANCE",
        "77b45dbc",
    );
    let refused = brain.follow(Some(1_000)).next().await;
    check(refused, Code::OutOfRange, "UNKNOWN_LSN", "1000");
}
