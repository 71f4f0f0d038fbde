//! Schedules over real brains, by a clock that is set by hand.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use amem_format::base::settings::Settings;
use amem_format::{EventType, Micros, NodeId, SessionId};
use amem_query::summary::{SUMMARY_BYTES, summary};
use amem_store::disk::os::OsDisk;
use amem_store::mutation::{Episode, Ingest, NewEvent, Part};
use amem_store::{Folder, Mutation, NewBrain};
use tokio::sync::oneshot;

use super::super::clock::tests::ByHand;
use super::super::requests;
use super::super::summaries::Summaries;
use super::*;
use crate::blocking_pool::BlockingThreads;
use crate::limits::CLOCK_SETTLES_AFTER;

const HOUR: Duration = Duration::from_secs(3600);
const DAY: Duration = Duration::from_secs(86_400);

fn brains(path: &Path) -> Engine {
    let disk = Arc::new(OsDisk::new(path).unwrap());
    let folder = Folder::open(disk, "a test").unwrap();
    Engine::new(folder, path.to_owned(), Arc::new(()))
}

fn schedules(hands: &ByHand, brains: &Engine) -> Schedules {
    let threads = Arc::new(BlockingThreads::new(2).unwrap());
    Schedules::by(
        hands.clock(),
        brains.clone(),
        BlockingPool::new(&threads, 2),
        Summaries {
            text: Arc::new(|view, session| summary(view, session, SUMMARY_BYTES)),
            pool: BlockingPool::new(&threads, 1),
        },
    )
}

/// What the clock of the system says: brains are written by it.
fn today() -> Micros {
    ScheduleClock::system().now()
}

async fn brain(brains: &Engine, name: &str, settings: &str) -> Arc<OpenBrain> {
    let options = NewBrain {
        settings: Settings::parse(settings).unwrap(),
        ..NewBrain::default()
    };
    let brain = brains.create(name, options).await.unwrap();
    let ingest = Ingest {
        events: vec![NewEvent::new(EventType::FACT, "it is so")],
        ..Ingest::default()
    };
    write(&brain, Mutation::Ingest(ingest)).await;
    brain
}

async fn write(brain: &OpenBrain, mutation: Mutation) {
    let request = requests::request(mutation, "a test");
    requests::commit(brain, request).await.unwrap();
}

fn entry(schedules: &Schedules, brain: &str, kind: JobKind) -> ScheduledJob {
    let mut listed = schedules.list(brain).into_iter();
    listed.find(|entry| entry.kind == kind).unwrap()
}

/// Does what is due, and waits until nothing runs.
async fn pass(schedules: &Schedules) {
    schedules.begin_due();
    // A task that opens a brain holds the permit, and one that runs a job is listed: both begin before this check.
    tokio::task::yield_now().await;
    loop {
        let is_waking = schedules.0.waking.available_permits() == 0;
        let runs = schedules.list("").iter().any(|entry| entry.running);
        if !is_waking && !runs && schedules.0.running.is_idle(SCHEDULED_MAX) {
            return;
        }
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_job_that_panics_has_failed_and_runs_again_and_everybody_else_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let brains = brains(folder.path());
    let schedules = schedules(&ByHand::at(today()), &brains);
    let brain = brain(&brains, "b", "{}").await;
    let mut reports = brain.subscribe_jobs();
    for _ in 0..2 {
        let panics = async { panic!("on purpose") };
        let refused = schedules
            .run_work("uid:1", &brain, JobKind::Decay, panics)
            .await;
        assert!(matches!(refused, Err(Error::Defect(_))));
    }
    let failed = entry(&schedules, "b", JobKind::Decay);
    assert!(failed.outcome.is_some_and(|outcome| outcome.is_err()));
    assert_eq!((failed.runs, failed.running), (2, false));
    assert!(reports.recv().await.unwrap().outcome.is_err());
    let (jobs, _) = brains.jobs().page(u64::MAX, false, 10, |_| true);
    assert!(
        jobs.iter()
            .all(|job| matches!(job.ended, Some((_, Err(_)))))
    );
    assert_eq!(jobs.len(), 2);
    let ran = schedules
        .run("uid:1", &brain, JobKind::Decay)
        .await
        .unwrap();
    assert!(ran.starts_with("1 strength in "), "{ran}");
    let done = entry(&schedules, "b", JobKind::Decay);
    assert_eq!((done.outcome, done.runs), (Some(Ok(ran)), 3));
}

#[tokio::test]
async fn a_job_whose_caller_gives_up_goes_to_its_end_and_none_is_begun_beside_it() {
    let folder = tempfile::tempdir().unwrap();
    let brains = brains(folder.path());
    let schedules = schedules(&ByHand::at(today()), &brains);
    let brain = brain(&brains, "b", "{}").await;
    let (go_on, held) = oneshot::channel::<()>();
    let (has_begun, begun) = oneshot::channel();
    let work = async move {
        has_begun.send(()).unwrap();
        held.await.unwrap();
        Ok(Some("all of it".to_owned()))
    };
    {
        let caller = schedules.run_work("uid:1", &brain, JobKind::Scrub, work);
        tokio::select! {
            _ = caller => panic!("it can't have ended"),
            begun = begun => begun.unwrap(),
        }
    }
    assert!(entry(&schedules, "b", JobKind::Scrub).running);
    let second = schedules.run("uid:1", &brain, JobKind::Scrub).await;
    assert!(matches!(second, Err(Error::JobRunning { .. })));
    go_on.send(()).unwrap();
    while entry(&schedules, "b", JobKind::Scrub).running {
        tokio::task::yield_now().await;
    }
    let done = entry(&schedules, "b", JobKind::Scrub);
    assert_eq!(done.outcome, Some(Ok("all of it".into())));
    assert_eq!(done.runs, 1);
}

#[tokio::test]
async fn a_nightly_job_opens_the_brain_that_it_is_for_and_closes_it_again() {
    let folder = tempfile::tempdir().unwrap();
    let brains = brains(folder.path());
    let hands = ByHand::at(today());
    let schedules = schedules(&hands, &brains);
    let nightly = r#"{"jobs":{"decay":"daily 03:00","scrub":"every 1h"}}"#;
    for (name, settings) in [
        ("nightly", nightly),
        ("hourly", r#"{"jobs":{"decay":"every 1h"}}"#),
    ] {
        drop(brain(&brains, name, settings).await);
    }
    pass(&schedules).await;
    brains.close_idle(Duration::ZERO).await;
    assert!(brains.open_brains().is_empty());
    hands.pass(DAY + HOUR);
    pass(&schedules).await;
    assert!(brains.open_brains().is_empty(), "no task keeps it open");
    assert_eq!(entry(&schedules, "nightly", JobKind::Decay).runs, 1);
    // It is open in any case: what else is due is done.
    assert_eq!(entry(&schedules, "nightly", JobKind::Scrub).runs, 1);
    let waiting = entry(&schedules, "hourly", JobKind::Decay);
    assert!(waiting.runs == 0 && waiting.next.is_some_and(|next| next < hands.clock().now()));
    pass(&schedules).await;
    assert_eq!(entry(&schedules, "nightly", JobKind::Decay).runs, 1);
    drop(brains.open("hourly").await.unwrap());
    pass(&schedules).await;
    assert_eq!(entry(&schedules, "hourly", JobKind::Decay).runs, 1);
    // A brain that can't be opened has failed once a night, and not twice a second.
    brains.close_idle(Duration::ZERO).await;
    std::fs::remove_file(folder.path().join("nightly.amem")).unwrap();
    hands.pass(DAY);
    for _ in 0..3 {
        pass(&schedules).await;
    }
    let failed = entry(&schedules, "nightly", JobKind::Decay);
    assert_eq!(failed.runs, 2);
    assert!(
        failed
            .outcome
            .unwrap()
            .unwrap_err()
            .contains("can't be opened")
    );
}

#[tokio::test]
async fn what_was_missed_while_no_daemon_ran_is_done_once_after_the_next_one_starts() {
    let folder = tempfile::tempdir().unwrap();
    let hands = ByHand::at(today());
    let settings = r#"{"jobs":{"decay":"daily 03:00","scrub":"off"}}"#;
    {
        let brains = brains(folder.path());
        let schedules = schedules(&hands, &brains);
        let brain = brain(&brains, "b", settings).await;
        schedules
            .run("uid:1", &brain, JobKind::Expiry)
            .await
            .unwrap();
        drop(brain);
        schedules.keep();
        brains.close().await;
    }
    hands.pass(3 * DAY);
    let brains = brains(folder.path());
    brains.recover_all().await.unwrap();
    let schedules = schedules(&hands, &brains);
    schedules.keep();
    let known = entry(&schedules, "b", JobKind::Expiry);
    assert!(known.last.is_some() && known.runs == 0);
    assert_eq!(known.outcome, Some(Ok(NOTHING.into())));
    for _ in 0..3 {
        pass(&schedules).await;
        hands.pass(Duration::from_secs(60));
    }
    assert_eq!(entry(&schedules, "b", JobKind::Decay).runs, 1);
    assert!(brains.open_brains().is_empty());
}

#[tokio::test]
async fn a_clock_that_is_set_wrong_and_right_again_closes_no_session_and_stops_no_job() {
    let folder = tempfile::tempdir().unwrap();
    let brains = brains(folder.path());
    let hands = ByHand::at(today());
    let schedules = schedules(&hands, &brains);
    let settings = r#"{"jobs":{"close_sessions":"every 1h","scrub":"every 1h"}}"#;
    let brain = brain(&brains, "b", settings).await;
    let key = "talk".to_owned();
    write(&brain, Mutation::OpenSession { key }).await;
    let is_open = || {
        let view = brain.view();
        view.session(SessionId(1))
            .unwrap()
            .unwrap()
            .closed
            .is_none()
    };
    let runs = |kind| entry(&schedules, "b", kind).runs;
    pass(&schedules).await;
    let right = today();
    hands.set(Micros(right.0 + 20 * 365 * Micros::DAY));
    pass(&schedules).await;
    assert_eq!((runs(JobKind::CloseSessions), runs(JobKind::Scrub)), (0, 1));
    hands.set(right);
    hands.pass(CLOCK_SETTLES_AFTER);
    pass(&schedules).await;
    assert!(is_open());
    // Jobs go on by the clock that is right now.
    hands.pass(2 * HOUR);
    pass(&schedules).await;
    assert_eq!((runs(JobKind::CloseSessions), runs(JobKind::Scrub)), (1, 2));
    assert!(is_open(), "nothing has happened for two hours, not six");
    hands.pass(6 * HOUR);
    pass(&schedules).await;
    assert!(!is_open());
}

/// Events of session 1 that are episodes, and those that none covers.
fn episodes_and_open(brain: &OpenBrain) -> (Vec<u64>, Vec<u64>) {
    let (view, mut episodes, mut open) = (brain.view(), Vec::new(), Vec::new());
    for id in view.of_session(SessionId(1)).unwrap().iter() {
        let node = view.node(id).unwrap();
        if node.event_type() == EventType::EPISODE {
            episodes.push(id.0);
        } else if !node.is_compressed() {
            open.push(id.0);
        }
    }
    (episodes, open)
}

#[tokio::test]
async fn a_long_session_is_summarised_in_portions_and_an_interrupted_one_resumes() {
    let folder = tempfile::tempdir().unwrap();
    let brains = brains(folder.path());
    let hands = ByHand::at(today());
    let schedules = schedules(&hands, &brains);
    let brain = brain(&brains, "b", "{}").await;
    let key = "talk".to_owned();
    write(&brain, Mutation::OpenSession { key }).await;
    let said = |at| NewEvent {
        session: Some(SessionId(1)),
        ..NewEvent::new(
            EventType::FACT,
            format!("the pump number {at} was looked after and works"),
        )
    };
    let ingest = Ingest {
        events: (0..200).map(said).collect(),
        ..Ingest::default()
    };
    write(&brain, Mutation::Ingest(ingest)).await;
    let (session, outcome) = (SessionId(1), "done".to_owned());
    write(&brain, Mutation::CloseSession { session, outcome }).await;
    write(&brain, Mutation::Forget(NodeId(30))).await;
    // A daemon that ended within the summary has left this.
    let begun = Part {
        session,
        episode: Episode::New("pumps were looked after".into()),
        events: (1..65).map(NodeId).collect(),
    };
    write(&brain, Mutation::CompressPart(begun)).await;
    write(&brain, Mutation::Restore(NodeId(30))).await;
    hands.pass(8 * DAY);
    let ran = schedules
        .run("uid:1", &brain, JobKind::Compression)
        .await
        .unwrap();
    assert_eq!(ran, "1 session of 136 events has a summary");
    // What was restored afterwards is none of it, and too little for a summary of its own.
    assert_eq!(episodes_and_open(&brain), (vec![201], vec![30]));
    let again = schedules
        .run("uid:1", &brain, JobKind::Compression)
        .await
        .unwrap();
    assert_eq!(again, NOTHING);
}

#[tokio::test]
async fn a_checkpoint_by_the_clock_folds_what_there_is_and_nothing_twice() {
    let folder = tempfile::tempdir().unwrap();
    let brains = brains(folder.path());
    let hands = ByHand::at(today());
    let schedules = schedules(&hands, &brains);
    let settings = r#"{"jobs":{"checkpoint":"every 1h","scrub":"off","decay":"off"}}"#;
    let brain = brain(&brains, "b", settings).await;
    pass(&schedules).await;
    hands.pass(2 * HOUR);
    pass(&schedules).await;
    let first = entry(&schedules, "b", JobKind::Checkpoint);
    let what = first.outcome.unwrap().unwrap();
    assert!(
        what.ends_with("bytes of journal are in the base of generation 2"),
        "{what}"
    );
    assert_eq!(
        brain
            .state()
            .journal_bytes
            .load(std::sync::atomic::Ordering::Relaxed),
        0
    );
    hands.pass(2 * HOUR);
    pass(&schedules).await;
    let second = entry(&schedules, "b", JobKind::Checkpoint);
    assert_eq!((second.outcome, second.runs), (Some(Ok(NOTHING.into())), 2));
    // One that is being made in any case is not followed by another.
    write(&brain, Mutation::Pin(NodeId(0))).await;
    let being_made = &brain.state().checkpointing;
    being_made.store(true, std::sync::atomic::Ordering::Relaxed);
    assert_eq!(
        schedules
            .run("uid:1", &brain, JobKind::Checkpoint)
            .await
            .unwrap(),
        NOTHING
    );
    being_made.store(false, std::sync::atomic::Ordering::Relaxed);
    let (jobs, _) = brains.jobs().page(u64::MAX, false, 10, |_| true);
    let checkpoints = jobs.iter().filter(|job| job.kind == JobKind::Checkpoint);
    assert_eq!(checkpoints.count(), 1);
}
