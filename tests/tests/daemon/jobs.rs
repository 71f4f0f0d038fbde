//! What a daemon knows of its jobs after a restart, and what its subscribers hear of them.

use amem_client::{Client, v1};

use crate::process::{Daemon, create_bare, folder, get, ingest};
use crate::schedules::{has_run, job, run, set};

async fn subscribe(client: &Client, jobs: bool) -> tonic::Streaming<v1::SubscribeResponse> {
    let request = v1::SubscribeRequest {
        brain: "b".into(),
        include_jobs: jobs,
        ..Default::default()
    };
    let subscribed = client.memory().subscribe(request).await;
    subscribed.unwrap().into_inner()
}

#[tokio::test]
async fn a_jobs_outcome_is_reported_to_callers_that_ask_after_its_commits() {
    let folder = folder();
    let daemon = Daemon::start(folder.path());
    let client = daemon.client().await;
    create_bare(&client, "b").await;
    ingest(&client, "b", &["a fact"]).await;
    let mut told = subscribe(&client, true).await;
    let mut untold = subscribe(&client, false).await;
    for kind in [
        v1::JobKind::Decay,
        v1::JobKind::Checkpoint,
        v1::JobKind::Scrub,
    ] {
        let (mut lsn, mut commits) = (0, Vec::new());
        let said = run(&client, kind).await.unwrap();
        let heard = loop {
            let message = told.message().await.unwrap().unwrap();
            let at = message.moment.as_ref().unwrap().lsn;
            assert!(at >= lsn);
            lsn = at;
            match message.job {
                Some(job) => {
                    assert!(message.changes.is_empty());
                    break job;
                }
                None if message.changes.is_empty() => {}
                None => commits.push(message.kind()),
            }
        };
        assert_eq!(
            (heard.kind(), heard.message.as_str()),
            (kind, said.as_str())
        );
        assert_eq!(
            (heard.state(), heard.brain.as_str()),
            (v1::JobState::Done, "b")
        );
        assert!(heard.start_time.is_some() && heard.end_time.is_some());
        let made = matches!(kind, v1::JobKind::Decay).then_some(v1::CommitKind::Decay);
        assert_eq!(commits, Vec::from_iter(made), "{kind:?}");
    }
    // A run without work is not reported.
    assert_eq!(
        run(&client, v1::JobKind::Expiry).await.unwrap(),
        "nothing was to be done"
    );
    ingest(&client, "b", &["the last"]).await;
    let next = told.message().await.unwrap().unwrap();
    assert_eq!((next.kind(), next.job), (v1::CommitKind::Ingest, None));
    loop {
        let message = untold.message().await.unwrap().unwrap();
        assert_eq!(message.job, None);
        if message.kind() == v1::CommitKind::Ingest {
            break;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_restarted_daemon_has_the_times_of_the_last_runs() {
    let folder = folder();
    let daemon = Daemon::start(folder.path());
    let client = daemon.client().await;
    create_bare(&client, "b").await;
    ingest(&client, "b", &["a fact"]).await;
    set(&client, r#"{"jobs":{"checkpoint":"weekly sun 03:00"}}"#).await;
    let said = run(&client, v1::JobKind::Checkpoint).await.unwrap();
    let last = job(&client, v1::JobKind::Checkpoint).await;
    assert!(said.contains("are in the base of generation"), "{said}");
    assert!(daemon.stop().success());
    for is_whole in [true, false] {
        if !is_whole {
            std::fs::write(folder.path().join(".amemd/jobs.json"), "{").unwrap();
        }
        let daemon = Daemon::start(folder.path());
        let client = daemon.client().await;
        get(&client, "b", &[0]).await;
        let known = job(&client, v1::JobKind::Checkpoint).await;
        assert_eq!(
            (known.schedule.as_str(), known.runs),
            ("weekly sun 03:00", 0)
        );
        if is_whole {
            assert_eq!(
                (known.last_time, known.next_time),
                (last.last_time, last.next_time)
            );
            assert_eq!(known.message, said);
        } else {
            assert!(known.last_time.is_none() && known.next_time.is_some());
        }
        assert!(daemon.stop().success());
    }
}

#[tokio::test]
async fn a_checkpoint_is_made_when_a_schedule_says_so() {
    let folder = folder();
    let daemon = Daemon::start(folder.path());
    let client = daemon.client().await;
    create_bare(&client, "b").await;
    ingest(&client, "b", &["a fact"]).await;
    let off = job(&client, v1::JobKind::Checkpoint).await;
    assert_eq!((off.schedule.as_str(), off.next_time), ("off", None));
    set(&client, r#"{"jobs":{"checkpoint":"every 1s"}}"#).await;
    let ran = has_run(&client, v1::JobKind::Checkpoint).await;
    assert!(!ran.failed, "{ran:?}");
    let status = client.admin().get_status(v1::GetStatusRequest {}).await;
    let brain = status.unwrap().into_inner().brains.remove(0);
    assert!(
        brain.generation >= 2 && brain.journal_bytes == 0,
        "{brain:?}"
    );
}
