//! Idle brains are closed, and no caller notices.

use std::time::{Duration, Instant};

use amem_client::{Client, v1};

use crate::process::{Daemon, create_bare, folder, get, ingest};

const BRIEF: [&str; 2] = ["--set", "limits.idle_close_secs=1"];

async fn open_brains(client: &Client) -> usize {
    let status = client.admin().get_status(v1::GetStatusRequest {}).await;
    status.unwrap().into_inner().brains.len()
}

async fn until_closed(client: &Client) {
    let began = Instant::now();
    while open_brains(client).await > 0 {
        assert!(began.elapsed() < Duration::from_secs(20), "it stays open");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn an_idle_brain_is_closed_and_reopened_and_its_readers_continue() {
    let folder = folder();
    let daemon = Daemon::start_with(folder.path(), &BRIEF);
    let client = daemon.client().await;
    create_bare(&client, "b").await;
    ingest(&client, "b", &["one"]).await;
    let reader = client.open("b").await.unwrap().reader.unwrap();
    until_closed(&client).await;
    assert_eq!(reader.view().unwrap().nodes(), 1);
    let lsn = ingest(&client, "b", &["two"]).await.commit.unwrap().lsn;
    let view = reader.view().unwrap();
    assert_eq!((view.nodes(), view.lsn().0), (2, lsn));
    let jobs = client
        .admin()
        .list_jobs(v1::ListJobsRequest::default())
        .await;
    let jobs = jobs.unwrap().into_inner().jobs;
    assert!(jobs.is_empty(), "nothing had to be recovered: {jobs:?}");
}

#[tokio::test]
async fn a_brain_with_a_subscriber_stays_open_and_touches_are_counted_before_it_closes() {
    let folder = folder();
    let daemon = Daemon::start_with(folder.path(), &BRIEF);
    let client = daemon.client().await;
    create_bare(&client, "b").await;
    ingest(&client, "b", &["one"]).await;
    let request = v1::SubscribeRequest {
        brain: "b".into(),
        ..Default::default()
    };
    let commits = client.memory().subscribe(request).await.unwrap();
    create_bare(&client, "other").await;
    let began = Instant::now();
    while open_brains(&client).await > 1 {
        assert!(began.elapsed() < Duration::from_secs(20));
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let status = client.admin().get_status(v1::GetStatusRequest {}).await;
    let brains = status.unwrap().into_inner().brains;
    assert_eq!((brains[0].brain.as_str(), brains[0].subscribers), ("b", 1));
    drop(commits);
    get(&client, "b", &[0]).await;
    until_closed(&client).await;
    assert_eq!(get(&client, "b", &[0]).await[0].access_count, 1);
}

#[tokio::test]
async fn a_daemon_that_starts_has_recovered_every_brain_and_closed_it_again() {
    let folder = folder();
    let daemon = Daemon::start(folder.path());
    let client = daemon.client().await;
    for name in ["a", "b", "c"] {
        create_bare(&client, name).await;
        ingest(&client, name, &["one"]).await;
    }
    daemon.kill();
    let daemon = Daemon::start(folder.path());
    let client = daemon.client().await;
    assert_eq!(open_brains(&client).await, 0);
    let jobs = client
        .admin()
        .list_jobs(v1::ListJobsRequest::default())
        .await;
    let jobs = jobs.unwrap().into_inner().jobs;
    let mut recovered: Vec<_> = jobs
        .iter()
        .map(|job| (job.brain.as_str(), job.state()))
        .collect();
    recovered.sort_unstable();
    let done = v1::JobState::Done;
    assert_eq!(recovered, [("a", done), ("b", done), ("c", done)]);
    assert_eq!(get(&client, "b", &[0]).await[0].text, "one");
}
