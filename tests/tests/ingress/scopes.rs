//! Tokens with a scope: fact memory within it, and nothing else.
//!
//! Every call of FactService is found by its descriptor, so that a new one without the scope fails here.

use amem_client::v1;
use amem_client::v1::fact_service_client::FactServiceClient;
use amem_client::v1::memory_service_client::MemoryServiceClient;
use prost::Message;
use prost_types::{DescriptorProto, FileDescriptorSet};
use tonic::Code;
use tonic::transport::Channel;

use crate::process::{Daemon, Setup, check_refused};
use crate::tokens::{TCP, connect, revoke, with};
use crate::walk::{self, Outcome};

/// A user, by a name that no id and no header contains.
const ADA: &str = "ada-queen";

/// What only the memories of ada have: none of it is in an answer to bob.
const SECRETS: [&str; 4] = ["Zanzibar", ADA, "zebra-agent", "zinc-app"];

fn scope(user: &str) -> v1::Scope {
    v1::Scope {
        user: Some(user.into()),
        ..v1::Scope::default()
    }
}

async fn token(daemon: &Daemon, name: &str, scope: v1::Scope) -> String {
    let request = v1::CreateTokenRequest {
        name: name.into(),
        permission: v1::Permission::Write.into(),
        scope: Some(scope),
        ..v1::CreateTokenRequest::default()
    };
    let client = daemon.client().await;
    let made = client.admin().create_token(request).await;
    made.unwrap().into_inner().token
}

/// Adds a text as it is, within the scope of the token.
fn keeps(text: &str) -> v1::AddFactsRequest {
    v1::AddFactsRequest {
        messages: vec![v1::FactMessage {
            text: text.into(),
            ..v1::FactMessage::default()
        }],
        infer: Some(false),
        ..v1::AddFactsRequest::default()
    }
}

async fn keep(channel: &Channel, token: &str, request: v1::AddFactsRequest) -> String {
    let mut facts = FactServiceClient::new(channel.clone());
    let added = facts.add_facts(with(token, request)).await.unwrap();
    added.into_inner().results[0].id.clone()
}

/// The memories that a token shows.
async fn texts(channel: &Channel, token: &str) -> Vec<String> {
    let mut facts = FactServiceClient::new(channel.clone());
    let listed = facts.list_facts(with(token, v1::ListFactsRequest::default()));
    let listed = listed.await.unwrap().into_inner().facts;
    let mut texts: Vec<_> = listed.into_iter().map(|fact| fact.memory).collect();
    texts.sort();
    texts
}

/// The calls of FactService: path, name, and the number of the field that is the scope of the request.
fn fact_calls() -> Vec<(String, String, u32)> {
    let set = FileDescriptorSet::decode(v1::DESCRIPTORS).unwrap();
    let messages = || set.file.iter().flat_map(|file| &file.message_type);
    let find = |name: &str| -> &DescriptorProto {
        let short = name.rsplit('.').next().unwrap();
        messages().find(|message| message.name() == short).unwrap()
    };
    let services = set.file.iter().flat_map(|file| &file.service);
    let service = services.into_iter().find(|s| s.name() == "FactService");
    let calls = service.unwrap().method.iter().map(|method| {
        let mut fields = find(method.input_type()).field.iter();
        let scope = fields.find(|field| field.name() == "scope").unwrap();
        assert_eq!(scope.type_name(), ".amem.v1.Scope", "{}", method.name());
        let path = format!("/amem.v1.FactService/{}", method.name());
        (path, method.name().to_owned(), scope.number() as u32)
    });
    calls.collect()
}

/// A daemon with memories of ada (also about an agent and an app) and of bob; their tokens; an id and a turn of ada's.
struct SharedBrain {
    daemon: Daemon,
    channel: Channel,
    ada: String,
    bob: String,
    id: String,
    turn: String,
}

async fn shared() -> SharedBrain {
    let daemon = Setup::new(TCP).start();
    let channel = connect(&daemon).await;
    let ada = token(&daemon, "a", scope(ADA)).await;
    let bob = token(&daemon, "b", scope("bob")).await;
    let wider = v1::AddFactsRequest {
        scope: Some(v1::Scope {
            agent: Some("zebra-agent".into()),
            app: Some("zinc-app".into()),
            ..v1::Scope::default()
        }),
        ..keeps("User boards the ferry to Zanzibar")
    };
    keep(&channel, &ada, wider).await;
    let mut facts = FactServiceClient::new(channel.clone());
    let said = v1::AddFactsRequest {
        infer: Some(true),
        ..keeps("I live in Zanzibar")
    };
    let added = facts.add_facts(with(&ada, said)).await.unwrap();
    let added = added.into_inner();
    let (id, turn) = (added.results[0].id.clone(), added.turn_ids[0].clone());
    keep(&channel, &bob, keeps("User likes tea")).await;
    SharedBrain {
        daemon,
        channel,
        ada,
        bob,
        id,
        turn,
    }
}

/// Everything of fact memory, as the daemon's own user sees it.
async fn everything(daemon: &Daemon, user: &str) -> String {
    let mut facts = daemon.client().await.facts();
    let request = v1::ListFactsRequest {
        scope: Some(scope(user)),
        ..v1::ListFactsRequest::default()
    };
    let listed = facts.list_facts(request).await.unwrap().into_inner().facts;
    let mut out = format!("{listed:?}");
    for fact in listed {
        let request = v1::GetFactHistoryRequest {
            id: fact.id,
            ..v1::GetFactHistoryRequest::default()
        };
        let told = facts.get_fact_history(request).await.unwrap();
        out += &format!("{:?}", told.into_inner().records);
    }
    out
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_token_with_a_scope_makes_no_call_but_those_of_fact_memory() {
    let SharedBrain {
        channel,
        ada,
        daemon,
        ..
    } = shared().await;
    let others = walk::calls()
        .into_iter()
        .filter(|path| path.starts_with("/amem.") && !path.contains(".FactService/"));
    let mut count = 0;
    for path in others {
        let told = walk::call(&channel, &ada, &path, Vec::new(), "~").await;
        let Outcome::Refused(code, reason, words) = &told else {
            panic!("{path} was done: {told:?}")
        };
        let is_refused = (*code, reason.as_str()) == (Code::PermissionDenied, "TOKEN_SCOPE");
        assert!(is_refused, "{path}: {code:?} {reason} {words}");
        assert!(
            words.contains("user_id \"ada-queen\"") && words.contains("amemctl fact"),
            "{words}"
        );
        count += 1;
    }
    assert!(count > 40, "only {count} calls were made");
    // Health is that of the daemon: brains are not listed.
    let (is_done, told) =
        walk::hear(&channel, &ada, "/grpc.health.v1.Health/List", Vec::new()).await;
    assert!(is_done && !told.contains("brain/"), "{told}");
    let unscoped = daemon.token().await;
    let (_, told) = walk::hear(
        &channel,
        &unscoped,
        "/grpc.health.v1.Health/List",
        Vec::new(),
    )
    .await;
    assert!(told.contains("brain/memories"), "{told}");
    // A stream of writes is no way around it.
    let mut memory = MemoryServiceClient::new(channel);
    let stream = tokio_stream::iter([v1::IngestStreamRequest::default()]);
    let answer = memory.ingest_stream(with(&ada, stream)).await.map(drop);
    check_refused(answer, Code::PermissionDenied, "TOKEN_SCOPE", &["token:a"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_call_of_facts_refuses_a_scope_that_is_not_the_tokens() {
    let SharedBrain {
        daemon: _daemon,
        channel,
        ada,
        ..
    } = shared().await;
    let narrow = v1::Scope {
        agent: Some("helper".into()),
        ..scope("bob")
    };
    let wrong = [
        scope("bob"),
        scope(""),
        scope("*"),
        scope("Ada-queen"),
        narrow,
    ];
    let calls = fact_calls();
    assert!(calls.len() >= 14, "{calls:?}");
    for (path, _, number) in calls {
        for scope in &wrong {
            let mut message = Vec::new();
            prost::encoding::message::encode(number, scope, &mut message);
            let told = walk::call(&channel, &ada, &path, message, "~").await;
            let is_refused = matches!(
                &told,
                Outcome::Refused(Code::PermissionDenied, reason, words)
                    if reason == "TOKEN_SCOPE" && words.contains("user_id \"ada-queen\" only")
            );
            assert!(is_refused, "{path} {scope:?}: {told:?}");
        }
    }
}

/// What another token asks for that knows ids of ada's: no message names a scope.
fn curious(call: &str, id: &str, turn: &str) -> Vec<Vec<u8>> {
    let by_id = || {
        let request = v1::GetFactRequest {
            id: id.into(),
            ..v1::GetFactRequest::default()
        };
        vec![request.encode_to_vec()]
    };
    let filters = ["", "{\"user_id\": \"ada-queen\"}", FILTER_OR, FILTER_NOT];
    match call {
        "GetFact" | "DeleteFact" | "GetFactHistory" => by_id(),
        "AddFacts" => filters
            .iter()
            .map(|filter| {
                let request = v1::AddFactsRequest {
                    infer: Some(true),
                    filter_json: (*filter).into(),
                    ..keeps("I moved to Rome")
                };
                request.encode_to_vec()
            })
            .collect(),
        "SearchFacts" => filters
            .iter()
            .map(|filter| {
                let request = v1::SearchFactsRequest {
                    query: "where is the ferry, and who lives there".into(),
                    filter_json: (*filter).into(),
                    explain: true,
                    ..v1::SearchFactsRequest::default()
                };
                request.encode_to_vec()
            })
            .collect(),
        "Recall" => filters
            .iter()
            .map(|filter| {
                let request = v1::RecallRequest {
                    question: "where is the ferry, and who lives there".into(),
                    filter_json: (*filter).into(),
                    relevance_min: Some(0.0),
                    ..v1::RecallRequest::default()
                };
                request.encode_to_vec()
            })
            .collect(),
        "ListFacts" => filters
            .iter()
            .map(|filter| {
                let request = v1::ListFactsRequest {
                    filter_json: (*filter).into(),
                    ..v1::ListFactsRequest::default()
                };
                request.encode_to_vec()
            })
            .collect(),
        "DeleteFacts" => filters
            .iter()
            .map(|filter| {
                let request = v1::DeleteFactsRequest {
                    filter_json: (*filter).into(),
                    ..v1::DeleteFactsRequest::default()
                };
                request.encode_to_vec()
            })
            .collect(),
        "UpdateFact" => {
            let request = v1::UpdateFactRequest {
                id: id.into(),
                text: Some("User lives in Rome".into()),
                ..v1::UpdateFactRequest::default()
            };
            vec![request.encode_to_vec()]
        }
        "SetFactFeedback" => {
            let request = v1::SetFactFeedbackRequest {
                id: id.into(),
                rating: v1::FactRating::Negative.into(),
                ..v1::SetFactFeedbackRequest::default()
            };
            vec![request.encode_to_vec()]
        }
        "ReviewFact" => {
            let request = v1::ReviewFactRequest {
                id: id.into(),
                verdict: v1::FactVerdict::Reject.into(),
                ..v1::ReviewFactRequest::default()
            };
            vec![request.encode_to_vec()]
        }
        "GetEntity" | "EraseEntity" => ["zanzibar", "User"]
            .map(|name| {
                let request = v1::GetEntityRequest {
                    name: name.into(),
                    ..v1::GetEntityRequest::default()
                };
                request.encode_to_vec()
            })
            .into(),
        "SetEntity" => {
            let request = v1::SetEntityRequest {
                name: "zanzibar".into(),
                aliases: vec!["User".into()],
                ..v1::SetEntityRequest::default()
            };
            vec![request.encode_to_vec()]
        }
        "ListEntities" | "ListRelations" => vec![Vec::new()],
        "ExportFacts" => filters
            .iter()
            .map(|filter| {
                let request = v1::ExportFactsRequest {
                    filter_json: (*filter).into(),
                    history: true,
                    ..v1::ExportFactsRequest::default()
                };
                request.encode_to_vec()
            })
            .collect(),
        "BatchUpdateFacts" => {
            let update = v1::FactUpdate {
                id: id.into(),
                text: Some("User lives in Rome".into()),
                ..v1::FactUpdate::default()
            };
            let request = v1::BatchUpdateFactsRequest {
                updates: vec![update],
                ..v1::BatchUpdateFactsRequest::default()
            };
            vec![request.encode_to_vec()]
        }
        "BatchDeleteFacts" => {
            let request = v1::BatchDeleteFactsRequest {
                ids: vec![id.into()],
                ..v1::BatchDeleteFactsRequest::default()
            };
            vec![request.encode_to_vec()]
        }
        "EraseFactSource" => {
            let request = v1::EraseFactSourceRequest {
                turn_id: turn.into(),
                ..v1::EraseFactSourceRequest::default()
            };
            vec![request.encode_to_vec()]
        }
        "ResetFacts" => [true, false]
            .map(|everything| {
                let request = v1::ResetFactsRequest {
                    everything,
                    ..v1::ResetFactsRequest::default()
                };
                request.encode_to_vec()
            })
            .into(),
        "ListFactScopes" | "ListFactConflicts" | "ListPendingFacts" | "RetryPendingFacts" => {
            vec![Vec::new()]
        }
        new => panic!("say what a curious caller asks of the new call {new}"),
    }
}

const FILTER_OR: &str = r#"{"OR": [{"user_id": "bob"}, {"user_id": "ada-queen"}]}"#;
const FILTER_NOT: &str = r#"{"NOT": [{"user_id": "bob"}]}"#;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_call_of_facts_shows_or_changes_what_another_token_has() {
    let SharedBrain {
        daemon,
        channel,
        bob,
        id,
        turn,
        ..
    } = shared().await;
    let before = everything(&daemon, ADA).await;
    assert!(before.contains("Zanzibar"), "{before}");
    let mut done = Vec::new();
    for (path, call, _) in fact_calls() {
        for message in curious(&call, &id, &turn) {
            let (is_done, told) = walk::hear(&channel, &bob, &path, message).await;
            if is_done {
                done.push(call.clone());
            }
            for secret in SECRETS {
                assert!(!told.contains(secret), "{call} tells {secret}: {told}");
            }
        }
    }
    let after = everything(&daemon, ADA).await;
    assert_eq!(after, before);
    // Calls by id find nothing, batches say so of each id, everything else was done with bob's own.
    let by_id = [
        "GetFact",
        "GetFactHistory",
        "UpdateFact",
        "DeleteFact",
        "SetFactFeedback",
        "EraseFactSource",
        "ReviewFact",
        "GetEntity",
    ];
    for (_, call, _) in fact_calls() {
        assert_eq!(
            done.contains(&call),
            !by_id.contains(&&*call),
            "{call}: {done:?}"
        );
    }
    // Everything of the brain is for administrators, which no token with a scope is.
    let everything = v1::ResetFactsRequest {
        everything: true,
        ..v1::ResetFactsRequest::default()
    };
    let mut facts = FactServiceClient::new(channel);
    let answer = facts.reset_facts(with(&bob, everything)).await;
    check_refused(answer, Code::PermissionDenied, "ROLE", &["token:b"]);
    let client = daemon.client().await;
    let request = v1::CreateTokenRequest {
        name: "c".into(),
        permission: v1::Permission::Admin.into(),
        scope: Some(scope("bob")),
        ..v1::CreateTokenRequest::default()
    };
    let answer = client.admin().create_token(request).await;
    check_refused(answer, Code::InvalidArgument, "INVALID", &["permission"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tokens_of_two_users_share_a_brain_and_its_keys_without_meeting() {
    let SharedBrain {
        daemon,
        channel,
        ada,
        bob,
        ..
    } = shared().await;
    let mut facts = FactServiceClient::new(channel.clone());
    // One key and one text, and each has an answer of its own, at first and again.
    let request = || v1::AddFactsRequest {
        idempotency_key: "k".into(),
        ..keeps("User plays chess")
    };
    let mut ids = Vec::new();
    for token in [&ada, &bob, &ada, &bob] {
        ids.push(keep(&channel, token, request()).await);
    }
    assert_eq!((&ids[0], &ids[1]), (&ids[2], &ids[3]));
    assert_ne!(ids[0], ids[1]);
    let options = Some(v1::WriteOptions {
        request_id: uuid::Uuid::now_v7().to_string(),
        ..v1::WriteOptions::default()
    });
    for (token, id) in [(&ada, &ids[0]), (&bob, &ids[1])] {
        for _ in 0..2 {
            let update = v1::UpdateFactRequest {
                id: id.clone(),
                text: Some("User plays go".into()),
                options: options.clone(),
                ..v1::UpdateFactRequest::default()
            };
            let updated = facts.update_fact(with(token, update)).await.unwrap();
            assert_eq!(updated.into_inner().fact.unwrap().id, *id);
        }
    }
    // Counts are those of the token's own.
    let users = facts.list_fact_scopes(with(&bob, v1::ListFactScopesRequest::default()));
    let users = users.await.unwrap().into_inner().scopes;
    let users: Vec<_> = users
        .iter()
        .map(|one| (&*one.field, &*one.value, one.memories))
        .collect();
    assert_eq!(users, [("user_id", "bob", 2)]);
    // A reset takes the token's own, a revoked token nothing more.
    facts
        .reset_facts(with(&bob, v1::ResetFactsRequest::default()))
        .await
        .unwrap();
    assert!(texts(&channel, &bob).await.is_empty());
    assert_eq!(texts(&channel, &ada).await.len(), 3);
    revoke(&daemon, "a").await;
    let answer = facts
        .list_facts(with(&ada, v1::ListFactsRequest::default()))
        .await;
    check_refused(answer, Code::Unauthenticated, "TOKEN", &["revoked"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tokens_are_listed_with_their_scopes_and_keep_them_over_a_restart() {
    let SharedBrain {
        daemon, ada, bob, ..
    } = shared().await;
    let unscoped = daemon.token().await;
    let place = daemon.end();
    let daemon = place.start();
    let client = daemon.client().await;
    let listed = client
        .admin()
        .list_tokens(v1::ListTokensRequest::default())
        .await;
    let listed = listed.unwrap().into_inner().tokens;
    let scopes: Vec<_> = listed.into_iter().map(|token| token.scope).collect();
    assert_eq!(scopes, [Some(scope(ADA)), Some(scope("bob")), None]);
    let channel = connect(&daemon).await;
    assert_eq!(texts(&channel, &ada).await.len(), 2);
    assert_eq!(texts(&channel, &bob).await, ["User likes tea"]);
    let mut facts = FactServiceClient::new(channel.clone());
    let answer = facts
        .list_facts(with(&unscoped, v1::ListFactsRequest::default()))
        .await;
    check_refused(answer, Code::InvalidArgument, "SCOPE", &[]);
    // By hand one is for another user.
    let path = daemon.place.path("tokens.toml");
    let text = std::fs::read_to_string(&path).unwrap();
    let changed = text.replace("user = \"ada-queen\"", "user = \"bob\"");
    assert_ne!(changed, text);
    std::fs::write(&path, changed).unwrap();
    daemon.signal("-HUP");
    daemon.says("reloaded the configuration");
    assert_eq!(texts(&channel, &ada).await, ["User likes tea"]);
}
