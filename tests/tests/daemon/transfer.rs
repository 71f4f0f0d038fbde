//! Brains as files over the wire, brains that come and go, the daemon's status.

use std::path::Path;

use amem_client::core::view::{AsOf, View};
use amem_client::core::{Lsn, NodeId};
use amem_client::{Client, Reader, v1};
use tokio_stream::iter;
use tonic::{Code, Status};
use v1::import_brain_request::Part;

use crate::process::{Daemon, check_refused, create_bare, folder, ingest};

/// A brain's file, as it was sent.
async fn export(client: &Client, form: v1::ExportForm) -> Vec<u8> {
    let request = v1::ExportBrainRequest {
        brain: "b".into(),
        form: form.into(),
    };
    let mut parts = client
        .brains()
        .export_brain(request)
        .await
        .unwrap()
        .into_inner();
    let mut file = Vec::new();
    let mut told = None;
    while let Some(part) = parts.message().await.unwrap() {
        assert_eq!(part.offset, file.len() as u64);
        assert!(part.moment.is_some());
        file.extend(part.data);
        told = Some(part.file_bytes);
    }
    assert_eq!(told, Some(file.len() as u64));
    file
}

async fn import(
    client: &Client,
    name: &str,
    file: &[u8],
) -> Result<v1::ImportBrainResponse, Status> {
    import_as(client, name, file, file.len() as u64).await
}

async fn import_as(
    client: &Client,
    name: &str,
    file: &[u8],
    file_bytes: u64,
) -> Result<v1::ImportBrainResponse, Status> {
    let options = v1::ImportOptions {
        brain: name.into(),
        file_bytes,
        ..Default::default()
    };
    let mut parts = vec![Part::Options(options)];
    parts.extend(file.chunks(1 << 20).map(|data| Part::Data(data.to_vec())));
    let parts = parts
        .into_iter()
        .map(|part| v1::ImportBrainRequest { part: Some(part) });
    let parts: Vec<_> = parts.collect();
    client
        .brains()
        .import_brain(iter(parts))
        .await
        .map(|answer| answer.into_inner())
}

/// Texts and confidences of all events.
fn beliefs(view: &View) -> Vec<(String, f32)> {
    let node = |id| view.node(NodeId(id)).unwrap();
    let belief = |id| (node(id).text().unwrap().into_owned(), node(id).confidence());
    (0..view.nodes()).map(belief).collect()
}

async fn correct(client: &Client, target_id: u64, text: &str) {
    let request = v1::CorrectRequest {
        brain: "b".into(),
        target_id,
        event: Some(v1::NewEvent {
            text: text.into(),
            ..Default::default()
        }),
        ..Default::default()
    };
    client.memory().correct(request).await.unwrap();
}

fn tmp_files(folder: &Path) -> usize {
    std::fs::read_dir(folder.join(".amemd/tmp"))
        .unwrap()
        .count()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_export_under_load_is_a_valid_brain_and_returns_as_a_sibling() {
    let folder = folder();
    let daemon = Daemon::start(folder.path());
    let client = daemon.client().await;
    create_bare(&client, "b").await;
    ingest(&client, "b", &["the sky is green", "x"]).await;
    let request = v1::CheckpointBrainRequest { brain: "b".into() };
    client.brains().checkpoint_brain(request).await.unwrap();
    correct(&client, 0, "the sky is blue").await;
    let writing = {
        let client = client.clone();
        tokio::spawn(async move {
            for n in 0..200 {
                ingest(&client, "b", &[&format!("meanwhile {n}")]).await;
            }
        })
    };
    let file = export(&client, v1::ExportForm::Native).await;
    writing.await.unwrap();

    let path = folder.path().join("elsewhere");
    std::fs::write(&path, &file).unwrap();
    let copy = Reader::open_copy(&path).unwrap();
    assert!(amem_doctor::verify::file(&path).unwrap().is_whole());
    assert_eq!(beliefs(&copy)[0], ("the sky is green".into(), 0.0));

    let made = import(&client, "c", &file).await.unwrap();
    let opened = client.open("c").await.unwrap();
    let (own, sibling) = (client.open("b").await.unwrap(), &opened.response);
    let info = |response: &v1::OpenBrainResponse| response.info.clone().unwrap();
    assert_eq!(info(&own.response).lineage, info(sibling).lineage);
    let instance = |response: &v1::OpenBrainResponse| response.moment.clone().unwrap().instance;
    assert_ne!(instance(&own.response), instance(sibling));
    assert_eq!(made.events, copy.nodes());
    let view = opened.reader.unwrap().view().unwrap();
    assert_eq!(beliefs(&view), beliefs(&copy));
    let before = AsOf::Lsn(Lsn(1));
    let (was, is) = (copy.as_of(before).unwrap(), view.as_of(before).unwrap());
    assert_eq!(beliefs(&was), beliefs(&is), "its history came along");
    assert_eq!(tmp_files(folder.path()), 0);
}

#[tokio::test]
async fn a_compatible_export_is_imported_again_and_damaged_files_make_no_brain() {
    let folder = folder();
    let daemon = Daemon::start(folder.path());
    let client = daemon.client().await;
    create_bare(&client, "b").await;
    ingest(&client, "b", &["one", "two"]).await;
    let file = export(&client, v1::ExportForm::Compatible).await;
    let made = import(&client, "c", &file).await.unwrap();
    assert_eq!((made.events, made.edges), (2, 0));

    let native = export(&client, v1::ExportForm::Native).await;
    let mut flipped = native.clone();
    flipped[200] ^= 1;
    let refused = |what, answer: Result<_, Status>, code, reason| {
        check_refused(what, answer, code, reason, &[]);
    };
    refused(
        "flipped",
        import(&client, "d", &flipped).await,
        Code::DataLoss,
        "CORRUPT",
    );
    let cut = &native[..native.len() / 2];
    assert!(import(&client, "d", cut).await.is_err());
    let text = b"not a brain at all, but long enough to look at";
    let answer = import(&client, "d", text).await;
    refused("text", answer, Code::FailedPrecondition, "NOT_A_BRAIN");
    let invalid = Code::InvalidArgument;
    let answer = import_as(&client, "d", &native, native.len() as u64 + 1).await;
    refused("too short", answer, invalid, "INVALID");
    let answer = import_as(&client, "d", &native, native.len() as u64 - 1).await;
    refused("too long", answer, invalid, "INVALID");
    refused("empty", import(&client, "d", &[]).await, invalid, "INVALID");
    refused(
        "large",
        import_as(&client, "d", &[], 1 << 50).await,
        invalid,
        "LIMIT",
    );
    refused(
        "name",
        import(&client, "a/b", &native).await,
        invalid,
        "BRAIN_NAME",
    );
    let taken = import(&client, "c", &native).await;
    refused("taken", taken, Code::AlreadyExists, "BRAIN_EXISTS");
    let none = v1::ImportBrainRequest { part: None };
    let answer = client.brains().import_brain(iter([none])).await;
    check_refused("no part", answer, invalid, "INVALID", &[]);
    assert_eq!(tmp_files(folder.path()), 0);
    let jobs = client
        .admin()
        .list_jobs(v1::ListJobsRequest::default())
        .await;
    let jobs = jobs.unwrap().into_inner().jobs;
    assert!(jobs.iter().all(|job| job.state() != v1::JobState::Running));
    assert!(
        jobs.iter()
            .any(|job| job.kind() == v1::JobKind::Import && job.state() == v1::JobState::Failed)
    );
}

#[tokio::test]
async fn a_brain_is_removed_only_if_its_instance_matches() {
    let folder = folder();
    let daemon = Daemon::start(folder.path());
    let client = daemon.client().await;
    create_bare(&client, "b").await;
    ingest(&client, "b", &["one"]).await;
    let opened = client.open("b").await.unwrap();
    let instance = opened.response.moment.unwrap().instance;
    let remove = |instance: &str| v1::RemoveBrainRequest {
        brain: "b".into(),
        instance: instance.into(),
    };
    let mut brains = client.brains();
    let answer = brains
        .remove_brain(remove(&uuid::Uuid::new_v4().to_string()))
        .await;
    check_refused(
        "other",
        answer,
        Code::FailedPrecondition,
        "FOREIGN_INSTANCE",
        &[],
    );
    let answer = brains.remove_brain(remove("")).await;
    check_refused(
        "none",
        answer,
        Code::InvalidArgument,
        "INVALID",
        &["set the instance to remove"],
    );
    assert!(folder.path().join("b.amem").exists());
    brains.remove_brain(remove(&instance)).await.unwrap();
    assert!(!folder.path().join("b.amem").exists());
    let answer = brains.remove_brain(remove(&instance)).await;
    check_refused("again", answer, Code::NotFound, "UNKNOWN_BRAIN", &[]);
    // A reader keeps what it has mapped, and the name is free.
    assert_eq!(opened.reader.unwrap().view().unwrap().nodes(), 1);
    create_bare(&client, "b").await;
    assert_eq!(ingest(&client, "b", &["again"]).await.event_ids, [0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn brains_that_cannot_be_opened_are_reported_and_the_others_serve() {
    let folder = folder();
    let daemon = Daemon::start(folder.path());
    let client = daemon.client().await;
    create_bare(&client, "good").await;
    create_bare(&client, "bad").await;
    assert!(daemon.stop().success());
    let path = folder.path().join("bad.amem");
    // In place: another file would be a stranger.
    let private = std::os::unix::fs::PermissionsExt::from_mode(0o600);
    std::fs::set_permissions(&path, private).unwrap();
    let file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
    std::os::unix::fs::FileExt::write_all_at(&file, &[9], 4).unwrap();
    drop(file);

    let daemon = Daemon::start(folder.path());
    let client = daemon.client().await;
    let status = client.admin().get_status(v1::GetStatusRequest {}).await;
    let status = status.unwrap().into_inner();
    let told: Vec<_> = status
        .problems
        .iter()
        .map(|p| (p.brain.as_str(), p.reason.as_str()))
        .collect();
    assert_eq!(told, [("bad", "VERSION")]);
    assert_eq!((status.brain_count, status.failed_brains), (2, 1));
    assert_eq!(status.rejected_files, 0);
    ingest(&client, "good", &["it works"]).await;
    let listed = client
        .brains()
        .list_brains(v1::ListBrainsRequest::default())
        .await;
    let listed = listed.unwrap().into_inner().brains;
    let problems: Vec<_> = listed
        .iter()
        .map(|b| (b.brain.as_str(), b.open, b.problem.is_some()))
        .collect();
    assert_eq!(problems, [("bad", false, true), ("good", true, false)]);
    use tonic_health::pb::HealthCheckRequest;
    use tonic_health::pb::health_client::HealthClient;
    let mut health = HealthClient::new(client.channel());
    let mut check = async |service: &str| {
        let request = HealthCheckRequest {
            service: service.into(),
        };
        health
            .check(request)
            .await
            .map(|answer| answer.into_inner().status)
    };
    assert_eq!(check("").await.unwrap(), 1);
    assert_eq!(check("brain/good").await.unwrap(), 1);
    assert_eq!(check("brain/bad").await.unwrap(), 2);
    assert_eq!(
        check("brain/nowhere").await.unwrap_err().code(),
        Code::NotFound
    );
    // What is mended is served.
    std::fs::remove_file(&path).unwrap();
    create_bare(&client, "bad").await;
    assert_eq!(check("brain/bad").await.unwrap(), 1);
    let status = client.admin().get_status(v1::GetStatusRequest {}).await;
    assert!(status.unwrap().into_inner().problems.is_empty());
}

#[tokio::test]
async fn status_reports_calls_jobs_and_brains() {
    let folder = folder();
    let daemon = Daemon::start(folder.path());
    let client = daemon.client().await;
    create_bare(&client, "b").await;
    for n in 0..20 {
        ingest(&client, "b", &[&format!("fact {n}")]).await;
    }
    let verify = v1::VerifyBrainRequest { brain: "b".into() };
    let verified = client
        .brains()
        .verify_brain(verify)
        .await
        .unwrap()
        .into_inner();
    assert!(verified.whole, "{:?}", verified.findings);
    assert_eq!(verified.commits, 20);
    let bad = client
        .memory()
        .ingest(crate::process::facts("b", &[""]))
        .await;
    assert!(bad.is_err());

    let mut admin = client.admin();
    let page = v1::ListLatenciesRequest {
        page_size: 1,
        ..Default::default()
    };
    let first = admin.list_latencies(page).await.unwrap().into_inner();
    assert_eq!(first.latencies.len(), 1);
    assert_eq!(first.next_page_token, first.latencies[0].rpc);
    let all = admin
        .list_latencies(v1::ListLatenciesRequest::default())
        .await;
    let all = all.unwrap().into_inner().latencies;
    let ingests = all
        .iter()
        .find(|rpc| rpc.rpc == "/amem.v1.MemoryService/Ingest")
        .unwrap();
    assert_eq!(
        (ingests.count, ingests.errors, ingests.in_flight),
        (21, 1, 0)
    );
    let micros = |d: Option<_>| {
        d.map(|d: amem_client::Duration| d.seconds * 1_000_000 + i64::from(d.nanos) / 1000)
    };
    assert!(micros(ingests.p50) > Some(0) && micros(ingests.p50) <= micros(ingests.max));

    let jobs = admin
        .list_jobs(v1::ListJobsRequest::default())
        .await
        .unwrap()
        .into_inner()
        .jobs;
    assert_eq!(jobs[0].kind(), v1::JobKind::Verify);
    assert_eq!(
        (jobs[0].state(), jobs[0].message.as_str()),
        (v1::JobState::Done, "whole")
    );
    let odd = v1::ListJobsRequest {
        page_token: "odd".into(),
        ..Default::default()
    };
    let paths = v1::ListLatenciesRequest {
        page_token: "odd".into(),
        ..Default::default()
    };
    let answer = admin.list_latencies(paths).await;
    let invalid = Code::InvalidArgument;
    check_refused("paths", answer, invalid, "INVALID", &["page_token"]);
    let names = v1::ListBrainsRequest {
        page_token: "a/b".into(),
        ..Default::default()
    };
    let answer = client.brains().list_brains(names).await;
    check_refused("names", answer, invalid, "INVALID", &["page_token"]);
    let answer = admin.list_jobs(odd).await;
    check_refused(
        "token",
        answer,
        Code::InvalidArgument,
        "INVALID",
        &["page_token"],
    );

    let got = client
        .brains()
        .get_brain(v1::GetBrainRequest { brain: "b".into() })
        .await;
    let got = got.unwrap().into_inner();
    assert_eq!(got.status.unwrap().events, 20);
    assert!(got.settings_json.starts_with('{'));
}

#[tokio::test(flavor = "multi_thread")]
async fn touches_of_readers_are_counted_together_and_survive_a_stop() {
    let folder = folder();
    let daemon = Daemon::start(folder.path());
    let client = daemon.client().await;
    create_bare(&client, "b").await;
    ingest(&client, "b", &["used", "not used"]).await;
    for _ in 0..5 {
        crate::process::get(&client, "b", &[0]).await;
    }
    let quiet = v1::GetEventsRequest {
        brain: "b".into(),
        event_ids: vec![1],
        touch: Some(false),
        ..Default::default()
    };
    client.queries().get_events(quiet.clone()).await.unwrap();
    assert!(daemon.stop().success());
    let daemon = Daemon::start(folder.path());
    let client = daemon.client().await;
    let both = v1::GetEventsRequest {
        event_ids: vec![0, 1],
        ..quiet
    };
    let events = client
        .queries()
        .get_events(both)
        .await
        .unwrap()
        .into_inner()
        .events;
    let counts: Vec<_> = events.iter().map(|event| event.access_count).collect();
    assert_eq!(counts, [5, 0]);
}
