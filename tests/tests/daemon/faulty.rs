//! A daemon in this process, on a disk that fails, waits or has a defect at a chosen moment: what callers are told,
//! and that the brain is itself again afterwards.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;

use amem_client::{Client, v1};
use amem_engine::limits::{GROUP_REQUESTS_MAX, OPEN_AGAIN_AFTER, QUEUE_REQUESTS_MAX};
use amem_store::Folder;
use amem_store::disk::Disk;
use amem_store::folder::TMP;
use amem_tests::disk::{About, Among, EIO, ENOSPC, Effect, Fault, HookedDisk, Kind, SimDisk};
use amemd::{Config, Flags, Listeners, Socket};
use tokio::sync::oneshot;
use tonic::{Code, Status};
use tonic_types::StatusExt;
use uuid::Uuid;

use crate::process::{check_refused, create_bare, facts, get};

/// A daemon that serves a folder on some disk.
pub(crate) struct FaultyDaemon {
    socket: PathBuf,
    stop: Option<oneshot::Sender<()>>,
    ended: Option<tokio::task::JoinHandle<amemd::Result<()>>>,
    _folder: tempfile::TempDir,
}

impl FaultyDaemon {
    pub(crate) async fn start(disk: Arc<dyn Disk>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("s");
        let flags = Flags {
            folder: Some(folder.path().to_owned()),
            socket: Some(socket.clone()),
            // A brain's queue is to be full before the daemon is.
            set: vec!["limits.requests_in_flight=4096".into()],
            ..Flags::default()
        };
        let config = Config::load(flags, Arc::new(|_| None)).unwrap();
        let brains = Folder::open(disk, "a test").unwrap();
        let listening = Listeners {
            unix: Socket::bind(&socket, None).unwrap(),
            tcp: None,
            metrics: None,
            http: Default::default(),
        };
        let (stop, stopped) = oneshot::channel::<()>();
        let ended = tokio::spawn(amemd::run(config, brains, listening, (None, None), async {
            drop(stopped.await);
        }));
        Self {
            socket,
            stop: Some(stop),
            ended: Some(ended),
            _folder: folder,
        }
    }

    pub(crate) async fn client(&self) -> Client {
        Client::connect_unix(&self.socket).await.unwrap()
    }

    pub(crate) async fn end(mut self) {
        drop(self.stop.take());
        self.ended.take().unwrap().await.unwrap().unwrap();
    }
}

fn request(text: &str) -> v1::IngestRequest {
    v1::IngestRequest {
        options: Some(v1::WriteOptions {
            request_id: Uuid::now_v7().to_string(),
            ..Default::default()
        }),
        ..facts("b", &[text])
    }
}

pub(crate) fn reason(status: &Status) -> String {
    let info = status.get_details_error_info();
    info.map_or_else(String::new, |info| info.reason)
}

/// Sends a request again until it is answered; gives back the answer and why it was refused before.
async fn until_answered(
    client: &Client,
    request: &v1::IngestRequest,
) -> (v1::IngestResponse, Vec<String>) {
    let mut refused = Vec::new();
    loop {
        match client.memory().ingest(request.clone()).await {
            Ok(answer) => return (answer.into_inner(), refused),
            Err(status) => {
                assert_eq!(status.code(), Code::Unavailable, "{status}");
                refused.push(reason(&status));
                assert!(refused.len() < 1_000, "it never recovers: {status}");
                tokio::time::sleep(std::time::Duration::from_millis(5)).await;
            }
        }
    }
}

async fn health(client: &Client) -> Vec<i32> {
    use tonic_health::pb::HealthCheckRequest;
    use tonic_health::pb::health_client::HealthClient;
    let mut health = HealthClient::new(client.channel());
    let mut out = Vec::new();
    for service in ["", "brain/b"] {
        let request = HealthCheckRequest {
            service: service.into(),
        };
        out.push(health.check(request).await.unwrap().into_inner().status);
    }
    out
}

async fn jobs(client: &Client, kind: v1::JobKind) -> Vec<v1::JobState> {
    let jobs = client
        .admin()
        .list_jobs(v1::ListJobsRequest::default())
        .await;
    let jobs = jobs.unwrap().into_inner().jobs;
    let of = jobs.iter().filter(|job| job.kind() == kind);
    of.map(v1::Job::state).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn after_a_failed_sync_the_brain_recovers_and_a_retry_is_answered_once() {
    let (disk, served, client) = begun(1).await;
    disk.fail(Fault {
        after: 0,
        among: Among::Only(Kind::Sync),
        error: EIO,
        effect: Effect::Nothing,
        lasting: false,
    });
    let lost = request("in doubt");
    let (answer, refused) = until_answered(&client, &lost).await;
    assert_eq!(refused[0], "OUTCOME_UNKNOWN", "{refused:?}");
    let (again, _) = until_answered(&client, &lost).await;
    assert_eq!(again.event_ids, answer.event_ids);
    assert!(again.commit.unwrap().replayed);
    let events = get(&client, "b", &[0, 1]).await;
    let texts: Vec<_> = events.iter().map(|event| event.text.as_str()).collect();
    assert_eq!(texts, ["before", "in doubt"]);
    assert_eq!(
        jobs(&client, v1::JobKind::Recovery).await,
        [v1::JobState::Done]
    );
    assert_eq!(health(&client).await, [1, 1]);
    served.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_brain_that_cannot_recover_is_readable_and_reported_and_others_are_writable() {
    let (disk, served, client) = begun(2).await;
    let fault = |among| Fault {
        after: 0,
        among,
        error: EIO,
        effect: Effect::Nothing,
        lasting: true,
    };
    disk.fail(fault(Among::Changes));
    let status = client.memory().ingest(request("lost")).await.unwrap_err();
    assert_eq!(reason(&status), "OUTCOME_UNKNOWN", "{status}");
    assert_eq!(get(&client, "b", &[0]).await[0].text, "before");
    let answer = client.memory().ingest(request("refused")).await;
    check_refused("poisoned", answer, Code::Unavailable, "RECOVERING", &[]);
    assert_eq!(
        health(&client).await,
        [1, 2],
        "the daemon serves, the brain does not"
    );
    let status = client.admin().get_status(v1::GetStatusRequest {}).await;
    let status = status.unwrap().into_inner();
    assert!(!status.brains[0].poisoned.is_empty());
    disk.heal();
    until_answered(&client, &request("after")).await;
    assert_eq!(health(&client).await, [1, 1]);
    served.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_disk_refuses_writes_and_poisons_no_brain() {
    let (disk, served, client) = begun(3).await;
    disk.fail(Fault {
        after: 0,
        among: Among::Only(Kind::Write),
        error: ENOSPC,
        effect: Effect::Nothing,
        lasting: true,
    });
    // More than the space that the journal has ahead.
    let answer = client.memory().ingest(request(&"x".repeat(900_000))).await;
    check_refused("full", answer, Code::ResourceExhausted, "DISK_FULL", &[]);
    assert_eq!(health(&client).await, [1, 1]);
    disk.heal();
    let (answer, refused) = until_answered(&client, &request("after")).await;
    assert_eq!((answer.event_ids, refused.len()), (vec![1], 0));
    served.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_erase_without_room_says_so_before_it_writes_and_works_with_room() {
    let (disk, served, client) = begun(9).await;
    let text = "secret ".repeat(20_000);
    until_answered(&client, &request(&text)).await;
    let erase = |id| v1::EraseRequest {
        brain: "b".into(),
        event_ids: vec![id],
        ..Default::default()
    };
    let bytes = disk.contents("b.amem").unwrap().len() as u64;
    for free in [0, 4096, bytes / 2] {
        disk.set_free_bytes(Some(free));
        let answer = client.memory().erase(erase(1)).await;
        let told = &["erase needs about", "are free", "nothing was erased"];
        check_refused(
            "no room",
            answer,
            Code::ResourceExhausted,
            "DISK_FULL",
            told,
        );
        assert_eq!(get(&client, "b", &[1]).await[0].text, text, "{free}");
    }
    disk.set_free_bytes(Some(4 * bytes + (1 << 20)));
    client.memory().erase(erase(1)).await.unwrap();
    assert_eq!(get(&client, "b", &[1]).await[0].text, "");
    // What is gone needs no room.
    disk.set_free_bytes(Some(0));
    client.memory().erase(erase(1)).await.unwrap();
    served.end().await;
}

/// A daemon on a disk of its own, and a brain that has one event.
async fn begun(seed: u64) -> (Arc<SimDisk>, FaultyDaemon, Client) {
    let disk = Arc::new(SimDisk::new(seed));
    let served = FaultyDaemon::start(disk.clone()).await;
    let client = served.client().await;
    create_bare(&client, "b").await;
    until_answered(&client, &request("before")).await;
    (disk, served, client)
}

/// What is kept of a brain that has lost its name, once that is said: the texts of its events.
async fn kept(served: FaultyDaemon, disk: &Arc<SimDisk>) -> Vec<String> {
    served.end().await;
    let folder = Folder::open(disk.clone() as Arc<dyn Disk>, "after the daemon").unwrap();
    let kept = amem_store::quarantine::list(&folder).unwrap();
    assert_eq!(kept.len(), 1, "{kept:?}");
    assert_eq!(
        kept[0].reason,
        amem_store::quarantine::QuarantineReason::Recovered
    );
    let (view, _) = amem_store::quarantine::read(&folder, &kept[0].file).unwrap();
    let text = |id| view.node(amem_format::NodeId(id)).unwrap().text().unwrap();
    (0..view.nodes()).map(|id| text(id).into_owned()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_brain_removed_on_a_full_disk_is_saved_when_there_is_space() {
    let (disk, served, client) = begun(6).await;
    disk.remove("b.amem").unwrap();
    disk.fail(Fault {
        after: 0,
        among: Among::Only(Kind::Write),
        error: ENOSPC,
        effect: Effect::Half,
        lasting: true,
    });
    for _ in 0..2 {
        let answer = client.memory().ingest(request("refused")).await;
        let told = &["b.amem", "No space", "retry"];
        check_refused("unsaved", answer, Code::Unavailable, "UNSAVED", told);
        assert_eq!(health(&client).await, [1, 2]);
        assert_eq!(get(&client, "b", &[0]).await[0].text, "before");
    }
    disk.heal();
    let answer = client.memory().ingest(request("refused")).await;
    check_refused(
        "saved",
        answer,
        Code::Unavailable,
        "REPLACED",
        &["recovered"],
    );
    until_unknown(&client).await;
    assert_eq!(kept(served, &disk).await, ["before"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_brain_removed_on_a_full_disk_is_saved_when_the_daemon_stops() {
    let (disk, served, client) = begun(7).await;
    disk.remove("b.amem").unwrap();
    disk.fail(Fault {
        after: 0,
        among: Among::Only(Kind::Create),
        error: ENOSPC,
        effect: Effect::Nothing,
        lasting: true,
    });
    let status = client
        .memory()
        .ingest(request("refused"))
        .await
        .unwrap_err();
    assert_eq!(reason(&status), "UNSAVED", "{status}");
    disk.heal();
    assert_eq!(kept(served, &disk).await, ["before"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_brain_removed_while_it_waits_for_recovery_is_saved() {
    // By the next try, and by the end of the daemon.
    for tries in [true, false] {
        let (disk, served, client) = begun(9).await;
        disk.fail(Fault {
            after: 0,
            among: Among::Only(Kind::Sync),
            error: EIO,
            effect: Effect::Nothing,
            lasting: true,
        });
        let status = client.memory().ingest(request("in doubt")).await;
        assert_eq!(reason(&status.unwrap_err()), "OUTCOME_UNKNOWN");
        disk.remove("b.amem").unwrap();
        let answer = client.memory().ingest(request("refused")).await;
        check_refused("lost", answer, Code::Unavailable, "RECOVERING", &[]);
        disk.heal();
        if tries {
            until_unknown(&client).await;
        }
        // What was not answered may be there: it was in the cache.
        assert_eq!(kept(served, &disk).await, ["before", "in doubt"]);
    }
}

/// Waits until the brain's name is free.
async fn until_unknown(client: &Client) {
    let mut tries = 0;
    loop {
        let status = client
            .memory()
            .ingest(request("refused"))
            .await
            .unwrap_err();
        if status.code() == Code::NotFound {
            return;
        }
        tries += 1;
        assert!(tries < 1_000, "it is never let go of: {status}");
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_disk_delays_an_adoption_and_harms_neither_the_file_nor_other_brains() {
    let (disk, served, client) = begun(8).await;
    let bytes = disk.contents("b.amem").unwrap();
    let file = disk.create("copy.amem").unwrap();
    file.write_at(0, &bytes).unwrap();
    let copy = || async {
        let brain = "copy".into();
        let request = v1::GetBrainRequest { brain };
        client.brains().get_brain(request).await
    };
    for kind in [Kind::Create, Kind::Write, Kind::Sync] {
        disk.fail(Fault {
            after: 0,
            among: Among::Only(kind),
            error: ENOSPC,
            effect: Effect::Half,
            lasting: true,
        });
        check_refused(
            "full",
            copy().await,
            Code::ResourceExhausted,
            "DISK_FULL",
            &[],
        );
        disk.heal();
        assert_eq!(disk.contents("copy.amem"), Some(bytes.clone()), "{kind:?}");
        assert_eq!(disk.list(TMP).unwrap(), [""; 0], "{kind:?}");
        until_answered(&client, &request("meanwhile")).await;
        // What is remembered of the refusal is of the past soon.
        tokio::time::sleep(OPEN_AGAIN_AFTER).await;
    }
    let adopted = copy().await.unwrap().into_inner();
    assert_eq!(adopted.status.unwrap().events, 1);
    assert_eq!(jobs(&client, v1::JobKind::Adoption).await.len(), 4);
    served.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_erase_waits_for_files_that_could_not_be_removed() {
    let (disk, served, client) = begun(11).await;
    let bytes = disk.contents("b.amem").unwrap();
    let file = disk.create("copy.amem").unwrap();
    file.write_at(0, &bytes).unwrap();
    let brain = "copy".into();
    let mut brains = client.brains();
    let adopted = brains.get_brain(v1::GetBrainRequest { brain });
    adopted.await.unwrap();
    let left = disk.list(TMP).unwrap();
    assert_eq!(left.len(), 1, "the file of which it was made: {left:?}");
    disk.fail(Fault {
        after: 0,
        among: Among::Only(Kind::Remove),
        error: EIO,
        effect: Effect::Nothing,
        lasting: true,
    });
    let erase = || async {
        let request = v1::EraseRequest {
            brain: "copy".into(),
            event_ids: vec![0],
            ..Default::default()
        };
        client.memory().erase(request).await
    };
    for _ in 0..2 {
        let status = erase().await.unwrap_err();
        assert!(status.message().contains("remove"), "{status}");
        assert_eq!(get(&client, "copy", &[0]).await[0].text, "before");
        assert_eq!(disk.list(TMP).unwrap(), left);
    }
    disk.heal();
    erase().await.unwrap();
    assert_eq!(disk.list(TMP).unwrap(), [""; 0]);
    assert_eq!(disk.files_with(b"before"), ["b.amem"]);
    served.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_defect_in_a_writer_takes_its_brain_to_recovery_and_nothing_else() {
    let armed = Arc::new(AtomicBool::new(false));
    let hook = {
        let armed = armed.clone();
        move |about| {
            let is_hit = about == About::Write && armed.swap(false, Ordering::SeqCst);
            assert!(!is_hit, "a defect");
        }
    };
    let disk = Arc::new(HookedDisk::new(Arc::new(SimDisk::new(4)), hook));
    let served = FaultyDaemon::start(disk).await;
    let client = served.client().await;
    create_bare(&client, "b").await;
    create_bare(&client, "other").await;
    until_answered(&client, &request("before")).await;
    armed.store(true, Ordering::SeqCst);
    let (_, refused) = until_answered(&client, &request("once")).await;
    assert!(!refused.is_empty(), "the defect was not met");
    let events = get(&client, "b", &[0, 1]).await;
    assert_eq!(events[1].text, "once");
    let other = client.memory().ingest(facts("other", &["fine"])).await;
    assert_eq!(other.unwrap().into_inner().event_ids, [0]);
    served.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_to_a_full_queue_are_refused_at_once_and_queued_ones_are_executed() {
    // A group that was taken, a full queue behind it, and some more.
    const CALLS: usize = GROUP_REQUESTS_MAX + QUEUE_REQUESTS_MAX + 100;
    let (open, gate) = mpsc::channel::<()>();
    let (gate, held) = (
        std::sync::Mutex::new(gate),
        Arc::new(AtomicBool::new(false)),
    );
    let hook = {
        let held = held.clone();
        move |about| {
            if about == About::Sync && held.swap(false, Ordering::SeqCst) {
                // Waits until the test lets go.
                let _open = gate.lock().unwrap().recv();
            }
        }
    };
    let disk = Arc::new(HookedDisk::new(Arc::new(SimDisk::new(5)), hook));
    let served = FaultyDaemon::start(disk).await;
    let client = served.client().await;
    create_bare(&client, "b").await;
    until_answered(&client, &request("before")).await;
    held.store(true, Ordering::SeqCst);
    let mut calls = tokio::task::JoinSet::new();
    let mut clients = Vec::new();
    for at in 0..CALLS {
        if at % 50 == 0 {
            clients.push(served.client().await);
        }
        let client = clients.last().unwrap().clone();
        calls.spawn(async move {
            let answer = client.memory().ingest(request(&format!("call {at}"))).await;
            answer.map(|answer| answer.into_inner().event_ids[0])
        });
    }
    // The first refusals come while nothing is executed; then the disk goes on.
    let first = calls.join_next().await.unwrap().unwrap();
    check_refused(
        "full",
        first,
        Code::ResourceExhausted,
        "QUEUE_FULL",
        &["wait and retry"],
    );
    open.send(()).unwrap();
    let (mut ids, mut refused) = (Vec::new(), 1);
    while let Some(answer) = calls.join_next().await {
        match answer.unwrap() {
            Ok(id) => ids.push(id),
            Err(status) => {
                assert_eq!(reason(&status), "QUEUE_FULL", "{status}");
                refused += 1;
            }
        }
    }
    ids.sort_unstable();
    assert!(ids.iter().copied().eq(1..=ids.len() as u64), "each once");
    assert_eq!(ids.len() + refused, CALLS);
    served.end().await;
}
