//! Feedback, exports and batches on a real daemon: by gRPC and by amemctl.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use amem_client::{Client, v1};
use serde_json::Value;
use tonic::Code;

use crate::process::{Daemon, check_refused, folder};

fn scope(user: &str) -> Option<v1::Scope> {
    Some(v1::Scope {
        user: Some(user.into()),
        ..Default::default()
    })
}

/// Adds texts as they are; returns the ids of their memories.
async fn keep(client: &Client, user: &str, texts: impl Iterator<Item = String>) -> Vec<String> {
    let message = |text| v1::FactMessage {
        text,
        ..Default::default()
    };
    let request = v1::AddFactsRequest {
        messages: texts.map(message).collect(),
        scope: scope(user),
        infer: Some(false),
        ..Default::default()
    };
    let added = client
        .facts()
        .add_facts(request)
        .await
        .unwrap()
        .into_inner();
    added.results.into_iter().map(|result| result.id).collect()
}

/// Everything that an export sends.
async fn exported(
    client: &Client,
    request: v1::ExportFactsRequest,
) -> Vec<v1::ExportFactsResponse> {
    let mut parts = client
        .facts()
        .export_facts(request)
        .await
        .unwrap()
        .into_inner();
    let mut all = Vec::new();
    while let Some(part) = parts.message().await.unwrap() {
        all.push(part);
    }
    all
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_export_has_every_memory_of_its_scope_once_in_bounded_parts() {
    let folder = folder();
    let daemon = Daemon::start(folder.path());
    let client = daemon.client().await;
    let long = "tea ".repeat(400);
    let texts = (0..700).map(|at| format!("note {at} about {long}"));
    let ids = keep(&client, "ada", texts).await;
    keep(&client, "bob", ["of another".to_owned()].into_iter()).await;
    let request = v1::ExportFactsRequest {
        scope: scope("ada"),
        history: true,
        ..Default::default()
    };
    let parts = exported(&client, request.clone()).await;
    assert!(parts.len() > 4, "{}", parts.len());
    let moments: BTreeSet<_> = parts
        .iter()
        .map(|part| part.moment.as_ref().map_or(0, |moment| moment.lsn))
        .collect();
    assert_eq!(moments.len(), 1);
    let facts: Vec<_> = parts.iter().flat_map(|part| &part.facts).collect();
    let found: BTreeSet<_> = facts
        .iter()
        .map(|fact| fact.fact.as_ref().unwrap().id.clone())
        .collect();
    assert_eq!(found, ids.iter().cloned().collect());
    assert_eq!(facts.len(), ids.len());
    for fact in &facts {
        assert_eq!(fact.records.len(), 1, "{fact:?}");
        assert_eq!(fact.records[0].sources.len(), 1);
    }
    let filtered = v1::ExportFactsRequest {
        filter_json: r#"{"tag": "none"}"#.into(),
        ..request.clone()
    };
    assert!(exported(&client, filtered).await.is_empty());
    let unscoped = v1::ExportFactsRequest {
        scope: None,
        ..request
    };
    let refused = client.facts().export_facts(unscoped).await.map(drop);
    check_refused(
        "no scope",
        refused,
        Code::InvalidArgument,
        "SCOPE",
        &["user_id"],
    );
    let jobs = client
        .admin()
        .list_jobs(v1::ListJobsRequest::default())
        .await;
    let jobs = jobs.unwrap().into_inner().jobs;
    let export = jobs.iter().find(|job| job.message == "700 memories");
    assert!(
        export.is_some_and(|job| job.kind() == v1::JobKind::Export),
        "{jobs:?}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_batch_answers_each_change_and_commits_once() {
    let folder = folder();
    let daemon = Daemon::start(folder.path());
    let client = daemon.client().await;
    let texts = ["tea", "coffee"].map(|what| format!("User likes {what}"));
    let ids = keep(&client, "ada", texts.into_iter()).await;
    let update = |id: &str, text: &str| v1::FactUpdate {
        id: id.into(),
        text: Some(text.into()),
        ..Default::default()
    };
    let metadata = v1::FactUpdate {
        id: uuid::Uuid::new_v4().to_string(),
        metadata_json: Some("[]".into()),
        ..Default::default()
    };
    let request = v1::BatchUpdateFactsRequest {
        scope: scope("ada"),
        updates: vec![
            update(&ids[0], "User likes green tea"),
            update("no id", "x"),
            metadata,
            update(&uuid::Uuid::nil().to_string(), "x"),
            update(&ids[1], "User likes black coffee"),
        ],
        ..Default::default()
    };
    let get = v1::GetFactRequest {
        id: ids[0].clone(),
        ..Default::default()
    };
    let before = client.facts().get_fact(get).await.unwrap().into_inner();
    let before = before.moment.unwrap().lsn;
    let done = client.facts().batch_update_facts(request).await;
    let done = done.unwrap().into_inner();
    let told: Vec<_> = done
        .changes
        .iter()
        .map(|change| (change.event(), change.reason.as_str()))
        .collect();
    let (none, done_so) = (v1::FactEvent::Unspecified, v1::FactEvent::Update);
    let expected = [
        (done_so, ""),
        (none, "INVALID"),
        (none, "INVALID"),
        (none, "UNKNOWN_MEMORY"),
        (done_so, ""),
    ];
    assert_eq!(told, expected);
    assert_eq!(done.changes[1].id, "no id");
    assert_eq!(done.moment.unwrap().lsn, before + 1);
    let request = v1::BatchDeleteFactsRequest {
        ids: ids.clone(),
        ..Default::default()
    };
    for reason in ["", "DELETED"] {
        let deleted = client.facts().batch_delete_facts(request.clone()).await;
        let changes = deleted.unwrap().into_inner().changes;
        assert_eq!(changes.len(), 2);
        assert!(
            changes.iter().all(|change| change.reason == reason),
            "{changes:?}"
        );
    }
    let many = v1::BatchDeleteFactsRequest {
        ids: vec![ids[0].clone(); 1_001],
        ..Default::default()
    };
    let refused = client.facts().batch_delete_facts(many).await;
    check_refused(
        "many",
        refused,
        Code::InvalidArgument,
        "LIMIT",
        &["1001", "1000"],
    );
}

/// What `amemctl fact …` prints, and its exit code.
fn fact(socket: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_amem-tested-ctl"));
    command
        .arg("fact")
        .args(arguments)
        .arg("--socket")
        .arg(socket);
    let output = command.output().unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    (output.status.code(), printed)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn amemctl_gives_feedback_and_prints_an_export_line_by_line() {
    let folder = folder();
    let daemon = Daemon::start(folder.path());
    let client = daemon.client().await;
    let texts = ["tea", "coffee"].map(|what| format!("User likes {what}"));
    let ids = keep(&client, "ada", texts.into_iter()).await;
    let run = |arguments: &[&str]| fact(&daemon.socket, arguments);
    let (exit, printed) = run(&["feedback", &ids[0], "very-negative", "--reason", "not so"]);
    assert_eq!(
        (exit, &*printed),
        (Some(0), "feedback: very-negative: not so\n")
    );
    let (_, shown) = run(&["get", &ids[0]]);
    assert!(shown.contains("very-negative: not so"), "{shown}");
    let (_, told) = run(&["history", &ids[0]]);
    assert!(told.contains("FEEDBACK very-negative: not so"), "{told}");
    for with_history in [false, true] {
        let mut arguments = vec!["export", "--user", "ada"];
        if with_history {
            arguments.push("--history");
        }
        let (exit, lines) = run(&arguments);
        assert_eq!(exit, Some(0));
        let lines = lines
            .lines()
            .map(|line| serde_json::from_str(line).unwrap());
        let lines: Vec<Value> = lines.collect();
        assert_eq!(lines.len(), 2);
        let rated = lines
            .iter()
            .find(|line| line["id"] == ids[0].as_str())
            .unwrap();
        assert_eq!(rated["feedback"]["rating"], "very-negative");
        assert_eq!(rated["memory"], "User likes tea");
        let records = rated["history"].as_array().map(Vec::len);
        assert_eq!(records, with_history.then_some(2), "{rated}");
    }
    let (exit, printed) = run(&["feedback", &ids[0], "clear"]);
    assert_eq!((exit, &*printed), (Some(0), "it has no feedback\n"));
    let (exit, _) = run(&["feedback", &uuid::Uuid::nil().to_string(), "positive"]);
    assert_ne!(exit, Some(0));
}
