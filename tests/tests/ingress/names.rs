//! Every call, as a caller with a role for one brain: no answer has the name of another brain.

use std::fs;
use std::time::Duration;

use amem_client::v1;
use amem_client::v1::memory_service_client::MemoryServiceClient;
use prost::Message;
use tokio::time::timeout;
use tonic::{Code, Request};

use crate::process::{Daemon, check_refused};
use crate::visibility::{MINE, VEILED, channel, daemon, disturb};
use crate::walk::{self, BrainField};

/// The names of all brains that are not for the callers begin like this.
const SOURCE: &str = "veiled-source";

/// A request with a token.
fn with<T>(token: &str, message: T) -> Request<T> {
    let mut request = Request::new(message);
    let bearer = format!("Bearer {token}").parse().unwrap();
    request.metadata_mut().insert("authorization", bearer);
    request
}

/// Has much going on in brains that are not for the callers, some of it about theirs.
async fn stir(daemon: &Daemon) {
    let client = daemon.client().await;
    let request = v1::CreateBrainRequest {
        brain: SOURCE.into(),
        ..Default::default()
    };
    client.brains().create_brain(request).await.unwrap();
    let event = v1::NewEvent {
        text: "brought from elsewhere".into(),
        ..Default::default()
    };
    let source = client.brain(SOURCE).await.unwrap();
    source.ingest(vec![event]).await.unwrap();
    let options = v1::MergeOptions {
        brain: MINE.into(),
        from: Some(v1::merge_options::From::FromBrain(SOURCE.into())),
        ..Default::default()
    };
    let part = v1::merge_brain_request::Part::Options(options);
    let message = v1::MergeBrainRequest { part: Some(part) };
    let merged = client
        .brains()
        .merge_brain(tokio_stream::iter([message]))
        .await;
    assert_eq!(merged.unwrap().into_inner().events, 1);
    for kind in [v1::JobKind::Decay, v1::JobKind::Expiry] {
        let request = v1::RunJobRequest {
            brain: VEILED.into(),
            kind: kind.into(),
        };
        client.admin().run_job(request).await.unwrap();
    }
    disturb(daemon);
}

/// What a call is sent: nothing, and the caller's brain in each place where it can stand.
fn messages(path: &str, places: &[BrainField]) -> Vec<Vec<u8>> {
    let mut out = vec![Vec::new()];
    for place in places.iter().filter(|place| place.path == path) {
        let other = match place.words().as_str() {
            "Subscribe brain" => v1::SubscribeRequest {
                after_lsn: Some(0),
                include_jobs: true,
                ..Default::default()
            }
            .encode_to_vec(),
            "Search brain" => v1::SearchRequest {
                text: "elsewhere veiled".into(),
                ..Default::default()
            }
            .encode_to_vec(),
            _ => Vec::new(),
        };
        out.push(place.message(MINE, &other));
    }
    if path.starts_with("/grpc.health.") {
        let service = format!("brain/{MINE}");
        out.push(tonic_health::pb::HealthCheckRequest { service }.encode_to_vec());
    }
    if path.starts_with("/grpc.reflection.") {
        let request =
            tonic_reflection::pb::v1::server_reflection_request::MessageRequest::ListServices(
                "*".into(),
            );
        let asked = tonic_reflection::pb::v1::ServerReflectionRequest {
            message_request: Some(request),
            ..Default::default()
        };
        out.push(asked.encode_to_vec());
    }
    out
}

/// The calls that list something.
const LISTS: [&str; 6] = [
    "/amem.v1.BrainService/ListBrains",
    "/amem.v1.AdminService/GetStatus",
    "/amem.v1.AdminService/ListProblems",
    "/amem.v1.AdminService/ListJobs",
    "/amem.v1.AdminService/ListSchedules",
    "/amem.v1.AdminService/ListKeptFiles",
];

#[tokio::test]
async fn no_answer_and_no_refusal_of_any_call_names_a_brain_that_is_not_for_its_caller() {
    let (daemon, admin) = daemon().await;
    stir(&daemon).await;
    let client = daemon.client().await;
    let request = v1::GetBrainRequest {
        brain: VEILED.into(),
    };
    let veiled = client.brains().get_brain(request).await.unwrap();
    let veiled = veiled.into_inner();
    let secret = [
        VEILED.to_owned(),
        veiled.moment.unwrap().instance,
        veiled.info.unwrap().lineage,
    ];
    let channel = channel(&daemon).await;
    let all = daemon.token_of("all", v1::Permission::Read).await;
    for path in LISTS {
        let (_, told) = walk::hear(&channel, &all, path, Vec::new()).await;
        assert!(told.contains(VEILED), "{path}: {told}");
    }
    let reads = daemon
        .token_for("reads", v1::Permission::Read, &[MINE])
        .await;
    let (calls, places) = (walk::calls(), walk::all());
    assert!(calls.len() > 60, "only {} calls were made", calls.len());
    let (mut answered, mut wrong) = (Vec::new(), Vec::new());
    for token in [&reads, &admin] {
        for path in &calls {
            for message in messages(path, &places) {
                let (is_done, told) = walk::hear(&channel, token, path, message).await;
                if is_done && token == &reads {
                    answered.push(path.as_str());
                }
                if secret.iter().any(|name| told.contains(name)) {
                    wrong.push(format!("{path}: {told}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    // Every call that reads answers a reader with something, so that there is something to search.
    for path in LISTS.into_iter().chain([
        "/amem.v1.BrainService/GetBrain",
        "/amem.v1.BrainService/ExportBrain",
        "/amem.v1.BrainService/VerifyBrain",
        "/amem.v1.MemoryService/Subscribe",
        "/amem.v1.QueryService/Search",
        "/amem.v1.AdminService/ListLatencies",
        "/grpc.health.v1.Health/List",
        "/grpc.health.v1.Health/Watch",
        "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
    ]) {
        assert!(answered.contains(&path), "{path} was not answered");
    }
}

#[tokio::test]
async fn a_subscriber_of_jobs_gets_those_of_its_brain_only() {
    let (daemon, token) = daemon().await;
    let mut memory = MemoryServiceClient::new(channel(&daemon).await);
    let request = v1::SubscribeRequest {
        brain: MINE.into(),
        include_jobs: true,
        ..Default::default()
    };
    let heard = memory.subscribe(with(&token, request)).await.unwrap();
    let mut heard = heard.into_inner();
    heard.message().await.unwrap().unwrap();
    let client = daemon.client().await;
    for brain in [VEILED, MINE] {
        let request = v1::RunJobRequest {
            brain: brain.into(),
            kind: v1::JobKind::Decay.into(),
        };
        client.admin().run_job(request).await.unwrap();
    }
    let job = loop {
        let message = timeout(Duration::from_secs(20), heard.message()).await;
        if let Some(job) = message.unwrap().unwrap().unwrap().job {
            break job;
        }
    };
    assert_eq!((job.brain.as_str(), job.kind()), (MINE, v1::JobKind::Decay));
}

fn erase_mine() -> v1::EraseRequest {
    v1::EraseRequest {
        brain: MINE.into(),
        event_ids: vec![0],
        ..Default::default()
    }
}

/// An erase that a file hinders whose brain the caller may not see.
async fn refused_without_name(
    memory: &mut MemoryServiceClient<tonic::transport::Channel>,
    token: &str,
) {
    let refused = memory.erase(with(token, erase_mine())).await.unwrap_err();
    assert!(!format!("{refused:?}").contains(VEILED), "{refused:?}");
    let words = ["administrator of all brains"];
    check_refused::<()>(Err(refused), Code::FailedPrecondition, "KEPT_FILE", &words);
}

#[tokio::test]
async fn an_erasure_blocked_by_another_brains_file_is_refused_without_its_name() {
    let (daemon, token) = daemon().await;
    disturb(&daemon);
    let mut memory = MemoryServiceClient::new(channel(&daemon).await);
    refused_without_name(&mut memory, &token).await;
    let client = daemon.client().await;
    let kept = client
        .admin()
        .list_kept_files(v1::ListKeptFilesRequest::default())
        .await;
    let kept = kept.unwrap().into_inner().files.remove(0).file;
    // A caller with the role gets the name.
    let refused = client.memory().erase(erase_mine()).await;
    check_refused(
        refused,
        Code::FailedPrecondition,
        "KEPT_FILE",
        &[kept.as_str()],
    );
    let request = v1::ResolveKeptFileRequest {
        file: kept,
        action: Some(v1::resolve_kept_file_request::Action::Discard(true)),
    };
    client.admin().resolve_kept_file(request).await.unwrap();
    memory.erase(with(&token, erase_mine())).await.unwrap();
}

#[tokio::test]
async fn an_erasure_that_may_be_blocked_by_another_brain_is_refused_without_its_name() {
    // With so long a journal it would take more memory than a file that is looked through may.
    const JOURNAL_BYTES: u64 = 257 << 20;
    let (daemon, token) = daemon().await;
    let (copy, veiled) = (
        daemon.place.path("copy"),
        daemon.place.path(&format!("brains/{VEILED}.amem")),
    );
    // What is between its frames and its end is a hole.
    let bytes = fs::read(&veiled).unwrap();
    fs::write(&copy, &bytes).unwrap();
    let file = fs::OpenOptions::new().write(true).open(&copy).unwrap();
    file.set_len(bytes.len() as u64 + JOURNAL_BYTES).unwrap();
    drop(file);
    fs::rename(&copy, &veiled).unwrap();
    daemon.says("it is quarantined as a conflict");

    let mut memory = MemoryServiceClient::new(channel(&daemon).await);
    refused_without_name(&mut memory, &token).await;
    // A caller with the role gets the name and the reason.
    let client = daemon.client().await;
    let refused = client.memory().erase(erase_mine()).await;
    let words = ["conflicts/veiled-", "cannot be searched", "memory"];
    check_refused(refused, Code::FailedPrecondition, "KEPT_FILE", &words);
}
