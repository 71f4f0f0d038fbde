//! The end under load, and where a daemon is started from.

use std::os::unix::net::UnixDatagram;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::process::{Daemon, Setup};
use crate::tools::{add, texts};
use amem_tests::daemon::create_bare;

/// Clients that write at the same time.
const WRITERS: usize = 8;
/// Writes that are acknowledged before the end is asked for.
const BEFORE: usize = 400;

#[tokio::test(flavor = "multi_thread")]
async fn sigterm_under_load_ends_in_time_and_loses_no_acknowledged_write() {
    let daemon = Setup::new("").start();
    create_bare(&daemon.client().await, "b").await;
    let acknowledged = Arc::new(AtomicUsize::new(0));
    let is_asked = Arc::new(AtomicBool::new(false));
    let mut writers = Vec::new();
    for writer in 0..WRITERS {
        let client = daemon.client().await;
        let acknowledged = acknowledged.clone();
        let is_asked = is_asked.clone();
        writers.push(tokio::spawn(async move {
            let mut kept = Vec::new();
            let mut after = 0;
            loop {
                let text = format!("writer {writer} write {}", kept.len());
                match add(&client, "b", &text).await {
                    Ok(id) => kept.push((id, text)),
                    // The end; what was not answered may be there or not.
                    Err(_) => return (kept, after),
                }
                acknowledged.fetch_add(1, Ordering::Relaxed);
                after += usize::from(is_asked.load(Ordering::Relaxed));
            }
        }));
    }
    while acknowledged.load(Ordering::Relaxed) < BEFORE {
        tokio::task::yield_now().await;
    }
    let since = Instant::now();
    is_asked.store(true, Ordering::Relaxed);
    daemon.signal("-TERM");
    let (status, place) = tokio::task::spawn_blocking(|| daemon.wait()).await.unwrap();
    let took = since.elapsed();
    assert_eq!(status.code(), Some(0));
    assert!(took < Duration::from_secs(10), "{took:?}");

    let mut kept = Vec::new();
    let mut late = 0;
    for writer in writers {
        let (of, after) = writer.await.unwrap();
        kept.extend(of);
        late += after;
    }
    let daemon = place.start();
    let (ids, wanted): (Vec<u64>, Vec<String>) = kept.into_iter().unzip();
    let found = texts(&daemon.client().await, "b", &ids).await;
    assert_eq!(found, wanted);
    println!(
        "{} acknowledged, {late} of them after SIGTERM, the end took {took:?}",
        ids.len()
    );
}

/// How long the end may take that a service manager waits for.
const END_WITHIN: Duration = Duration::from_secs(10);

#[tokio::test(flavor = "multi_thread")]
async fn sigterm_ends_a_daemon_of_which_every_thread_is_blocked() {
    for signal in ["-TERM", "-INT"] {
        let place = Setup::new("[traces]\notlp = \"127.0.0.1:4317\"");
        let at = place.path("block");
        let real = place.command();
        let mut command = Command::new(env!("CARGO_BIN_EXE_amem-stalled-daemon"));
        command.env_clear().args(real.get_args());
        command.env("AMEM_STALL_AT", &at).stderr(Stdio::piped());
        let daemon = Daemon::start(place, command);
        let client = daemon.client().await;
        create_bare(&client, "b").await;
        let id = add(&client, "b", "acknowledged").await.unwrap();
        std::fs::write(at, "").unwrap();
        let said = daemon.says("a call stands still");
        assert!(said.contains("a task that blocks"), "{said}");
        let said = daemon.says("no thread is free");
        assert!(said.contains("WARN"), "{said}");
        let since = Instant::now();
        daemon.signal(signal);
        let pid = daemon.pid().to_string();
        let late = std::thread::spawn(move || {
            std::thread::park_timeout(2 * END_WITHIN);
            // It fails if the daemon has ended.
            drop(Command::new("kill").args(["-KILL", &pid]).output());
        });
        let said = tokio::task::block_in_place(|| daemon.says("the end is cut off"));
        assert!(
            said.contains("what stands still: a task that blocks"),
            "{said}"
        );
        let (status, place) = tokio::task::block_in_place(|| daemon.wait());
        late.thread().unpark();
        late.join().unwrap();
        assert_eq!(status.code(), Some(1), "{signal}");
        let took = since.elapsed();
        assert!(took < END_WITHIN, "{signal}: {took:?}");
        place.configure("");
        let daemon = place.start();
        let found = texts(&daemon.client().await, "b", &[id]).await;
        assert_eq!(found, ["acknowledged"]);
    }
}

/// What a call may take while something else is held up.
const PATIENCE: Duration = Duration::from_secs(10);

#[tokio::test(flavor = "multi_thread")]
async fn a_reload_that_waits_for_a_file_holds_up_no_call_and_no_end() {
    let place = Setup::new("[tcp]\nlisten = \"127.0.0.1:0\"\ntokens_file = \"tokens.toml\"");
    let tokens = place.path("tokens.toml");
    let sockets = tempfile::tempdir().unwrap();
    let manager = UnixDatagram::bind(sockets.path().join("n")).unwrap();
    manager.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut command = place.command();
    command.env("NOTIFY_SOCKET", sockets.path().join("n"));
    let daemon = Daemon::start(place, command);
    create_bare(&daemon.client().await, "b").await;
    let made = Command::new("mkfifo")
        .args(["-m", "600"])
        .arg(&tokens)
        .status();
    assert!(made.unwrap().success());
    daemon.signal("-HUP");
    // What the daemon says to its service manager: the reload is under way.
    let mut said = [0; 1024];
    while !String::from_utf8_lossy(&said).contains("RELOADING=1") {
        said.fill(0);
        manager.recv(&mut said).unwrap();
    }
    let calls = async {
        let client = daemon.client().await;
        add(&client, "b", "answered").await.unwrap();
        let status = amem_client::v1::GetStatusRequest {};
        client.admin().get_status(status).await.unwrap();
    };
    tokio::time::timeout(PATIENCE, calls).await.unwrap();
    let since = Instant::now();
    let status = tokio::task::block_in_place(|| daemon.stop());
    assert!(status.success(), "{status}");
    assert!(since.elapsed() < END_WITHIN);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_log_that_nobody_reads_holds_up_no_call_and_no_end() {
    const CALLS: usize = 400;
    let place = Setup::new("[log]\nfilter = \"trace\"");
    let mut child = place.command().stderr(Stdio::piped()).spawn().unwrap();
    let client = async {
        loop {
            match amem_client::Client::connect_unix(place.socket()).await {
                Ok(client) => return client,
                Err(_) => tokio::task::yield_now().await,
            }
        }
    };
    let calls = async {
        let client = client.await;
        create_bare(&client, "b").await;
        for call in 0..CALLS {
            add(&client, "b", &call.to_string()).await.unwrap();
        }
    };
    let done = tokio::time::timeout(3 * PATIENCE, calls).await;
    let since = Instant::now();
    let pid = child.id().to_string();
    assert!(Command::new("kill").arg(&pid).status().unwrap().success());
    let status = loop {
        match child.try_wait().unwrap() {
            Some(status) => break Some(status),
            None if since.elapsed() > END_WITHIN => break None,
            None => tokio::task::yield_now().await,
        }
    };
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(done.is_ok(), "calls were held up");
    assert!(status.is_some_and(|status| status.success()), "{status:?}");
}

#[tokio::test]
async fn the_daemon_starts_in_any_working_folder() {
    let gone = tempfile::tempdir().unwrap();
    let gone = gone.path().display().to_string();
    let mut place = Setup::new("");
    let mut ids = Vec::new();
    for script in [
        "cd / && exec \"$@\"".to_owned(),
        // A folder that is no more when the daemon begins.
        format!("mkdir -p {gone}/x && cd {gone}/x && rm -r {gone} && exec \"$@\""),
    ] {
        let real = place.command();
        let mut command = Command::new("sh");
        command.env_clear().env("PATH", "/usr/bin:/bin");
        command.args(["-c", &script, "sh"]).arg(real.get_program());
        command.args(real.get_args()).stderr(Stdio::piped());
        let daemon = Daemon::start(place, command);
        let client = daemon.client().await;
        if ids.is_empty() {
            create_bare(&client, "b").await;
        }
        ids.push(add(&client, "b", &script).await.unwrap());
        // It is read by the file, too: a reload looks for it again.
        daemon.place.configure("[limits]\nconnections = 9\n");
        daemon.signal("-HUP");
        daemon.says("reloaded the configuration");
        assert_eq!(texts(&client, "b", &ids).await.len(), ids.len());
        drop(client);
        place = daemon.end();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn panics_while_nobody_reads_the_log_hold_up_no_call_and_no_end() {
    let place = Setup::new("[traces]\notlp = \"127.0.0.1:4317\"");
    let (at, socket) = (place.path("panic"), place.socket());
    let mut command = Command::new(env!("CARGO_BIN_EXE_amem-stalled-daemon"));
    command.env_clear().args(place.command().get_args());
    command
        .env("AMEM_STALL_AT", &at)
        .env("AMEM_STALL_PANIC", "1");
    // Nobody reads it: each panic says more than it holds.
    let mut daemon = command.stderr(Stdio::piped()).spawn().unwrap();
    let began = Instant::now();
    let client = loop {
        match amem_client::Client::connect_unix(&socket).await {
            Ok(client) if create(&client).await.is_ok() => break client,
            _ => assert!(began.elapsed() < PATIENCE, "it does not start"),
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    };
    std::fs::write(at, "").unwrap();
    // By now each thread that calls need has met a panic.
    tokio::time::sleep(Duration::from_secs(2)).await;
    let called = tokio::time::timeout(PATIENCE, add(&client, "b", "after the panics")).await;
    let ended = called.map(|added| added.is_ok());
    let killed = Command::new("kill").arg(daemon.id().to_string()).status();
    assert!(killed.unwrap().success());
    let since = Instant::now();
    let status = loop {
        match daemon.try_wait().unwrap() {
            Some(status) => break Some(status),
            None if since.elapsed() > END_WITHIN => break None,
            None => tokio::time::sleep(Duration::from_millis(20)).await,
        }
    };
    daemon.kill().ok();
    daemon.wait().unwrap();
    assert_eq!(ended, Ok(true), "a call waits for the reader of the log");
    assert!(status.is_some(), "the end waits for the reader of the log");
}

async fn create(client: &amem_client::Client) -> Result<(), tonic::Status> {
    let request = amem_client::v1::CreateBrainRequest {
        brain: "b".into(),
        ..Default::default()
    };
    client.brains().create_brain(request).await.map(drop)
}
