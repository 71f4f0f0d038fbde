//! What the daemon does by itself.

use std::os::unix::fs::FileExt;

use amem_client::{Client, v1};
use tonic::Code;

use crate::process::{Daemon, check_refused, create_bare, folder, get, ingest};
use crate::watch::{at, until};

pub(crate) async fn set(client: &Client, settings: &str) {
    let request = v1::SetSettingsRequest {
        brain: "b".into(),
        settings_json: settings.into(),
        ..Default::default()
    };
    client.memory().set_settings(request).await.unwrap();
}

async fn schedules(client: &Client) -> Vec<v1::ScheduledJob> {
    let request = v1::ListSchedulesRequest::default();
    let listed = client.admin().list_schedules(request).await;
    listed.unwrap().into_inner().jobs
}

pub(crate) async fn job(client: &Client, kind: v1::JobKind) -> v1::ScheduledJob {
    let jobs = schedules(client).await;
    jobs.into_iter().find(|job| job.kind() == kind).unwrap()
}

/// Waits until a job has run by itself.
pub(crate) async fn has_run(client: &Client, kind: v1::JobKind) -> v1::ScheduledJob {
    until(kind.as_str_name(), || async {
        let job = job(client, kind).await;
        (job.runs > 0 && !job.running).then_some(job)
    })
    .await
}

pub(crate) async fn run(client: &Client, kind: v1::JobKind) -> Result<String, tonic::Status> {
    let request = v1::RunJobRequest {
        brain: "b".into(),
        kind: kind.into(),
    };
    let answer = client.admin().run_job(request).await;
    answer.map(|answer| answer.into_inner().message)
}

/// An event with an attribute.
async fn expiring(client: &Client, text: &str, expires_at: &str) {
    let event = v1::NewEvent {
        r#type: v1::EventType::Fact.into(),
        text: text.into(),
        attributes_json: format!("{{\"expires_at\":{expires_at}}}"),
        ..Default::default()
    };
    let request = v1::IngestRequest {
        brain: "b".into(),
        events: vec![event],
        ..Default::default()
    };
    client.memory().ingest(request).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn scheduled_jobs_run_on_time_and_subscribers_see_their_commits() {
    let folder = folder();
    let daemon = Daemon::start(folder.path());
    let client = daemon.client().await;
    create_bare(&client, "b").await;
    ingest(&client, "b", &["a fact"]).await;
    let follow = v1::SubscribeRequest {
        brain: "b".into(),
        ..Default::default()
    };
    let mut commits = client
        .memory()
        .subscribe(follow)
        .await
        .unwrap()
        .into_inner();
    let waiting = job(&client, v1::JobKind::Decay).await;
    assert_eq!((waiting.schedule.as_str(), waiting.runs), ("every 1d", 0));
    assert!(waiting.next_time.unwrap().seconds > 0);
    set(&client, r#"{"jobs":{"decay":"every 1s"}}"#).await;
    let ran = has_run(&client, v1::JobKind::Decay).await;
    assert!(
        ran.message.contains("1 strength in") && !ran.failed,
        "{ran:?}"
    );
    let decay = loop {
        let commit = commits.message().await.unwrap().unwrap();
        if commit.kind() == v1::CommitKind::Decay {
            break commit;
        }
    };
    assert_eq!(
        (decay.principal.as_str(), decay.agent.as_str()),
        ("amemd", "decay")
    );
    let jobs = client
        .admin()
        .list_jobs(v1::ListJobsRequest::default())
        .await;
    let jobs = jobs.unwrap().into_inner().jobs;
    assert!(
        jobs.iter()
            .any(|job| job.kind() == v1::JobKind::Decay && job.state() == v1::JobState::Done)
    );
    // What is off is off, and the next daemon knows when it was done last.
    set(&client, r#"{"jobs":{"decay":"off"}}"#).await;
    let off = job(&client, v1::JobKind::Decay).await;
    assert_eq!((off.schedule.as_str(), off.next_time), ("off", None));
    drop(commits);
    assert!(daemon.stop().success());
    let daemon = Daemon::start(folder.path());
    let client = daemon.client().await;
    get(&client, "b", &[0]).await;
    assert!(job(&client, v1::JobKind::Decay).await.last_time.is_some());
}

#[tokio::test]
async fn expired_events_are_forgotten_and_others_stay() {
    let folder = folder();
    let daemon = Daemon::start(folder.path());
    let client = daemon.client().await;
    create_bare(&client, "b").await;
    for (text, at) in [
        ("past", "\"2020-01-01T00:00:00Z\""),
        ("future", "\"2999-01-01T00:00:00Z\""),
        ("no time", "\"soon\""),
        ("a number", "5"),
    ] {
        expiring(&client, text, at).await;
    }
    // More than one portion.
    for _ in 0..70 {
        expiring(&client, "past", "\"2020-01-01T00:00:00Z\"").await;
    }
    let message = run(&client, v1::JobKind::Expiry).await.unwrap();
    assert_eq!(message, "71 events had expired and are forgotten");
    let events = get(&client, "b", &[0, 1, 2, 3, 4]).await;
    let forgotten: Vec<_> = events.iter().map(|event| event.forgotten).collect();
    assert_eq!(forgotten, [true, false, false, false, true]);
    let again = run(&client, v1::JobKind::Expiry).await.unwrap();
    assert_eq!(again, "nothing was to be done");
}

#[tokio::test]
async fn the_session_of_a_departed_agent_is_closed_when_it_is_idle() {
    let folder = folder();
    let daemon = Daemon::start(folder.path());
    let client = daemon.client().await;
    create_bare(&client, "b").await;
    let open = |key: &str| v1::OpenSessionRequest {
        brain: "b".into(),
        key: key.into(),
        ..Default::default()
    };
    let opened = client
        .memory()
        .open_session(open("gone"))
        .await
        .unwrap()
        .into_inner();
    set(
        &client,
        r#"{"jobs":{"close_sessions":"every 1s","session_idle":"1s"}}"#,
    )
    .await;
    has_run(&client, v1::JobKind::CloseSessions).await;
    until("it stays open", || async {
        let close = v1::CloseSessionRequest {
            brain: "b".into(),
            session_id: opened.session_id,
            ..Default::default()
        };
        let refused = client.memory().close_session(close).await.err()?;
        (refused.code() == Code::FailedPrecondition).then_some(())
    })
    .await;
    let request = v1::ListSessionsRequest {
        brain: "b".into(),
        ..Default::default()
    };
    let sessions = client
        .queries()
        .list_sessions(request)
        .await
        .unwrap()
        .into_inner()
        .sessions;
    assert_eq!(sessions[0].outcome, "idle");
}

#[tokio::test]
async fn a_job_runs_on_request_never_twice_at_once_and_reports_its_result() {
    let folder = folder();
    let daemon = Daemon::start(folder.path());
    let client = daemon.client().await;
    create_bare(&client, "b").await;
    ingest(&client, "b", &["a fact"]).await;
    let request = v1::CheckpointBrainRequest { brain: "b".into() };
    client.brains().checkpoint_brain(request).await.unwrap();
    check_refused(
        "no schedule",
        run(&client, v1::JobKind::Verify).await,
        Code::InvalidArgument,
        "INVALID",
        &["decay", "checkpoint"],
    );
    let mut tries = tokio::task::JoinSet::new();
    for _ in 0..8 {
        let client = client.clone();
        tries.spawn(async move { run(&client, v1::JobKind::Scrub).await });
    }
    let mut ran = 0;
    while let Some(answer) = tries.join_next().await {
        match answer.unwrap() {
            Ok(message) => {
                assert!(message.contains("are whole"), "{message}");
                ran += 1;
            }
            Err(status) => assert_eq!(status.code(), Code::Aborted, "{status}"),
        }
    }
    assert!(ran >= 1);
    assert_eq!(job(&client, v1::JobKind::Scrub).await.runs, ran);
    // A byte of a record changes behind the daemon's back.
    let path = at(folder.path(), "b");
    let private = std::os::unix::fs::PermissionsExt::from_mode(0o600);
    std::fs::set_permissions(&path, private).unwrap();
    let file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
    file.write_all_at(&[0xAA], 64 + 20).unwrap();
    let refused = run(&client, v1::JobKind::Scrub).await;
    check_refused(
        "damage",
        refused,
        Code::DataLoss,
        "CORRUPT",
        &["amemctl verify b"],
    );
    let told = job(&client, v1::JobKind::Scrub).await;
    assert!(told.failed && !told.running, "{told:?}");
}

#[tokio::test]
async fn an_ended_session_is_summarised_on_schedule_or_on_request() {
    let folder = folder();
    let daemon = Daemon::start(folder.path());
    let client = daemon.client().await;
    create_bare(&client, "b").await;
    let texts = [
        "The backups of the orders database take four hours",
        "Backups and the database share one disk, which is busy while backups run",
        "The weather is nice today",
        "The database is slow at night because backups keep the disk busy",
        "A neighbour mentioned a bicycle",
    ];
    let session = async |key: &str| {
        let open = v1::OpenSessionRequest {
            brain: "b".into(),
            key: key.into(),
            ..Default::default()
        };
        let session_id = client
            .memory()
            .open_session(open)
            .await
            .unwrap()
            .into_inner()
            .session_id;
        let event = |(at, text): (usize, &&str)| v1::NewEvent {
            r#type: if at == 0 {
                v1::EventType::Decision
            } else {
                v1::EventType::Fact
            }
            .into(),
            text: format!("{text} in {key}"),
            session_id: Some(session_id),
            ..Default::default()
        };
        let request = v1::IngestRequest {
            brain: "b".into(),
            events: texts.iter().enumerate().map(event).collect(),
            ..Default::default()
        };
        client.memory().ingest(request).await.unwrap();
        session_id
    };
    let compress = |session_id: u32, request_id: &str| v1::CompressSessionRequest {
        brain: "b".into(),
        session_id,
        options: Some(v1::WriteOptions {
            request_id: request_id.into(),
            ..Default::default()
        }),
        ..Default::default()
    };
    let first = session("the first talk").await;
    let id = uuid::Uuid::now_v7().to_string();
    let made = client
        .memory()
        .compress_session(compress(first, &id))
        .await
        .unwrap()
        .into_inner();
    assert_eq!(made.edges, 5);
    // Nothing is left to summarise: a retry is answered, another request is refused.
    let retried = client
        .memory()
        .compress_session(compress(first, &id))
        .await
        .unwrap()
        .into_inner();
    assert!(retried.commit.unwrap().replayed && retried.event_id == made.event_id);
    let other = uuid::Uuid::now_v7().to_string();
    check_refused(
        "nothing is left",
        client
            .memory()
            .compress_session(compress(first, &other))
            .await,
        Code::InvalidArgument,
        "INVALID",
        &["session 1 has no event that is not compressed"],
    );
    // The session goes on, and its summary would be another.
    let later = v1::IngestRequest {
        brain: "b".into(),
        events: vec![v1::NewEvent {
            r#type: v1::EventType::Decision.into(),
            text: "Something else was decided later".into(),
            session_id: Some(first),
            ..Default::default()
        }],
        ..Default::default()
    };
    client.memory().ingest(later).await.unwrap();
    let again = client
        .memory()
        .compress_session(compress(first, &id))
        .await
        .unwrap()
        .into_inner();
    assert!(again.commit.unwrap().replayed && again.event_id == made.event_id);
    let episode = get(&client, "b", &[made.event_id]).await.remove(0);
    assert!(
        episode
            .text
            .starts_with("The backups of the orders database"),
        "{}",
        episode.text
    );
    assert_eq!(episode.r#type(), v1::EventType::Episode);
    check_refused(
        "nothing to say",
        client.memory().compress_session(compress(99, "")).await,
        Code::InvalidArgument,
        "INVALID",
        &["session 99 has no event"],
    );
    // By itself, once it has ended.
    let second = session("the second talk").await;
    set(&client, r#"{"jobs":{"compress_after":"1s"}}"#).await;
    assert_eq!(
        run(&client, v1::JobKind::Compression).await.unwrap(),
        "nothing was to be done"
    );
    let close = v1::CloseSessionRequest {
        brain: "b".into(),
        session_id: second,
        ..Default::default()
    };
    client.memory().close_session(close).await.unwrap();
    set(
        &client,
        r#"{"jobs":{"compress":"every 1s","compress_after":"1s"}}"#,
    )
    .await;
    until("it has no summary", || async {
        let event = get(&client, "b", &[made.event_id + 2]).await.remove(0);
        event.compressed.then_some(())
    })
    .await;
    let told = has_run(&client, v1::JobKind::Compression).await;
    assert!(!told.failed, "{told:?}");
}
