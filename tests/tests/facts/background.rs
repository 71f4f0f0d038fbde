//! Pending work on a real daemon: tried again by itself, over restarts, and told in status and to subscribers.

use std::future::Future;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use amem_client::{Client, v1};
use amem_facts::{FactBrain, FactState, Facts, RandomIds};
use amem_format::types::Micros;
use amem_memory::add::AddRequest;
use amem_memory::model::{FormTable, ModelFailure};
use amem_memory::store::BuiltinEmbedder;
use amem_memory::{FactScope, Message};
use amem_store::disk::os::OsDisk;
use amem_store::{Folder, NewBrain, Store, create};

use crate::ports::ScriptedModel;
use crate::process::{Daemon, folder};
use crate::support::StoreBrain;

/// How long a daemon may take for what it does by itself.
const PATIENCE: Duration = Duration::from_secs(30);
/// The pause before the second try.
const PAUSE: Duration = Duration::from_secs(60);

fn ago(time: Duration) -> Micros {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    Micros(i64::try_from((since - time).as_micros()).unwrap())
}

/// Makes brains of a folder, each with an add that failed at a time because its model was down.
fn leave(folder: &Path, brains: &[(&str, Micros)]) {
    let disk = Arc::new(OsDisk::new(folder).unwrap());
    let own = Folder::open(disk, "a test").unwrap();
    for (name, at) in brains {
        create(&own, name, &NewBrain::default()).unwrap();
        let brain = StoreBrain::of(Store::open(&own, name).unwrap());
        let failure = || Err(ModelFailure::Unreachable("connection refused".into()));
        let model = ScriptedModel::new((0..8).map(|_| failure()).collect());
        let facts = Facts {
            brain: &brain,
            state: &FactState::default(),
            embedder: &BuiltinEmbedder,
            ids: &RandomIds,
            model: Some(&model),
            forms: &FormTable::default(),
        };
        let said = vec![Message::user("I live in Porto")];
        let request = AddRequest::new(said, FactScope::user("ada"), *at);
        let (answer, _) = facts.add(&request).unwrap();
        assert_eq!(answer.pending.len(), 1, "{answer:?}");
        assert!(brain.view().nodes() > 0);
    }
}

/// Asks again and again until there is an answer.
async fn until<T, F: Future<Output = Option<T>>>(what: &str, ask: impl Fn() -> F) -> T {
    let began = Instant::now();
    loop {
        if let Some(found) = ask().await {
            return found;
        }
        assert!(began.elapsed() < PATIENCE, "{what}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// The job that tried the work of a brain again, once it has ended; no brain is opened by the question.
async fn retried(client: &Client, brain: &str) -> v1::Job {
    until(brain, || async {
        let request = v1::ListJobsRequest::default();
        let listed = client.admin().list_jobs(request).await;
        let jobs = listed.unwrap().into_inner().jobs;
        jobs.into_iter().find(|job| {
            let is_ended = job.state() != v1::JobState::Running;
            is_ended && job.kind() == v1::JobKind::FactRetry && job.brain == brain
        })
    })
    .await
}

async fn pending(client: &Client, brain: &str) -> Vec<v1::PendingFacts> {
    let request = v1::ListPendingFactsRequest {
        brain: brain.into(),
        ..Default::default()
    };
    let listed = client.facts().list_pending_facts(request).await;
    listed.unwrap().into_inner().pending
}

async fn status(client: &Client, brain: &str) -> Option<v1::BrainStatus> {
    let status = client.admin().get_status(v1::GetStatusRequest {}).await;
    let brains = status.unwrap().into_inner().brains;
    brains.into_iter().find(|status| status.brain == brain)
}

fn ada() -> Option<v1::Scope> {
    Some(v1::Scope {
        user: Some("ada".into()),
        ..Default::default()
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn work_that_a_daemon_left_is_done_by_the_next_one_at_its_time() {
    let folder = folder();
    // One is due at the start, one a second later, when its brain is closed.
    let soon = PAUSE - Duration::from_millis(1_500);
    leave(
        folder.path(),
        &[("memories", ago(2 * PAUSE)), ("soon", ago(soon))],
    );
    let daemon = Daemon::start(folder.path());
    let client = daemon.client().await;
    for brain in ["memories", "soon"] {
        let job = retried(&client, brain).await;
        assert_eq!(job.state(), v1::JobState::Done, "{job:?}");
        assert_eq!(job.message, "1 of 1 piece of pending work done");
        // The brain was opened for it, and closed again.
        until("it stays open", || async {
            status(&client, brain).await.is_none().then_some(())
        })
        .await;
    }
    for brain in ["memories", "soon"] {
        assert!(pending(&client, brain).await.is_empty());
        let list = v1::ListFactsRequest {
            brain: brain.into(),
            scope: ada(),
            ..Default::default()
        };
        let listed = client.facts().list_facts(list).await.unwrap().into_inner();
        assert_eq!(listed.facts.len(), 1, "{listed:?}");
        assert!(listed.facts[0].memory.contains("Porto"), "{listed:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn waiting_work_is_in_the_status_and_subscribers_see_its_end() {
    let folder = folder();
    let at = ago(Duration::ZERO);
    leave(folder.path(), &[("memories", at)]);
    let daemon = Daemon::start(folder.path());
    let client = daemon.client().await;
    // Its time has not come: the brain is closed.
    assert!(status(&client, "memories").await.is_none());
    let waiting = pending(&client, "memories").await;
    assert_eq!(waiting.len(), 1);
    let told = status(&client, "memories").await.unwrap();
    assert_eq!(told.pending_facts, 1, "{told:?}");
    let oldest = told.oldest_pending_facts.unwrap();
    assert_eq!(oldest.seconds, at.0.div_euclid(1_000_000));

    // The events of pending work are hidden: a subscriber that asks for hidden ones sees what they say, in the scope
    // that they belong to.
    let follow = v1::SubscribeRequest {
        brain: "memories".into(),
        scope: ada(),
        include_forgotten: true,
        include_jobs: true,
        ..Default::default()
    };
    let mut commits = client
        .memory()
        .subscribe(follow)
        .await
        .unwrap()
        .into_inner();
    commits.message().await.unwrap();
    let retry = v1::RetryPendingFactsRequest::default();
    let retried = client.facts().retry_pending_facts(retry).await;
    assert_eq!(retried.unwrap().into_inner().done, 1);
    let ended = loop {
        let commit = commits.message().await.unwrap().unwrap();
        let events = commit
            .changes
            .iter()
            .filter_map(|change| match &change.change {
                Some(v1::change::Change::Event(event)) => Some(event),
                _ => None,
            });
        let of_work = |event: &&v1::Event| event.attributes_json.contains("amem.pending");
        if let Some(event) = events.clone().find(of_work) {
            // The commit that ends the work has the memory that it made.
            let made = events.clone().find(|event| event.text.contains("Porto"));
            assert!(made.is_some(), "{commit:?}");
            break event.clone();
        }
    };
    let attributes: serde_json::Value = serde_json::from_str(&ended.attributes_json).unwrap();
    assert_eq!(attributes["amem.pending"]["state"], "done");
    assert_eq!(attributes["amem.pending"]["id"], waiting[0].id.as_str());
    assert_eq!(status(&client, "memories").await.unwrap().pending_facts, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_subscriber_hears_that_the_daemon_tried_again() {
    let folder = folder();
    leave(
        folder.path(),
        &[("memories", ago(PAUSE - Duration::from_secs(2)))],
    );
    let daemon = Daemon::start(folder.path());
    let client = daemon.client().await;
    let follow = v1::SubscribeRequest {
        brain: "memories".into(),
        include_jobs: true,
        ..Default::default()
    };
    let mut commits = client
        .memory()
        .subscribe(follow)
        .await
        .unwrap()
        .into_inner();
    let job = loop {
        let message = commits.message().await.unwrap().unwrap();
        if let Some(job) = message.job {
            break job;
        }
    };
    assert_eq!(
        (job.kind(), job.state()),
        (v1::JobKind::FactRetry, v1::JobState::Done)
    );
    assert!(pending(&client, "memories").await.is_empty());
}
