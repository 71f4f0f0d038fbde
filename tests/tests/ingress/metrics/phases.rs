//! Health and readiness while a daemon starts, serves and ends.

use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::{Duration, Instant};

use amem_client::{Client, v1};
use amem_store::Folder;
use amem_store::disk::Disk;
use amem_tests::disk::{About, HookedDisk, SimDisk};
use amemd::{Config, Flags, Listeners, Socket};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use super::scraped::{Page, get};

/// Serves a disk in this process until the sender is dropped.
fn serve(
    folder: &Path,
    disk: Arc<dyn Disk>,
    metrics: SocketAddr,
) -> (oneshot::Sender<()>, JoinHandle<amemd::Result<()>>) {
    let socket = folder.join("s");
    let flags = Flags {
        folder: Some(folder.to_owned()),
        socket: Some(socket.clone()),
        ..Flags::default()
    };
    let config = Config::load(flags, Arc::new(|_| None)).unwrap();
    let telling = std::net::TcpListener::bind(metrics).unwrap();
    telling.set_nonblocking(true).unwrap();
    let listeners = Listeners {
        unix: Socket::bind(&socket, None).unwrap(),
        tcp: None,
        metrics: Some(tokio::net::TcpListener::from_std(telling).unwrap()),
        http: Default::default(),
    };
    let brains = Folder::open(disk, "a test").unwrap();
    let (stop, stopped) = oneshot::channel::<()>();
    let shutdown = async { drop(stopped.await) };
    let ended = tokio::spawn(amemd::run(
        config,
        brains,
        listeners,
        (None, None),
        shutdown,
    ));
    (stop, ended)
}

/// Gets a page until it is as it should be.
async fn wait_for(from: SocketAddr, path: &'static str, status: u16, words: &str) -> Page {
    let until = Instant::now() + Duration::from_secs(20);
    loop {
        let got = tokio::task::spawn_blocking(move || get(from, path));
        match got.await {
            Ok(page) if page.status == status && page.body.contains(words) => return page,
            got => assert!(Instant::now() < until, "{path} is never {status}: {got:?}"),
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_daemon_is_live_from_its_start_and_ready_from_recovery_to_shutdown() {
    let folder = tempfile::tempdir().unwrap();
    // A port that was free a moment ago: the daemon has it twice.
    let free = TcpListener::bind("127.0.0.1:0").unwrap();
    let metrics = free.local_addr().unwrap();
    drop(free);
    let disk = SimDisk::new(7);
    let (stop, ended) = serve(folder.path(), Arc::new(disk.clone()), metrics);
    let client = Client::connect_unix(folder.path().join("s")).await.unwrap();
    let create = v1::CreateBrainRequest {
        brain: "b".into(),
        ..Default::default()
    };
    client.brains().create_brain(create).await.unwrap();
    drop((client, stop));
    ended.await.unwrap().unwrap();

    // The disk stalls on demand.
    let holds = Arc::new(AtomicBool::new(true));
    let (release, held) = mpsc::channel::<()>();
    let (held, is_held) = (Mutex::new(held), holds.clone());
    let still = HookedDisk::new(Arc::new(disk), move |about| {
        if about == About::Open {
            return;
        }
        if is_held.load(Ordering::SeqCst) {
            _ = held.lock().unwrap().recv();
        }
    });
    let (stop, ended) = serve(folder.path(), Arc::new(still), metrics);
    wait_for(metrics, "/readyz", 503, "recovering").await;
    wait_for(metrics, "/healthz", 200, "alive").await;
    wait_for(metrics, "/metrics", 200, "amemd_ready 0").await;
    holds.store(false, Ordering::SeqCst);
    release.send(()).unwrap();
    wait_for(metrics, "/readyz", 200, "ready").await;

    // A call is under way when the end comes.
    let client = Client::connect_unix(folder.path().join("s")).await.unwrap();
    holds.store(true, Ordering::SeqCst);
    let open = v1::OpenSessionRequest {
        brain: "b".into(),
        ..Default::default()
    };
    let call = tokio::spawn(async move { client.memory().open_session(open).await });
    wait_for(metrics, "/metrics", 200, "OpenSession\"} 1\n").await;
    drop(stop);
    wait_for(metrics, "/readyz", 503, "stopping").await;
    wait_for(metrics, "/healthz", 200, "alive").await;
    holds.store(false, Ordering::SeqCst);
    drop(release);
    call.await.unwrap().unwrap();
    ended.await.unwrap().unwrap();
    // Its port is free again, as soon as its task has been let go of.
    let until = Instant::now() + Duration::from_secs(20);
    while std::net::TcpStream::connect(metrics).is_ok() {
        assert!(Instant::now() < until, "the port is still open");
        tokio::task::yield_now().await;
    }
}
