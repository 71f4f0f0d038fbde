//! The end while the daemon is still recovering what it found.

use std::path::Path;
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use amem_client::{Client, v1};
use amem_store::Folder;
use amem_store::disk::Disk;
use amem_tests::disk::{About, HookedDisk, SimDisk};
use amemd::{Config, Flags, Listeners, Socket};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// Serves a disk in this process until the sender is dropped.
fn serve(
    folder: &Path,
    disk: Arc<dyn Disk>,
) -> (oneshot::Sender<()>, JoinHandle<amemd::Result<()>>) {
    let socket = folder.join("s");
    let flags = Flags {
        folder: Some(folder.to_owned()),
        socket: Some(socket.clone()),
        ..Flags::default()
    };
    let config = Config::load(flags, Arc::new(|_| None)).unwrap();
    let listeners = Listeners {
        unix: Socket::bind(&socket, None).unwrap(),
        tcp: None,
        metrics: None,
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

#[tokio::test]
async fn the_daemon_stops_in_time_even_during_a_recovery() {
    let folder = tempfile::tempdir().unwrap();
    let disk = SimDisk::new(7);
    let (stop, ended) = serve(folder.path(), Arc::new(disk.clone()));
    let client = Client::connect_unix(folder.path().join("s")).await.unwrap();
    let create = v1::CreateBrainRequest {
        brain: "b".into(),
        ..Default::default()
    };
    client.brains().create_brain(create).await.unwrap();
    drop((client, stop));
    ended.await.unwrap().unwrap();

    // The disk stands still as soon as the brain is opened.
    let (reached, mut is_reached) = tokio::sync::mpsc::unbounded_channel();
    let (release, held) = mpsc::channel::<()>();
    let held = Mutex::new(held);
    let still = HookedDisk::new(Arc::new(disk), move |about| {
        if about == About::Open {
            return;
        }
        _ = reached.send(());
        _ = held.lock().unwrap().recv();
    });
    let (stop, ended) = serve(folder.path(), Arc::new(still));
    let reached = timeout(Duration::from_secs(20), is_reached.recv());
    reached.await.unwrap().expect("recovery writes nothing");
    drop(stop);
    let ended = timeout(Duration::from_secs(9), ended).await;
    drop(release);
    ended.expect("it waits for the disk").unwrap().unwrap();
}
