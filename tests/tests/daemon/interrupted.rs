//! A daemon whose system calls are interrupted by signals all the time (`EINTR`, by strace).

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use amem_client::v1;
use amem_tests::machine::skipped;

use crate::process::{Daemon, create, facts, folder, get, ingest};

/// What is interrupted, each time but when it is tried again: calls of the disk of which the manual says that they may be.
const CALLS: &str =
    "openat,pread64,pwrite64,pwritev2,fsync,fdatasync,ftruncate,fallocate,flock,statfs,fstatfs";
/// Those that what is done here cannot do without.
const NEEDED: [&str; 5] = ["openat", "pread64", "pwrite64", "fsync", "fdatasync"];
/// More than is synced by itself.
const LARGE: usize = 600_000;

/// strace beside a process; none where it can't be.
fn interrupt(pid: u32, log: &Path) -> Option<Child> {
    let mut command = Command::new("strace");
    command.args(["-f", "-e", &format!("trace={CALLS}")]);
    command.args(["-e", &format!("inject={CALLS}:error=EINTR:when=1+2")]);
    command.arg("-o").arg(log).arg("-p").arg(pid.to_string());
    let mut strace = match command.stderr(Stdio::piped()).spawn() {
        Ok(strace) => strace,
        Err(e) => {
            skipped(&format!("interrupted calls: strace: {e}"));
            return None;
        }
    };
    let mut told = String::new();
    let mut lines = BufReader::new(strace.stderr.take().unwrap());
    lines.read_line(&mut told).unwrap();
    if told.contains("attached") {
        std::thread::spawn(move || lines.lines().for_each(drop));
        return Some(strace);
    }
    skipped(&format!("interrupted calls: {}", told.trim()));
    strace.wait().unwrap();
    None
}

/// How often each call was interrupted.
fn interrupted(log: &Path) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for line in fs::read_to_string(log).unwrap().lines() {
        // `1234  openat(AT_FDCWD, …) = -1 EINTR (Interrupted system call) (INJECTED)`
        let call = line.split_whitespace().nth(1).unwrap_or_default();
        if line.ends_with("(INJECTED)") {
            let name = call.split('(').next().unwrap_or_default();
            *counts.entry(name.to_owned()).or_default() += 1;
        }
    }
    counts
}

#[tokio::test]
async fn calls_that_signals_interrupt_are_made_again() {
    let (folder, logs) = (folder(), folder());
    let log = logs.path().join("calls");
    let daemon = Daemon::start(folder.path());
    let Some(mut strace) = interrupt(daemon.pid(), &log) else {
        return;
    };
    let client = daemon.client().await;
    let large = "a large text ".repeat(LARGE / 13);
    let texts: Vec<_> = (0..20)
        .map(|n| format!("number {n}"))
        .chain([large])
        .collect();
    let mut instances = Vec::new();
    for brain in ["b", "moved"] {
        let made = create(&client, brain).await;
        instances.push(made.moment.unwrap().instance);
        for text in &texts {
            ingest(&client, brain, &[text]).await;
        }
        let request = v1::CheckpointBrainRequest {
            brain: brain.into(),
        };
        client.brains().checkpoint_brain(request).await.unwrap();
        let last = facts(brain, &["the last"]);
        client.memory().ingest(last).await.unwrap();
        let erase = v1::EraseRequest {
            brain: brain.into(),
            event_ids: vec![3],
            ..Default::default()
        };
        client.memory().erase(erase).await.unwrap();
    }
    // A copy becomes a brain, and its original goes.
    let moved = folder.path().join("moved.amem");
    fs::copy(&moved, folder.path().join("copied.amem")).unwrap();
    let remove = v1::RemoveBrainRequest {
        brain: "moved".into(),
        instance: instances.pop().unwrap(),
    };
    client.brains().remove_brain(remove).await.unwrap();
    let adopted = async {
        loop {
            let request = v1::ListBrainsRequest::default();
            let brains = client.brains().list_brains(request).await.unwrap();
            let brains = brains.into_inner().brains;
            if brains.iter().any(|brain| brain.brain == "copied") {
                break;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    let adopted = tokio::time::timeout(Duration::from_secs(30), adopted).await;
    adopted.unwrap();
    let status = client.admin().get_status(v1::GetStatusRequest {}).await;
    let problems = status.unwrap().into_inner().problems;
    assert!(problems.is_empty(), "{problems:?}");
    let pid = strace.id().to_string();
    let sent = Command::new("kill").arg(pid).status().unwrap();
    assert!(sent.success());
    strace.wait().unwrap();
    let counts = interrupted(&log);
    println!("interrupted: {counts:?}");
    for call in NEEDED {
        let times = counts.get(call).copied().unwrap_or_default();
        assert!(times > 0, "no {call} was interrupted: {counts:?}");
    }
    assert!(daemon.stop().success());

    let daemon = Daemon::start(folder.path());
    let client = daemon.client().await;
    for brain in ["b", "copied"] {
        let ids: Vec<_> = (0..=texts.len() as u64).collect();
        let found = get(&client, brain, &ids).await;
        for (id, text) in texts
            .iter()
            .map(String::as_str)
            .chain(["the last"])
            .enumerate()
        {
            let told = if id == 3 { "" } else { text };
            assert_eq!(found[id].text, told, "event {id} of {brain}");
        }
    }
}
