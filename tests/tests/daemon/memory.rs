//! A daemon that gets no more memory while it makes a checkpoint.

use std::os::unix::process::ExitStatusExt;
use std::time::{Duration, Instant};

use amem_client::{Client, v1};
use rustix::process::{Pid, Resource, Rlimit, prlimit};
use tonic::Status;
use uuid::Uuid;

use crate::process::{Daemon, create_bare, facts, folder, get};

const BRAIN: &str = "b";
/// Batches before, of so many events each.
const BATCHES: u64 = 20;
const BATCH: u64 = 500;
/// Megabytes that it may take beside what it has: from none to enough.
const ROOMS: [u64; 6] = [0, 1, 4, 16, 64, 512];
/// Writes beside a checkpoint.
const WRITES: usize = 20;
/// How long a daemon that is alive may take until it serves again.
const PATIENCE: Duration = Duration::from_secs(30);

/// Bytes of addresses that a process has.
fn addresses(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmSize:"));
    let kilobytes = line.unwrap().split_whitespace().next().unwrap();
    kilobytes.parse::<u64>().unwrap() << 10
}

fn limit(pid: u32, bytes: Option<u64>) -> rustix::io::Result<Rlimit> {
    let pid = Pid::from_raw(pid.cast_signed());
    let limit = Rlimit {
        current: bytes,
        maximum: None,
    };
    prlimit(pid, Resource::As, limit)
}

fn write(text: &str) -> v1::IngestRequest {
    let mut request = facts(BRAIN, &[text]);
    request.options = Some(v1::WriteOptions {
        request_id: Uuid::now_v7().to_string(),
        ..Default::default()
    });
    request
}

/// What was acknowledged: id and text.
type Receipts = Vec<(u64, String)>;

async fn check(client: &Client, answered: &Receipts) {
    let ids: Vec<_> = answered.iter().map(|(id, _)| *id).collect();
    for (part, ids) in answered.chunks(500).zip(ids.chunks(500)) {
        let events = get(client, BRAIN, ids).await;
        for (event, (id, text)) in events.iter().zip(part) {
            assert_eq!((event.id, &event.text), (*id, text));
        }
    }
}

/// A checkpoint and writes beside it, with so much room: true if nothing failed.
async fn with_room(daemon: &Daemon, client: &Client, room: u64, answered: &mut Receipts) -> bool {
    let pid = daemon.pid();
    limit(pid, Some(addresses(pid) + (room << 20))).unwrap();
    let mut failed = Vec::new();
    let checkpoint = async {
        let request = v1::CheckpointBrainRequest {
            brain: BRAIN.into(),
        };
        client.brains().checkpoint_brain(request).await
    };
    let writes = async {
        for n in 0..WRITES {
            let text = format!("beside a checkpoint with {room} MiB: {n}");
            match client.memory().ingest(write(&text)).await {
                Ok(done) => answered.push((done.into_inner().event_ids[0], text)),
                Err(status) => failed.push(status),
            }
        }
    };
    let (made, ()) = tokio::join!(checkpoint, writes);
    failed.extend(made.err());
    println!("{room} MiB: {} failed, {:?}", failed.len(), failed.first());
    // An error of the system alone says neither what failed nor what to do.
    let is_bare = |status: &&Status| status.message().starts_with("Resource temporarily");
    assert!(!failed.iter().any(|status| is_bare(&status)), "{failed:?}");
    failed.is_empty()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_checkpoint_without_memory_fails_in_words_or_ends_the_daemon_and_loses_nothing() {
    let folder = folder();
    let mut daemon = Daemon::start(folder.path());
    let mut client = daemon.client().await;
    create_bare(&client, BRAIN).await;
    let mut answered = Receipts::new();
    for batch in 0..BATCHES {
        let texts = (0..BATCH).map(|n| format!("word{} of {batch} is {n}", batch * BATCH + n));
        let texts: Vec<_> = texts.collect();
        let texts: Vec<_> = texts.iter().map(String::as_str).collect();
        let done = client.memory().ingest(facts(BRAIN, &texts)).await.unwrap();
        let ids = done.into_inner().event_ids.into_iter();
        answered.extend(ids.zip(texts.into_iter().map(str::to_owned)));
    }
    let (mut failed, mut ended) = (0, 0);
    for room in ROOMS {
        let is_done = with_room(&daemon, &client, room, &mut answered).await;
        failed += usize::from(!is_done);
        if daemon.ended().is_none() {
            // It may be about to end.
            let _ = limit(daemon.pid(), None);
        }
        // Alive, it goes on once there is memory, by itself; else the next one does.
        let begun = Instant::now();
        let text = format!("after {room} MiB");
        let request = write(&text);
        let id = loop {
            match client.memory().ingest(request.clone()).await {
                Ok(done) => break done.into_inner().event_ids[0],
                Err(status) => assert!(begun.elapsed() < PATIENCE, "{room} MiB: {status}"),
            }
            if let Some(status) = daemon.ended() {
                // It aborts where it can't allocate; nothing else may end it.
                assert_eq!(status.signal(), Some(6), "{status}");
                ended += 1;
                daemon = Daemon::start(folder.path());
                client = daemon.client().await;
            }
        };
        answered.push((id, text));
        check(&client, &answered).await;
    }
    println!(
        "{failed} failed, {ended} ended the daemon, {} acknowledged",
        answered.len()
    );
    assert!(failed > 0, "there was memory enough");
    assert!(failed < ROOMS.len(), "there was never memory enough");
    let request = v1::VerifyBrainRequest {
        brain: BRAIN.into(),
    };
    let report = client.brains().verify_brain(request).await.unwrap();
    assert!(report.into_inner().whole);
    assert!(daemon.stop().success());
}
