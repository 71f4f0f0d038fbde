//! A disk that is full, and one that has become read-only, under the real daemon: writes are refused in words, reads go
//! on, nothing that was answered is lost, and once there is room again all goes on by itself.

use std::fs::File;
use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use amem_client::{Client, Reader, v1};
use amem_doctor::verify;
use amem_tests::daemon::{DaemonHome, DaemonProcess, create_bare};
use amem_tests::ledger::{Receipt, Verdict};
use amem_tests::mounts::{Kind, Memory, Mount};
use tonic::{Code, Status};
use uuid::Uuid;

use crate::{make_folder, mounted, say, scratch};

/// How long anything may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// A daemon on a small file system, and what it has answered.
pub(crate) struct World {
    kind: Kind,
    place: DaemonHome,
    daemon: DaemonProcess,
    pub(crate) client: Client,
    told: Vec<Receipt>,
    /// What was refused, or not answered.
    open: Vec<v1::IngestRequest>,
    texts: u64,
}

impl World {
    pub(crate) async fn new(kind: Kind, mount: &Mount) -> Self {
        let brains = mount.folder().join("brains");
        make_folder(&brains);
        let place = DaemonHome::new(env!("CARGO_BIN_EXE_amem-tested-daemon"), brains);
        let daemon = place.start();
        let client = Client::connect_unix(place.socket()).await.unwrap();
        create_bare(&client, "b").await;
        Self {
            kind,
            place,
            daemon,
            client,
            told: Vec::new(),
            open: Vec::new(),
            texts: 0,
        }
    }

    fn request(&mut self) -> v1::IngestRequest {
        self.texts += 1;
        let text = format!("said only once: {}. {}", self.texts, "more ".repeat(400));
        v1::IngestRequest {
            brain: "b".into(),
            options: Some(v1::WriteOptions {
                request_id: Uuid::now_v7().to_string(),
                ..Default::default()
            }),
            events: vec![v1::NewEvent {
                r#type: v1::EventType::Fact.into(),
                text,
                ..Default::default()
            }],
            ..Default::default()
        }
    }

    pub(crate) async fn write(&mut self, request: v1::IngestRequest) -> Result<(), Status> {
        match self.client.memory().ingest(request.clone()).await {
            Ok(done) => {
                let done = done.into_inner();
                let text = request.events[0].text.clone();
                self.told.push(Receipt {
                    lsn: done.commit.unwrap().lsn,
                    events: vec![(done.event_ids[0], text)],
                    ..Receipt::default()
                });
                Ok(())
            }
            Err(status) => {
                self.open.push(request);
                Err(status)
            }
        }
    }

    /// Writes until it is refused, for the reason that it names.
    async fn until_refused(&mut self, reason: &str) -> Status {
        let begun = Instant::now();
        loop {
            let request = self.request();
            if let Err(status) = self.write(request).await {
                self.check_refusal(&status, reason);
                return status;
            }
            assert!(
                begun.elapsed() < PATIENCE,
                "{}: it is not refused",
                self.kind
            );
        }
    }

    fn check_refusal(&self, status: &Status, reason: &str) {
        let codes = [Code::ResourceExhausted, Code::Unavailable];
        let says_why = status.message().contains(reason);
        assert!(
            codes.contains(&status.code()) && says_why,
            "{}: {status}",
            self.kind
        );
    }

    /// Some more writes: each is answered, or refused for this reason.
    async fn go_on(&mut self, reason: &str) {
        for _ in 0..20 {
            let request = self.request();
            if let Err(status) = self.write(request).await {
                self.check_refusal(&status, reason);
            }
        }
    }

    /// What was answered is shown, each event.
    pub(crate) async fn check_reads(&self) {
        for told in self.told.chunks(100) {
            let request = v1::GetEventsRequest {
                brain: "b".into(),
                event_ids: told.iter().map(|told| told.events[0].0).collect(),
                ..Default::default()
            };
            let answer = self.client.queries().get_events(request).await.unwrap();
            let events = answer.into_inner().events.into_iter();
            for (event, told) in events.zip(told) {
                assert_eq!(event.text, told.events[0].1, "{}", self.kind);
            }
        }
    }

    /// What is open is answered now, in its time.
    pub(crate) async fn answer_all(&mut self) {
        let begun = Instant::now();
        for request in std::mem::take(&mut self.open) {
            while let Err(status) = self.write(request.clone()).await {
                self.open.pop();
                assert!(begun.elapsed() < PATIENCE, "{}: {status}", self.kind);
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        }
    }

    /// The daemon is killed, the cache of the file system is gone, and another daemon starts.
    pub(crate) async fn cut(mut self, mount: &Mount) -> Self {
        self.daemon.kill();
        mount.again().unwrap();
        self.daemon = self.place.start();
        self.client = Client::connect_unix(self.place.socket()).await.unwrap();
        self
    }

    /// Ends the daemon; the brain has what was answered, and nothing else.
    pub(crate) fn end(mut self, mount: &Mount) -> usize {
        assert!(self.daemon.stop().success());
        mount.again().unwrap();
        let file = self.place.folder().join("b.amem");
        let report = verify::file(&file).unwrap();
        assert!(report.is_whole(), "{}: {report:?}", self.kind);
        let view = Reader::open(&file).unwrap().view().unwrap();
        self.told.sort_by_key(|told| told.lsn);
        let verdict = Verdict::of(&view, std::slice::from_ref(&self.told)).unwrap();
        assert!(verdict.is_right(), "{}: {verdict:?}", self.kind);
        self.told.len()
    }
}

/// Leaves no room.
fn fill(ballast: &Path) {
    let mut file = File::create(ballast).unwrap();
    for part in [vec![1; 1 << 20], vec![1; 4096]] {
        while file.write_all(&part).is_ok() {}
    }
    // On btrfs room is given away when it is written.
    drop(file.sync_all());
}

async fn is_full(kind: Kind) {
    let folder = scratch();
    let Some(mount) = mounted(kind, folder.path(), "a full disk") else {
        return;
    };
    let mut world = World::new(kind, &mount).await;
    for _ in 0..100 {
        let request = world.request();
        world.write(request).await.unwrap();
    }
    let ballast = mount.folder().join("ballast");
    fill(&ballast);
    let refusal = world.until_refused("No space left").await;
    world.check_reads().await;
    world.go_on("No space left").await;
    world.check_reads().await;
    let refused = world.open.len();
    std::fs::remove_file(&ballast).unwrap();
    world.answer_all().await;
    for _ in 0..100 {
        let request = world.request();
        world.write(request).await.unwrap();
    }
    let answered = world.end(&mount);
    say(&format!(
        "{kind}: full ({:?}: {}); {refused} writes refused and done later, {answered} acknowledged and there",
        refusal.code(),
        refusal.message()
    ));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_erase_on_a_full_file_system_is_refused_whole_or_done_whole() {
    let folder = scratch();
    let _memory = match Memory::make(folder.path(), 48 << 20) {
        Ok(memory) => memory,
        Err(why) => return say(&format!("SKIPPED an erase without room: {why}")),
    };
    let brains = folder.path().join("brains");
    make_folder(&brains);
    let place = DaemonHome::new(env!("CARGO_BIN_EXE_amem-tested-daemon"), brains);
    let daemon = place.start();
    let client = Client::connect_unix(place.socket()).await.unwrap();
    create_bare(&client, "b").await;
    let event = |text: String| v1::NewEvent {
        r#type: v1::EventType::Fact.into(),
        text,
        ..Default::default()
    };
    for part in 0..8 {
        let words = (0..40_000).map(|n| format!("w{:x} ", (n * 7919 + part) % 50_000));
        let request = v1::IngestRequest {
            brain: "b".into(),
            events: vec![event(words.collect()), event(format!("secret {part}"))],
            ..Default::default()
        };
        client.memory().ingest(request).await.unwrap();
    }
    let ballast = folder.path().join("ballast");
    fill(&ballast);
    let erase = v1::EraseRequest {
        brain: "b".into(),
        event_ids: vec![1],
        ..Default::default()
    };
    let refusal = client.memory().erase(erase.clone()).await.unwrap_err();
    assert_eq!(refusal.code(), Code::ResourceExhausted, "{refusal}");
    assert!(refusal.message().contains("erase needs about"), "{refusal}");
    let get = async || {
        let request = v1::GetEventsRequest {
            brain: "b".into(),
            event_ids: vec![1],
            ..Default::default()
        };
        client
            .queries()
            .get_events(request)
            .await
            .unwrap()
            .into_inner()
    };
    assert_eq!(get().await.events[0].text, "secret 0");
    std::fs::remove_file(&ballast).unwrap();
    client.memory().erase(erase).await.unwrap();
    assert_eq!(get().await.events[0].text, "");
    assert_eq!(daemon.stop().signal(), None);
    say(&format!("tmpfs: {}", refusal.message()));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_disk_refuses_writes_and_loses_nothing() {
    for kind in [Kind::Ext4, Kind::Xfs, Kind::Btrfs] {
        is_full(kind).await;
    }
}

/// Ends a daemon that has nothing to write, and starts one, where the file system can't even take the page again that
/// tells readers of it: such a store would end the process, with all its brains.
async fn has_no_page_left(kind: Kind) {
    let folder = scratch();
    let Some(mount) = mounted(kind, folder.path(), "a page on a full disk") else {
        return;
    };
    let mut world = World::new(kind, &mount).await;
    for _ in 0..10 {
        let request = world.request();
        world.write(request).await.unwrap();
    }
    // What a copy shares with the file goes to a place of its own when it is written again, as all does on btrfs.
    let brain = world.place.folder().join("b.amem");
    let copy = mount.folder().join("copy");
    let copied = Command::new("cp").arg(&brain).arg(&copy).status();
    assert!(copied.unwrap().success());
    assert!(Command::new("sync").status().unwrap().success());
    let ballast = mount.folder().join("ballast");
    fill(&ballast);
    let ended = world.daemon.stop();
    assert_eq!(ended.signal(), None, "{kind}: {ended}");
    let mut next = world.place.launch();
    let begun = Instant::now();
    while next.ended().is_none() && begun.elapsed() < Duration::from_secs(2) {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let ended = match next.ended() {
        Some(ended) => ended,
        None => next.stop(),
    };
    assert_eq!(ended.signal(), None, "{kind}: {ended}");
    std::fs::remove_file(&ballast).unwrap();
    world.daemon = world.place.start();
    world.client = Client::connect_unix(world.place.socket()).await.unwrap();
    world.check_reads().await;
    let answered = world.end(&mount);
    say(&format!(
        "{kind}: ended and started without room for a page; {answered} acknowledged and there"
    ));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_daemon_stops_and_starts_on_a_disk_without_a_free_page() {
    for kind in [Kind::Btrfs, Kind::Xfs] {
        has_no_page_left(kind).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_disk_that_becomes_read_only_refuses_writes_and_loses_nothing() {
    let (kind, folder) = (Kind::Ext4, scratch());
    let Some(mount) = mounted(kind, folder.path(), "a disk that becomes read-only") else {
        return;
    };
    let mut world = World::new(kind, &mount).await;
    for _ in 0..100 {
        let request = world.request();
        world.write(request).await.unwrap();
    }
    // As after an error that the file system can't cope with.
    mount.remount("abort").unwrap();
    let refusal = world.until_refused("Read-only file system").await;
    world.check_reads().await;
    world.go_on("Read-only file system").await;
    world.check_reads().await;
    let _ = world.daemon.stop();
    // Nor can a daemon begin there; it says why.
    let said = std::process::Command::new(env!("CARGO_BIN_EXE_amem-tested-daemon"))
        .arg("--folder")
        .arg(world.place.folder())
        .arg("--socket")
        .arg(folder.path().join("s"))
        .output()
        .unwrap();
    let words = String::from_utf8_lossy(&said.stderr);
    assert!(
        !said.status.success() && words.contains("Read-only"),
        "{words}"
    );
    mount.again().unwrap();
    world.daemon = world.place.start();
    world.client = Client::connect_unix(world.place.socket()).await.unwrap();
    let refused = world.open.len();
    world.answer_all().await;
    let answered = world.end(&mount);
    say(&format!(
        "{kind}: read-only ({:?}: {}); {refused} writes refused and done later, {answered} acknowledged and there",
        refusal.code(),
        refusal.message()
    ));
}
