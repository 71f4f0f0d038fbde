//! A daemon whose system calls are interrupted by signals all the time (`EINTR`, by strace).

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use amem_client::v1;
use amem_tests::machine::skipped;

use crate::process::{Daemon, command, create, facts, folder, get, ingest, new_socket};

/// What is interrupted, each time but when it is tried again: calls of the disk of which the manual says that they may
/// be.
const CALLS: &str =
    "openat,pread64,pwrite64,pwritev2,fsync,fdatasync,ftruncate,fallocate,flock,statfs,fstatfs";
/// Those that what is done here cannot do without.
const NEEDED: [&str; 7] = [
    "openat",
    "pread64",
    "pwrite64",
    "fsync",
    "fdatasync",
    "flock",
    "statfs",
];
/// More than is synced by itself.
const LARGE: usize = 600_000;

/// The calls in a log of strace, and how often each was made; `only` those whose line ends so.
fn counted(log: &Path, only: &str) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for line in fs::read_to_string(log).unwrap().lines() {
        // `1234  openat(AT_FDCWD, …) = -1 EINTR (Interrupted system call) (INJECTED)`
        let call = line.split_whitespace().nth(1).unwrap_or_default();
        if line.ends_with(only)
            && let Some((name, _)) = call.split_once('(')
        {
            *counts.entry(name.to_owned()).or_default() += 1;
        }
    }
    counts
}

/// strace of a program: it is the process that is started, and strace ends with it.
fn traced(program: &Command, log: &Path, injected: &[String]) -> Command {
    let mut strace = Command::new("strace");
    strace.args(["-D", "-f", "-e", &format!("trace={CALLS}")]);
    strace.args(injected.iter().flat_map(|what| ["-e", what]));
    strace.arg("-o").arg(log).arg(program.get_program());
    strace.args(program.get_args()).env_clear();
    strace
}

/// The same program with its calls interrupted from its beginning; none where that can't be.
fn interrupting(program: &Command, logs: &Path, log: &str) -> Option<Command> {
    // The loader makes such calls before the program begins, and does not retry.
    let (loading, mut idle) = (logs.join("loading"), Command::new(program.get_program()));
    let tried = traced(idle.arg("--version"), &loading, &[]).output();
    let why = match &tried {
        Ok(output) if output.status.success() => None,
        Ok(output) => Some(String::from_utf8_lossy(&output.stderr).into_owned()),
        Err(e) => Some(e.to_string()),
    };
    if let Some(why) = why {
        skipped(&format!("interrupted calls: strace: {}", why.trim()));
        return None;
    }
    let loading = counted(&loading, "");
    let injected = CALLS.split(',').map(|call| {
        let first = loading.get(call).copied().unwrap_or_default() + 1;
        format!("inject={call}:error=EINTR:when={first}+2")
    });
    let injected: Vec<_> = injected.collect();
    let mut command = traced(program, &logs.join(log), &injected);
    command.stderr(Stdio::piped());
    Some(command)
}

#[tokio::test(flavor = "multi_thread")]
async fn system_calls_interrupted_by_signals_are_repeated() {
    let (folder, logs) = (folder(), folder());
    let start = |log: &str| {
        let socket = new_socket();
        let program = command(folder.path(), &socket);
        let program = interrupting(&program, logs.path(), log)?;
        Some(Daemon::start_by(program, socket))
    };
    let Some(daemon) = start("first") else { return };
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
    // Killed, so that the next one has to recover.
    daemon.kill();
    let daemon = start("second").unwrap();
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
    assert!(daemon.stop().success());
    let mut interrupted = BTreeMap::new();
    for log in ["first", "second"] {
        for (call, times) in counted(&logs.path().join(log), "(INJECTED)") {
            *interrupted.entry(call).or_insert(0) += times;
        }
    }
    println!("interrupted: {interrupted:?}");
    for call in NEEDED {
        let times = interrupted.get(call).copied().unwrap_or_default();
        assert!(times > 0, "no {call} was interrupted: {interrupted:?}");
    }
}
