//! Subscriptions: every commit once and in order, from now or from before, across checkpoints and restarts.

use amem_client::{Client, v1};
use tonic::{Code, Streaming};

use crate::process::{Daemon, check_refused, create_bare, facts, folder, ingest};

type Commits = Streaming<v1::SubscribeResponse>;

pub(crate) fn after(lsn: Option<u64>) -> v1::SubscribeRequest {
    v1::SubscribeRequest {
        brain: "b".into(),
        after_lsn: lsn,
        ..Default::default()
    }
}

async fn subscribe(client: &Client, lsn: Option<u64>) -> Commits {
    let request = v1::SubscribeRequest {
        instance: instance(client).await,
        ..after(lsn)
    };
    client
        .memory()
        .subscribe(request)
        .await
        .unwrap()
        .into_inner()
}

pub(crate) async fn instance(client: &Client) -> String {
    let request = v1::GetBrainRequest { brain: "b".into() };
    let got = client.brains().get_brain(request).await.unwrap();
    got.into_inner().moment.unwrap().instance
}

/// The next message that has changes.
pub(crate) async fn next(commits: &mut Commits) -> v1::SubscribeResponse {
    loop {
        let message = commits.message().await.unwrap().unwrap();
        if !message.changes.is_empty() {
            return message;
        }
    }
}

fn lsn(message: &v1::SubscribeResponse) -> u64 {
    message.moment.as_ref().unwrap().lsn
}

fn text(change: &v1::change::Change) -> Option<&str> {
    match change {
        v1::change::Change::Event(event) => Some(&event.text),
        _ => None,
    }
}

pub(crate) fn texts(message: &v1::SubscribeResponse) -> Vec<&str> {
    let changes = message.changes.iter().filter_map(|c| c.change.as_ref());
    changes.filter_map(text).collect()
}

#[tokio::test]
async fn a_subscription_begins_at_the_requested_lsn_and_reports_it() {
    let folder = folder();
    let daemon = Daemon::start(folder.path());
    let client = daemon.client().await;
    create_bare(&client, "b").await;
    let first = ingest(&client, "b", &["one"]).await.commit.unwrap();
    let second = ingest(&client, "b", &["two"]).await.commit.unwrap();

    let mut from_now = subscribe(&client, None).await;
    let standing = from_now.message().await.unwrap().unwrap();
    assert_eq!(lsn(&standing), second.lsn);
    assert!(standing.changes.is_empty());

    let mut from_first = subscribe(&client, Some(0)).await;
    assert_eq!(lsn(&from_first.message().await.unwrap().unwrap()), 0);
    let told = next(&mut from_first).await;
    assert_eq!((lsn(&told), texts(&told)), (first.lsn, vec!["one"]));
    assert_eq!(told.kind(), v1::CommitKind::Ingest);
    assert!(told.principal.starts_with("uid:"), "{}", told.principal);
    assert_eq!(lsn(&next(&mut from_first).await), second.lsn);

    let third = ingest(&client, "b", &["three"]).await.commit.unwrap();
    for commits in [&mut from_now, &mut from_first] {
        let told = next(commits).await;
        assert_eq!((lsn(&told), texts(&told)), (third.lsn, vec!["three"]));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_commit_is_delivered_once_across_checkpoints_and_a_restart() {
    let folder = folder();
    let mut daemon = Daemon::start(folder.path());
    let client = daemon.client().await;
    create_bare(&client, "b").await;
    let mut commits = subscribe(&client, Some(0)).await;
    let mut expected = Vec::new();
    for n in 0..40 {
        let done = ingest(&client, "b", &[&format!("fact {n}")]).await;
        expected.push(done.commit.unwrap().lsn);
        if n % 10 == 5 {
            let request = v1::CheckpointBrainRequest { brain: "b".into() };
            client.brains().checkpoint_brain(request).await.unwrap();
        }
    }
    let mut told = Vec::new();
    while told.len() < 20 {
        told.push(lsn(&next(&mut commits).await));
    }
    // The daemon dies; the subscriber goes on with the last that it has.
    daemon.kill();
    daemon = Daemon::start(folder.path());
    let client = daemon.client().await;
    let mut commits = subscribe(&client, told.last().copied()).await;
    while told.len() < expected.len() {
        told.push(lsn(&next(&mut commits).await));
    }
    assert_eq!(told, expected);
    // One that is stopped in order says so.
    assert!(daemon.stop().success());
    let status = loop {
        match commits.message().await {
            Ok(Some(_)) => {}
            Ok(None) => panic!("a subscription does not end well"),
            Err(status) => break status,
        }
    };
    assert_eq!(status.code(), Code::Unavailable);
}

#[tokio::test]
async fn changes_of_every_kind_are_delivered_and_erased_content_is_not() {
    let folder = folder();
    let daemon = Daemon::start(folder.path());
    let client = daemon.client().await;
    create_bare(&client, "b").await;
    let mut memory = client.memory();
    ingest(&client, "b", &["a secret", "an old belief", "hidden"]).await;
    let correct = v1::CorrectRequest {
        brain: "b".into(),
        target_id: 1,
        event: facts("", &["a new belief"]).events.pop(),
        ..Default::default()
    };
    memory.correct(correct).await.unwrap();
    let session = v1::OpenSessionRequest {
        brain: "b".into(),
        key: "s".into(),
        ..Default::default()
    };
    memory.open_session(session).await.unwrap();
    let forget = v1::ForgetRequest {
        brain: "b".into(),
        event_id: 2,
        ..Default::default()
    };
    memory.forget(forget).await.unwrap();
    let erase = v1::EraseRequest {
        brain: "b".into(),
        event_ids: vec![0],
        ..Default::default()
    };
    let last = memory
        .erase(erase)
        .await
        .unwrap()
        .into_inner()
        .commit
        .unwrap();

    let mut commits = subscribe(&client, Some(0)).await;
    let mut kinds = Vec::new();
    let mut shown = Vec::new();
    loop {
        let message = next(&mut commits).await;
        kinds.push(message.kind());
        shown.extend(texts(&message).into_iter().map(str::to_owned));
        if lsn(&message) == last.lsn {
            break;
        }
    }
    use v1::CommitKind::{Correct, Erase, Forget, Ingest, OpenSession};
    assert_eq!(kinds, [Ingest, Correct, OpenSession, Forget, Erase]);
    assert_eq!(shown, ["", "an old belief", "", "a new belief"]);
    // A subscriber that asks for forgotten events sees them.
    let request = v1::SubscribeRequest {
        include_forgotten: true,
        ..after(Some(0))
    };
    let mut commits = memory.subscribe(request).await.unwrap().into_inner();
    assert_eq!(
        texts(&next(&mut commits).await),
        ["", "an old belief", "hidden"]
    );
}

#[tokio::test]
async fn a_commit_that_is_too_large_for_a_message_comes_in_parts() {
    let folder = folder();
    let daemon = Daemon::start(folder.path());
    let client = daemon.client().await;
    create_bare(&client, "b").await;
    let text = "x".repeat(700_000);
    let done = ingest(&client, "b", &[&text, &text, &text])
        .await
        .commit
        .unwrap();
    let mut commits = subscribe(&client, Some(0)).await;
    let mut parts = Vec::new();
    while parts
        .last()
        .is_none_or(|part: &v1::SubscribeResponse| part.more)
    {
        parts.push(next(&mut commits).await);
    }
    assert_eq!(parts.len(), 3);
    assert!(parts.iter().all(|part| lsn(part) == done.lsn));
    assert!(parts.iter().all(|part| texts(part) == [text.as_str()]));
}

#[tokio::test]
async fn invalid_start_positions_are_refused() {
    let folder = folder();
    let daemon = Daemon::start(folder.path());
    let client = daemon.client().await;
    create_bare(&client, "b").await;
    let lsn = ingest(&client, "b", &["one"]).await.commit.unwrap().lsn;
    let mut memory = client.memory();
    let future = v1::SubscribeRequest {
        instance: instance(&client).await,
        ..after(Some(lsn + 1))
    };
    let answer = memory.subscribe(future).await;
    check_refused("future", answer, Code::OutOfRange, "UNKNOWN_LSN", &[]);
    let answer = memory.subscribe(after(Some(lsn))).await;
    let invalid = Code::InvalidArgument;
    check_refused(
        "no instance",
        answer,
        invalid,
        "INVALID",
        &["set the instance"],
    );
    let other = v1::SubscribeRequest {
        instance: uuid::Uuid::new_v4().to_string(),
        ..after(Some(lsn))
    };
    let answer = memory.subscribe(other).await;
    let code = Code::FailedPrecondition;
    check_refused("instance", answer, code, "FOREIGN_INSTANCE", &[]);
    let odd = v1::SubscribeRequest {
        instance: "odd".into(),
        ..after(None)
    };
    let answer = memory.subscribe(odd).await;
    check_refused(
        "uuid",
        answer,
        Code::InvalidArgument,
        "INVALID",
        &["\"odd\""],
    );
    let nowhere = v1::SubscribeRequest {
        brain: "nowhere".into(),
        ..after(None)
    };
    let answer = memory.subscribe(nowhere).await;
    check_refused("brain", answer, Code::NotFound, "UNKNOWN_BRAIN", &[]);
}

#[tokio::test]
async fn a_paused_subscriber_delays_no_writer_and_misses_nothing() {
    let folder = folder();
    let daemon = Daemon::start(folder.path());
    let client = daemon.client().await;
    create_bare(&client, "b").await;
    let mut silent = subscribe(&client, Some(0)).await;
    // Far more than any buffer between us: what is not read waits in the file.
    let text = "x".repeat(500_000);
    let mut last = 0;
    for _ in 0..20 {
        last = ingest(&client, "b", &[&text]).await.commit.unwrap().lsn;
    }
    let mut told = Vec::new();
    while told.last() != Some(&last) {
        told.push(lsn(&next(&mut silent).await));
    }
    assert_eq!(told.len(), 20);
}

#[tokio::test]
async fn a_slow_subscriber_is_ended_with_the_lsn_to_resume_at() {
    let folder = folder();
    let daemon = Daemon::start_with(folder.path(), &["--set", "limits.send_secs=1"]);
    let client = daemon.client().await;
    create_bare(&client, "b").await;
    let mut silent = subscribe(&client, Some(0)).await;
    let text = "x".repeat(500_000);
    let mut expected = Vec::new();
    for _ in 0..20 {
        expected.push(ingest(&client, "b", &[&text]).await.commit.unwrap().lsn);
    }
    // It has been given up once the brain has no subscriber.
    loop {
        let status = client.admin().get_status(v1::GetStatusRequest {}).await;
        if status.unwrap().into_inner().brains[0].subscribers == 0 {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    let mut told = Vec::new();
    let status = loop {
        match silent.message().await {
            Ok(Some(message)) if message.changes.is_empty() => {}
            Ok(Some(message)) => told.push(lsn(&message)),
            Ok(None) => panic!("a stream that was given up does not end well"),
            Err(status) => break status,
        }
    };
    check_refused(
        "slow",
        Err::<(), _>(status.clone()),
        Code::Aborted,
        "SLOW_SUBSCRIBER",
        &[],
    );
    let info = tonic_types::StatusExt::get_details_error_info(&status).unwrap();
    let after: u64 = info.metadata["after_lsn"].parse().unwrap();
    assert!(told.contains(&after), "{after} was not told: {told:?}");
    let mut again = subscribe(&client, Some(after)).await;
    told.retain(|lsn| *lsn <= after);
    while told.len() < expected.len() {
        told.push(lsn(&next(&mut again).await));
    }
    assert_eq!(told, expected);
}

#[tokio::test]
async fn commits_no_longer_held_are_refused_with_the_oldest_lsn() {
    let folder = folder();
    let daemon = Daemon::start(folder.path());
    let client = daemon.client().await;
    create_bare(&client, "b").await;
    let text = "x".repeat(900_000);
    for _ in 0..24 {
        ingest(&client, "b", &[&text]).await;
    }
    let request = v1::CheckpointBrainRequest { brain: "b".into() };
    client.brains().checkpoint_brain(request).await.unwrap();
    let answer = client.memory().subscribe(after(Some(0))).await;
    let status = answer.unwrap_err();
    check_refused(
        "gone",
        Err::<(), _>(status.clone()),
        Code::OutOfRange,
        "COMMITS_GONE",
        &[],
    );
    let info = tonic_types::StatusExt::get_details_error_info(&status).unwrap();
    let oldest: u64 = info.metadata["oldest_after_lsn"].parse().unwrap();
    let mut commits = subscribe(&client, Some(oldest)).await;
    assert!(lsn(&next(&mut commits).await) > oldest);
}
