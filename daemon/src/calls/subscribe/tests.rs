//! Subscribers who want little of what there is: others have their turn, and they learn how far they are.

use std::path::Path;

use amem_format::EventType;
use amem_store::disk::os::OsDisk;
use amem_store::mutation::{Ingest, NewEvent};
use amem_store::{Folder, Mutation, NewBrain};
use tokio_stream::StreamExt;

use super::super::answers::AnswerBudget;
use super::*;
use crate::auth::Rights;
use crate::config::{Config, Flags};
use crate::control::Control;
use crate::ingress::quota::Quota;
use amem_engine::CommitAnswer;
use amem_engine::Engine;

type Messages = AnswerStream<v1::SubscribeResponse>;

async fn brain(path: &Path) -> Arc<OpenBrain> {
    let disk = Arc::new(OsDisk::new(path).unwrap());
    let folder = Folder::open(disk, "a test").unwrap();
    let engine = Engine::new(folder, path.to_owned(), Arc::new(()));
    engine.create("b", NewBrain::default()).await.unwrap()
}

async fn ingest(
    brain: &OpenBrain,
    events: usize,
) -> tokio::sync::oneshot::Receiver<amem_engine::Result<CommitAnswer>> {
    let fact = NewEvent::new(EventType::FACT, "it is so");
    let ingest = Mutation::Ingest(Ingest {
        events: vec![fact; events],
        ..Ingest::default()
    });
    let request = amem_store::mutation::Request::new(ingest).by("a test", "a test");
    brain.commit_when_free(request, 0).await.unwrap()
}

fn first_commit(brain: &OpenBrain) -> Lsn {
    let view = brain.view();
    view.commit_after(Lsn(0)).unwrap().unwrap().commit.lsn
}

/// A subscriber from the first commit on who wants only decisions, of which there are none.
fn wants_none(brain: &Arc<OpenBrain>, heartbeat: Duration) -> (CommitFeed, Messages) {
    let flags = Flags {
        folder: Some("/b".into()),
        socket: Some("/s".into()),
        ..Flags::default()
    };
    let config = Config::load(flags, Arc::new(|_| None)).unwrap();
    let control = Control::new(&config).unwrap();
    let request = v1::SubscribeRequest {
        types: vec![v1::EventType::Decision.into()],
        ..Default::default()
    };
    let (follower, newest) = brain.subscribe(Lsn(0)).unwrap();
    let reader = Caller::new("token:reader".into(), Rights::default());
    let budget = AnswerBudget::new(&Quota::default(), &control, &reader);
    let (out, messages) = AnswerSender::new(budget, CHANGES_WAITING_MAX);
    let following = CommitFeed {
        brain: brain.clone(),
        from: Lsn(0),
        follower,
        options: Arc::new(FeedOptions {
            filter: FeedFilter::of(&request).unwrap(),
            vectors: false,
            forgotten: false,
        }),
        newest,
        heartbeat,
        sent: Instant::now(),
        skipped: 0,
        operations: 0,
        jobs: None,
        turns: Arc::new(Semaphore::new(1)),
        stop: watch::channel(false).1,
        out,
    };
    (following, messages)
}

#[tokio::test]
async fn what_nobody_reads_or_the_daemon_waits_for_is_not_gone_through_to_its_end() {
    let folder = tempfile::tempdir().unwrap();
    let brain = brain(folder.path()).await;
    // A large commit, and then many that are small.
    let mut answers = vec![ingest(&brain, 8 * CHANGES_PER_TURN).await];
    for _ in 0..2 * CHANGES_PER_TURN {
        answers.push(ingest(&brain, 1).await);
    }
    for answer in answers {
        answer.await.unwrap().unwrap();
    }
    let last = brain.view().lsn();
    // Within the large one, and within the small ones.
    for from in [Lsn(0), first_commit(&brain)] {
        let (mut following, messages) = wants_none(&brain, HEARTBEAT);
        following.from = from;
        let catch_up = async {
            while following.send_next().await? {}
            Ok::<_, Refusal>(())
        };
        // The other has its turn when the one lets it.
        let (ended, ()) = tokio::join!(catch_up, async { drop(messages) });
        assert_eq!(ended.unwrap_err().reason, "CANCELLED");
        assert!(following.from < last, "{from:?}: all was gone through");

        let (mut following, _messages) = wants_none(&brain, HEARTBEAT);
        following.from = from;
        let (stop, stopping) = watch::channel(false);
        following.stop = stopping;
        let catch_up = async {
            while following.send_next().await? {}
            Ok::<_, Refusal>(())
        };
        let (ended, _) = tokio::join!(catch_up, async { stop.send(true) });
        assert_eq!(ended.unwrap_err().reason, "CLOSED");
        assert!(following.from < last, "{from:?}: all was gone through");
    }
}

#[tokio::test]
async fn who_wants_none_of_many_commits_learns_how_far_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let brain = brain(folder.path()).await;
    let mut answers = Vec::new();
    for _ in 0..2 * SKIPPED_COMMITS_MAX + 1 {
        answers.push(ingest(&brain, 1).await);
    }
    for answer in answers {
        answer.await.unwrap().unwrap();
    }
    let (following, mut messages) = wants_none(&brain, HEARTBEAT);
    let running = tokio::spawn(following.run());
    let mut places = Vec::new();
    while places.len() < 3 {
        let message = messages.next().await.unwrap().unwrap();
        assert!(message.changes.is_empty() && !message.more && message.kind == 0);
        places.push(message.moment.unwrap().lsn);
    }
    let passed = SKIPPED_COMMITS_MAX as u64;
    let at = first_commit(&brain).0 + passed - 1;
    assert_eq!(places, [0, at, at + passed]);
    running.abort();
}

#[tokio::test]
async fn who_wants_none_of_what_is_committed_all_the_time_learns_how_far_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let brain = brain(folder.path()).await;
    let heartbeat = Duration::from_millis(200);
    let (following, mut messages) = wants_none(&brain, heartbeat);
    let running = tokio::spawn(following.run());
    let first = messages.next().await.unwrap().unwrap();
    assert_eq!(first.moment.unwrap().lsn, 0);
    // Far fewer than are told of for their number, and never a heartbeat without one.
    let mut told = None;
    for _ in 0..SKIPPED_COMMITS_MAX / 2 {
        ingest(&brain, 1).await.await.unwrap().unwrap();
        let next = tokio::time::timeout(heartbeat / 10, messages.next()).await;
        if let Ok(message) = next {
            told = message;
            break;
        }
    }
    let told = told.expect("nothing was said").unwrap();
    assert!(told.changes.is_empty() && told.moment.unwrap().lsn > 0);
    running.abort();
}

#[test]
fn lists_have_their_limits() {
    let full = v1::SubscribeRequest {
        types: vec![v1::EventType::Fact.into(); crate::limits::SUBSCRIBED_TYPES_MAX],
        session_ids: vec![1; crate::limits::SUBSCRIBED_SESSIONS_MAX],
        ..Default::default()
    };
    FeedFilter::of(&full).unwrap();
    let (mut types, mut sessions) = (full.clone(), full);
    types.types.push(v1::EventType::Fact.into());
    sessions.session_ids.push(1);
    for (request, named) in [(types, "types"), (sessions, "session_ids")] {
        let refused = FeedFilter::of(&request).unwrap_err();
        assert_eq!(refused.reason, "LIMIT");
        assert!(refused.message.contains(named), "{}", refused.message);
    }
}
