//! Tools of the machine, where it has them; the repository's files; small calls that several tests make.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use amem_client::{Client, v1};
use amem_tests::machine::skipped;

/// True if a program is there. For a missing one, prints what is not tested without it.
pub(crate) fn has(program: &str, what: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let is_there = std::env::split_paths(&path).any(|folder| folder.join(program).is_file());
    if !is_there {
        skipped(&format!(
            "there is no {program} on this machine: {what} is not tested"
        ));
    }
    is_there
}

/// A path of the repository.
pub(crate) fn repository(path: &str) -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap().join(path)
}

/// A file of the repository.
pub(crate) fn text_of(path: &str) -> String {
    fs::read_to_string(repository(path)).unwrap_or_else(|e| panic!("{path}: {e}"))
}

/// Everything that a program said.
pub(crate) fn said(output: &Output) -> String {
    let out = [&output.stdout[..], &output.stderr[..]].concat();
    String::from_utf8(out).unwrap()
}

/// Runs a program; it must end well.
pub(crate) fn ran(command: &mut Command) -> String {
    let output = command
        .output()
        .unwrap_or_else(|e| panic!("{command:?}: {e}"));
    assert!(output.status.success(), "{command:?}: {}", said(&output));
    String::from_utf8(output.stdout).unwrap()
}

/// What becomes of a daemon that is to refuse: its exit code, and what it says. One that serves instead is ended.
pub(crate) fn refuses(mut command: Command) -> (Option<i32>, String) {
    let mut child = command.spawn().unwrap();
    let mut log = child.stderr.take().unwrap();
    let reading = std::thread::spawn(move || {
        let mut told = String::new();
        log.read_to_string(&mut told).unwrap();
        told
    });
    let until = Instant::now() + Duration::from_secs(20);
    while child.try_wait().unwrap().is_none() && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(5));
    }
    // Of one that has ended, this is the status that it ended with.
    drop(child.kill());
    let status = child.wait().unwrap();
    (status.code(), reading.join().unwrap())
}

/// Remembers a fact; gives its id.
pub(crate) async fn add(client: &Client, brain: &str, text: &str) -> Result<u64, tonic::Status> {
    let request = v1::IngestRequest {
        brain: brain.into(),
        events: vec![v1::NewEvent {
            r#type: v1::EventType::Fact.into(),
            text: text.into(),
            ..Default::default()
        }],
        ..Default::default()
    };
    let answer = client.memory().ingest(request).await?;
    Ok(answer.into_inner().event_ids[0])
}

/// The texts of events.
pub(crate) async fn texts(client: &Client, brain: &str, ids: &[u64]) -> Vec<String> {
    let mut out = Vec::new();
    for ids in ids.chunks(500) {
        let request = v1::GetEventsRequest {
            brain: brain.into(),
            event_ids: ids.to_vec(),
            ..Default::default()
        };
        let answer = client.queries().get_events(request).await.unwrap();
        out.extend(
            answer
                .into_inner()
                .events
                .into_iter()
                .map(|event| event.text),
        );
    }
    out
}

/// How the daemon is.
pub(crate) async fn status(client: &Client) -> v1::GetStatusResponse {
    let answer = client.admin().get_status(v1::GetStatusRequest {}).await;
    answer.unwrap().into_inner()
}
