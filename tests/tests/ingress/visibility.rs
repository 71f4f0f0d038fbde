//! Brains without a role for a caller: no call reveals that they exist.

use std::fs;

use amem_client::v1;
use amem_client::v1::admin_service_client::AdminServiceClient;
use amem_client::v1::brain_service_client::BrainServiceClient;
use prost::Message;
use tonic::service::Interceptor;
use tonic::service::interceptor::InterceptedService;
use tonic::transport::{Channel, Endpoint};
use tonic::{Code, Request, Status};
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_client::HealthClient;

use crate::process::{Daemon, Setup, check_refused};
use crate::walk::{self, Outcome};

const TCP: &str = "[tcp]\nlisten = \"127.0.0.1:0\"\ntokens_file = \"tokens.toml\"\n";

/// The brain of the caller, one that is not for it, and one that is not there; the last two are as long.
pub(crate) const MINE: &str = "mine";
pub(crate) const VEILED: &str = "veiled";
const ABSENT: &str = "absent";

/// Shows a token with every call.
#[derive(Clone)]
struct TokenInterceptor(String);

impl Interceptor for TokenInterceptor {
    fn call(&mut self, mut request: Request<()>) -> Result<Request<()>, Status> {
        let bearer = format!("Bearer {}", self.0).parse().unwrap();
        request.metadata_mut().insert("authorization", bearer);
        Ok(request)
    }
}

type TokenChannel = InterceptedService<Channel, TokenInterceptor>;

pub(crate) async fn channel(daemon: &Daemon) -> Channel {
    let address = daemon.tcp.unwrap();
    let endpoint = Endpoint::from_shared(format!("http://{address}")).unwrap();
    endpoint.connect().await.unwrap()
}

/// A daemon with two brains, and the token of an administrator of one of them.
pub(crate) async fn daemon() -> (Daemon, String) {
    let daemon = Setup::new(TCP).start();
    let client = daemon.client().await;
    for brain in [MINE, VEILED] {
        let request = v1::CreateBrainRequest {
            brain: brain.into(),
            ..Default::default()
        };
        client.brains().create_brain(request).await.unwrap();
        let event = v1::NewEvent {
            text: format!("of {brain}"),
            ..Default::default()
        };
        let opened = client.brain(brain).await.unwrap();
        opened.ingest(vec![event]).await.unwrap();
        // There are jobs of it.
        let request = v1::CheckpointBrainRequest {
            brain: brain.into(),
        };
        client.brains().checkpoint_brain(request).await.unwrap();
    }
    let token = daemon
        .token_for("mine", v1::Permission::Admin, &[MINE])
        .await;
    (daemon, token)
}

fn of_a_user() -> Option<v1::Scope> {
    Some(v1::Scope {
        user: Some("ada".into()),
        ..Default::default()
    })
}

/// What some calls must say beside the name, so that the name is looked at.
fn other(call: &str) -> Vec<u8> {
    match call {
        "RemoveBrain brain" => v1::RemoveBrainRequest {
            instance: uuid::Uuid::nil().to_string(),
            ..Default::default()
        }
        .encode_to_vec(),
        "Correct brain" => v1::CorrectRequest {
            event: Some(v1::NewEvent {
                text: "believed now".into(),
                ..Default::default()
            }),
            ..Default::default()
        }
        .encode_to_vec(),
        // The same fields.
        "Link brain" | "Unlink brain" => v1::LinkRequest {
            r#type: v1::EdgeType::Supports.into(),
            ..Default::default()
        }
        .encode_to_vec(),
        "AddFacts brain" => v1::AddFactsRequest {
            scope: of_a_user(),
            ..Default::default()
        }
        .encode_to_vec(),
        "GetFact brain" | "GetFactHistory brain" | "DeleteFact brain" | "EraseFactSource brain" => {
            v1::GetFactRequest {
                id: uuid::Uuid::nil().to_string(),
                ..Default::default()
            }
            .encode_to_vec()
        }
        "UpdateFact brain" => v1::UpdateFactRequest {
            id: uuid::Uuid::nil().to_string(),
            text: Some("believed now".into()),
            ..Default::default()
        }
        .encode_to_vec(),
        "SetFactFeedback brain" => v1::SetFactFeedbackRequest {
            id: uuid::Uuid::nil().to_string(),
            rating: v1::FactRating::Positive.into(),
            ..Default::default()
        }
        .encode_to_vec(),
        "ReviewFact brain" => v1::ReviewFactRequest {
            id: uuid::Uuid::nil().to_string(),
            verdict: v1::FactVerdict::Accept.into(),
            ..Default::default()
        }
        .encode_to_vec(),
        "GetEntity brain" | "EraseEntity brain" => v1::GetEntityRequest {
            scope: of_a_user(),
            name: "Ada".into(),
            ..Default::default()
        }
        .encode_to_vec(),
        "SetEntity brain" => v1::SetEntityRequest {
            scope: of_a_user(),
            name: "Ada".into(),
            ..Default::default()
        }
        .encode_to_vec(),
        "ListEntities brain" => v1::ListEntitiesRequest {
            scope: of_a_user(),
            ..Default::default()
        }
        .encode_to_vec(),
        "ListRelations brain" => v1::ListRelationsRequest {
            scope: of_a_user(),
            ..Default::default()
        }
        .encode_to_vec(),
        "DeleteFacts brain" | "ListFactConflicts brain" | "ResetFacts brain" => {
            v1::ResetFactsRequest {
                scope: of_a_user(),
                ..Default::default()
            }
            .encode_to_vec()
        }
        "PutItem brain" => v1::PutItemRequest {
            put: Some(v1::ItemPut {
                namespace: vec!["a".into()],
                key: "k".into(),
                value_json: Some("{}".into()),
                ..Default::default()
            }),
            ..Default::default()
        }
        .encode_to_vec(),
        "GetItem brain" => v1::GetItemRequest {
            get: Some(v1::ItemGet {
                namespace: vec!["a".into()],
                key: "k".into(),
                ..Default::default()
            }),
            ..Default::default()
        }
        .encode_to_vec(),
        "DeleteItem brain" => v1::DeleteItemRequest {
            namespace: vec!["a".into()],
            key: "k".into(),
            ..Default::default()
        }
        .encode_to_vec(),
        "SearchItems brain" => v1::SearchItemsRequest {
            search: Some(v1::ItemSearch::default()),
            ..Default::default()
        }
        .encode_to_vec(),
        "RunJob brain" => v1::RunJobRequest {
            kind: v1::JobKind::Decay.into(),
            ..Default::default()
        }
        .encode_to_vec(),
        "MergeBrain options.brain" => {
            let options = v1::MergeOptions {
                from: Some(v1::merge_options::From::FromBrain(MINE.into())),
                ..Default::default()
            };
            let part = v1::merge_brain_request::Part::Options(options);
            v1::MergeBrainRequest { part: Some(part) }.encode_to_vec()
        }
        "MergeBrain options.from_brain" => {
            let options = v1::MergeOptions {
                brain: MINE.into(),
                ..Default::default()
            };
            let part = v1::merge_brain_request::Part::Options(options);
            v1::MergeBrainRequest { part: Some(part) }.encode_to_vec()
        }
        _ => Vec::new(),
    }
}

#[tokio::test]
async fn every_call_answers_alike_for_a_missing_and_a_forbidden_brain() {
    let (daemon, token) = daemon().await;
    let channel = channel(&daemon).await;
    let places = walk::all();
    assert!(
        places.len() > 45,
        "only {} places were looked at",
        places.len()
    );
    let mut wrong = Vec::new();
    for place in places {
        let words = place.words();
        let ask = async |name: &str| {
            let message = place.message(name, &other(&words));
            walk::call(&channel, &token, &place.path, message, name).await
        };
        let (veiled, absent) = (ask(VEILED).await, ask(ABSENT).await);
        let is_right = match words.as_str() {
            // Whether a name is free is not for it to know.
            "CreateBrain brain" | "ImportBrain options.brain" => {
                matches!(&veiled, Outcome::Refused(Code::PermissionDenied, reason, _) if reason == "ROLE")
            }
            // A list of what there is.
            "ListSchedules brain" => veiled == Outcome::Answer(String::new()),
            "IngestStream batch.brain" => {
                matches!(&veiled, Outcome::Answer(told) if told.contains("UNKNOWN_BRAIN"))
            }
            _ => {
                matches!(&veiled, Outcome::Refused(Code::NotFound, reason, _) if reason == "UNKNOWN_BRAIN")
            }
        };
        if veiled != absent || !is_right {
            wrong.push(format!("{words}: {veiled:?}, and absent {absent:?}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    // A caller with the role sees a difference.
    let all = daemon.token().await;
    let request = v1::GetBrainRequest {
        brain: VEILED.into(),
    };
    let path = "/amem.v1.BrainService/GetBrain";
    let told = walk::call(&channel, &all, path, request.encode_to_vec(), VEILED).await;
    assert!(matches!(told, Outcome::Answer(_)), "{told:?}");
}

/// All that is listed, as text, for a caller with a token.
async fn listed(daemon: &Daemon, token: &str) -> String {
    let shows = TokenInterceptor(token.to_owned());
    let channel = channel(daemon).await;
    let mut admin: AdminServiceClient<TokenChannel> =
        AdminServiceClient::with_interceptor(channel.clone(), shows.clone());
    let mut brains = BrainServiceClient::with_interceptor(channel, shows);
    let status = admin.get_status(v1::GetStatusRequest {}).await.unwrap();
    let status = status.into_inner();
    let told = (
        (status.brains, status.problems, status.brain_count),
        (status.jobs, status.files_waiting),
        (status.failed_brains, status.rejected_files),
        admin
            .list_problems(v1::ListProblemsRequest::default())
            .await,
        brains.list_brains(v1::ListBrainsRequest::default()).await,
        admin.list_jobs(v1::ListJobsRequest::default()).await,
        admin
            .list_schedules(v1::ListSchedulesRequest::default())
            .await,
        admin
            .list_kept_files(v1::ListKeptFilesRequest::default())
            .await,
    );
    format!("{told:?}")
}

/// Has a file of the other brain quarantined, which is a copy of the caller's, and a third file that is none.
pub(crate) fn disturb(daemon: &Daemon) {
    let at = |name: &str| daemon.place.path(&format!("brains/{name}.amem"));
    let copy = daemon.place.path("copy");
    fs::copy(at(MINE), &copy).unwrap();
    fs::rename(&copy, at(VEILED)).unwrap();
    daemon.says("it is quarantined as a conflict");
    fs::write(daemon.place.path("x"), "no brain").unwrap();
    fs::rename(daemon.place.path("x"), at("veiled-and-broken")).unwrap();
    daemon.says("rejected");
}

#[tokio::test]
async fn lists_and_health_show_the_callers_brains_only() {
    let (daemon, token) = daemon().await;
    disturb(&daemon);
    let all = daemon.token_of("all", v1::Permission::Admin).await;
    let whole = listed(&daemon, &all).await;
    for name in [
        MINE,
        "\"veiled\"",
        "veiled-and-broken",
        "Conflict",
        "JobCount",
    ] {
        assert!(whole.contains(name), "{name}: {whole}");
    }
    assert!(whole.contains("rejected_files: 1"), "{whole}");
    let part = listed(&daemon, &token).await;
    assert!(part.contains("rejected_files: 0"), "{part}");
    assert!(part.contains(MINE) && !part.contains("veiled"), "{part}");
    assert!(
        !part.contains("JobCount") && !part.contains("KeptFile {"),
        "{part}"
    );

    let kept = whole.split("file: \"").nth(1).unwrap();
    let kept = kept.split('"').next().unwrap().to_owned();
    let channel = channel(&daemon).await;
    let shows = TokenInterceptor(token.clone());
    let mut admin = AdminServiceClient::with_interceptor(channel.clone(), shows.clone());
    for file in [kept.as_str(), "conflicts/none"] {
        for action in [
            v1::resolve_kept_file_request::Action::Discard(true),
            v1::resolve_kept_file_request::Action::RestoreAs("new".into()),
        ] {
            let request = v1::ResolveKeptFileRequest {
                file: file.into(),
                action: Some(action),
            };
            let answer = admin.resolve_kept_file(request).await;
            check_refused(answer, Code::NotFound, "UNKNOWN_FILE", &[file]);
        }
    }

    let mut lists = amem_proto::health::health_client::HealthClient::with_interceptor(
        channel.clone(),
        shows.clone(),
    );
    let services = lists.list(amem_proto::health::HealthListRequest {}).await;
    let services = services.unwrap().into_inner().statuses;
    assert!(services.contains_key("") && services.contains_key("amem.v1.QueryService"));
    let brains = services.keys().filter(|name| name.starts_with("brain/"));
    assert_eq!(brains.collect::<Vec<_>>(), [&format!("brain/{MINE}")]);
    let mut health = HealthClient::with_interceptor(channel, shows);
    let mut checked = async |name: &str| {
        let service = format!("brain/{name}");
        let asked = HealthCheckRequest { service };
        let watched = health.watch(asked.clone()).await.map(drop);
        let checked = health.check(asked).await.map(drop);
        [watched, checked].map(|answer| answer.map_err(|s| (s.code(), s.message().to_owned())))
    };
    assert_eq!(checked(MINE).await, [Ok(()), Ok(())]);
    let veiled = checked(VEILED).await;
    assert_eq!(veiled, checked(ABSENT).await);
    assert!(
        veiled
            .iter()
            .all(|answer| matches!(answer, Err((Code::NotFound, _))))
    );
}

#[tokio::test]
async fn a_caller_with_roles_for_some_brains_neither_creates_nor_administers() {
    let (daemon, token) = daemon().await;
    let channel = channel(&daemon).await;
    let denied =
        async |path: &str, message: Vec<u8>| match walk::call(&channel, &token, path, message, "-")
            .await
        {
            Outcome::Refused(Code::PermissionDenied, reason, words) => {
                assert_eq!(reason, "ROLE", "{path}");
                assert!(
                    words.contains("token:mine") && words.contains("all brains"),
                    "{words}"
                );
            }
            other => panic!("{path}: {other:?}"),
        };
    for call in [
        "Reload",
        "Shutdown",
        "CreateToken",
        "ListTokens",
        "RevokeToken",
    ] {
        denied(&format!("/amem.v1.AdminService/{call}"), Vec::new()).await;
    }
    let create = v1::CreateBrainRequest {
        brain: "new".into(),
        ..Default::default()
    };
    denied("/amem.v1.BrainService/CreateBrain", create.encode_to_vec()).await;
    // Its own it may do everything with, but not more than its role says.
    let reads = daemon
        .token_for("reads", v1::Permission::Read, &[MINE])
        .await;
    let shows = |token: &str| TokenInterceptor(token.to_owned());
    let mut brains = BrainServiceClient::with_interceptor(channel.clone(), shows(&reads));
    let open = v1::OpenBrainRequest { brain: MINE.into() };
    let opened = brains.open_brain(open.clone()).await.unwrap().into_inner();
    assert_eq!(opened.permission(), v1::Permission::Read);
    let request = v1::CheckpointBrainRequest { brain: MINE.into() };
    let answer = brains.checkpoint_brain(request).await;
    check_refused(
        answer,
        Code::PermissionDenied,
        "ROLE",
        &["token:reads", "write"],
    );
    let mut brains = BrainServiceClient::with_interceptor(channel, shows(&token));
    let opened = brains.open_brain(open).await.unwrap().into_inner();
    assert_eq!(opened.permission(), v1::Permission::Admin);
    assert!(!opened.direct_read);
    let request = v1::RemoveBrainRequest {
        brain: MINE.into(),
        instance: opened.moment.unwrap().instance,
    };
    brains.remove_brain(request).await.unwrap();
}
