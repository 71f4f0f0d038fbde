//! Tokens: from when and until when they are valid, and where they never appear.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use amem_client::v1;
use amem_client::v1::admin_service_client::AdminServiceClient;
use amem_client::v1::memory_service_client::MemoryServiceClient;
use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_stream::wrappers::ReceiverStream;
use tonic::transport::{Channel, Endpoint};
use tonic::{Code, Request, Status, Streaming};

use crate::process::{Daemon, Setup, ask, check_refused};

pub(crate) const TCP: &str = "[tcp]\nlisten = \"127.0.0.1:0\"\ntokens_file = \"tokens.toml\"\n";

pub(crate) async fn connect(daemon: &Daemon) -> Channel {
    let address = daemon.tcp.unwrap();
    let endpoint = Endpoint::from_shared(format!("http://{address}")).unwrap();
    endpoint.connect().await.unwrap()
}

/// A call with a token.
pub(crate) fn with<T>(token: &str, message: T) -> Request<T> {
    let mut request = Request::new(message);
    let bearer = format!("Bearer {token}").parse().unwrap();
    request.metadata_mut().insert("authorization", bearer);
    request
}

pub(crate) async fn create(daemon: &Daemon, brain: &str) {
    let request = v1::CreateBrainRequest {
        brain: brain.into(),
        ..Default::default()
    };
    let client = daemon.client().await;
    client.brains().create_brain(request).await.unwrap();
}

pub(crate) async fn revoke(daemon: &Daemon, name: &str) {
    let request = v1::RevokeTokenRequest { name: name.into() };
    let client = daemon.client().await;
    client.admin().revoke_token(request).await.unwrap();
}

pub(crate) fn batch(text: &str) -> v1::IngestRequest {
    v1::IngestRequest {
        brain: "b".into(),
        events: vec![v1::NewEvent {
            text: text.into(),
            ..Default::default()
        }],
        ..Default::default()
    }
}

/// How a stream of answers ends; what comes before that is passed over.
async fn end<T: std::fmt::Debug>(mut answers: Streaming<T>) -> Result<Option<T>, Status> {
    let reading = async {
        loop {
            match answers.message().await {
                Ok(Some(_)) => {}
                end => return end,
            }
        }
    };
    timeout(Duration::from_secs(20), reading)
        .await
        .expect("the stream goes on")
}

#[tokio::test]
async fn without_a_token_tcp_is_refused_with_the_remedy_until_there_is_one() {
    let place = Setup::new(TCP);
    let output = place.command().arg("--check-config").output().unwrap();
    assert!(output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("amemctl token create"));
    let daemon = place.start();
    let channel = connect(&daemon).await;
    for token in ["", "amem_00"] {
        let bearer = format!("Bearer {token}");
        let answer = ask(channel.clone(), &[("authorization", &bearer)]).await;
        let words = ["no token exists", "amemctl token create"];
        check_refused(answer, Code::Unauthenticated, "TOKEN", &words);
    }
    let token = daemon.token().await;
    let bearer = format!("Bearer {token}");
    ask(channel, &[("authorization", &bearer)]).await.unwrap();
    // It is there after a restart.
    let (place, said) = daemon.end_and_tell();
    assert!(said.contains("there is no token"), "{said}");
    let daemon = place.start();
    ask(connect(&daemon).await, &[("authorization", &bearer)])
        .await
        .unwrap();
    let (_, said) = daemon.end_and_tell();
    assert!(!said.contains("there is no token"), "{said}");
}

#[tokio::test]
async fn a_revoked_token_ends_its_calls_and_authorizes_none_on_open_connections() {
    let daemon = Setup::new(TCP).start();
    create(&daemon, "b").await;
    let (gone, stays) = (
        daemon.token().await,
        daemon.token_of("other", v1::Permission::Write).await,
    );
    let channel = connect(&daemon).await;
    let mut memory = MemoryServiceClient::new(channel.clone());
    let subscribe = || v1::SubscribeRequest {
        brain: "b".into(),
        ..Default::default()
    };
    let follows = |token: &str| {
        let (mut memory, request) = (memory.clone(), with(token, subscribe()));
        async move { memory.subscribe(request).await.unwrap().into_inner() }
    };
    let (ends, mut goes_on) = (follows(&gone).await, follows(&stays).await);
    let (batches, sent) = mpsc::channel(4);
    let one = |text: &str| v1::IngestStreamRequest {
        batch: Some(batch(text)),
    };
    batches.send(one("before")).await.unwrap();
    let streamed = memory
        .ingest_stream(with(&gone, ReceiverStream::new(sent)))
        .await;
    let mut streamed = streamed.unwrap().into_inner();
    streamed.message().await.unwrap().unwrap();

    revoke(&daemon, "test").await;
    // It is sent, if it is, to a stream that has ended.
    drop(batches.send(one("after")).await);
    for answer in [
        end(ends).await.map(drop),
        end(streamed).await.map(drop),
        memory.ingest(with(&gone, batch("after"))).await.map(drop),
    ] {
        check_refused(answer, Code::Unauthenticated, "TOKEN", &["revoked"]);
    }
    let answer = memory.ingest(with(&stays, batch("by the other"))).await;
    let last = answer.unwrap().into_inner().event_ids;
    assert_eq!(last, [1], "what was sent after the revocation was taken");
    // The one that stays hears of what came before and of what came after.
    let mut told = 0;
    while told < 2 {
        let message = timeout(Duration::from_secs(20), goes_on.message())
            .await
            .unwrap();
        told += usize::from(!message.unwrap().unwrap().changes.is_empty());
    }
}

/// How many calls of a name are under way.
async fn under_way(daemon: &Daemon, rpc: &str) -> u64 {
    let client = daemon.client().await;
    let asked = client
        .admin()
        .list_latencies(v1::ListLatenciesRequest::default())
        .await;
    let calls = asked.unwrap().into_inner().latencies.into_iter();
    calls
        .filter(|call| call.rpc.ends_with(rpc))
        .map(|call| call.in_flight)
        .sum()
}

#[tokio::test]
async fn a_request_that_arrives_after_its_token_was_revoked_is_not_executed() {
    let daemon = Setup::new(TCP).start();
    create(&daemon, "b").await;
    let gone = daemon.token_of("gone", v1::Permission::Admin).await;
    let stays = daemon.token_of("stays", v1::Permission::Write).await;
    let channel = connect(&daemon).await;
    // As a client would that opens a call and sends what it asks for when it likes.
    let (ask, asked) = mpsc::channel(1);
    let mut grpc = tonic::client::Grpc::new(channel.clone());
    grpc.ready().await.unwrap();
    let codec =
        tonic_prost::ProstCodec::<v1::CreateTokenRequest, v1::CreateTokenResponse>::default();
    let mut request = with(&gone, ReceiverStream::new(asked));
    request.set_timeout(Duration::from_secs(3000));
    let path = "/amem.v1.AdminService/CreateToken".parse().unwrap();
    let token = tokio::spawn(async move { grpc.client_streaming(request, path, codec).await });
    let (write, written) = mpsc::channel(1);
    let mut grpc = tonic::client::Grpc::new(channel.clone());
    grpc.ready().await.unwrap();
    let codec = tonic_prost::ProstCodec::<v1::IngestRequest, v1::IngestResponse>::default();
    let request = with(&gone, ReceiverStream::new(written));
    let path = "/amem.v1.MemoryService/Ingest".parse().unwrap();
    let event = tokio::spawn(async move { grpc.client_streaming(request, path, codec).await });
    while under_way(&daemon, "CreateToken").await + under_way(&daemon, "Ingest").await < 2 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }

    revoke(&daemon, "gone").await;
    let name = "new".to_owned();
    let asks = v1::CreateTokenRequest {
        name,
        permission: v1::Permission::Admin.into(),
        ..Default::default()
    };
    // They are sent, if they are, to calls that have ended.
    drop(ask.send(asks).await);
    drop(write.send(batch("after")).await);
    drop((ask, write));
    let refused = token.await.unwrap().map(drop);
    check_refused(refused, Code::Unauthenticated, "TOKEN", &["revoked"]);
    let refused = event.await.unwrap().map(drop);
    check_refused(refused, Code::Unauthenticated, "TOKEN", &["revoked"]);
    let client = daemon.client().await;
    let tokens = client
        .admin()
        .list_tokens(v1::ListTokensRequest::default())
        .await;
    let tokens = tokens.unwrap().into_inner().tokens;
    assert_eq!(tokens.len(), 1, "{tokens:?}");
    let mut memory = MemoryServiceClient::new(channel);
    let answer = memory.ingest(with(&stays, batch("by the other"))).await;
    assert_eq!(answer.unwrap().into_inner().event_ids, [0]);
}

#[tokio::test]
async fn an_invalid_token_file_is_reported_and_the_previous_tokens_stay_valid() {
    let daemon = Setup::new(TCP).start();
    let token = daemon.token().await;
    let bearer = format!("Bearer {token}");
    let channel = connect(&daemon).await;
    let path = daemon.place.path("tokens.toml");
    let good = fs::read_to_string(&path).unwrap();
    for (text, mode, words) in [
        (good.clone(), 0o644, "chmod 600"),
        (format!("{good}[[tok"), 0o600, "line "),
        (
            format!("{good}{good}"),
            0o600,
            "two tokens are named \\\"test\\\"",
        ),
    ] {
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
        daemon.signal("-HUP");
        let line = daemon.says("cannot reload the configuration");
        let line = line.replace('"', "\\\"").replace("\\\\", "\\");
        assert!(
            line.contains("tokens.toml") && line.contains(words),
            "{words}: {line}"
        );
        ask(channel.clone(), &[("authorization", &bearer)])
            .await
            .unwrap();
        let request = v1::RevokeTokenRequest {
            name: "test".into(),
        };
        let answer = daemon.client().await.admin().revoke_token(request).await;
        check_refused(
            answer,
            Code::FailedPrecondition,
            "TOKENS_FILE",
            &["nothing was changed"],
        );
        ask(channel.clone(), &[("authorization", &bearer)])
            .await
            .unwrap();
    }
    let place = daemon.end();
    let (code, told) = place.refused(&[]);
    assert_eq!(code, Some(1), "{told}");
    assert!(told.contains("two tokens"), "{told}");
    fs::write(&path, &good).unwrap();
    let daemon = place.start();
    ask(connect(&daemon).await, &[("authorization", &bearer)])
        .await
        .unwrap();
    // Taken out by hand, it is none after a reload.
    fs::remove_file(&path).unwrap();
    daemon.signal("-HUP");
    daemon.says("reloaded the configuration");
    let answer = ask(connect(&daemon).await, &[("authorization", &bearer)]).await;
    check_refused(answer, Code::Unauthenticated, "TOKEN", &[]);
}

#[tokio::test]
async fn a_token_identifies_its_callers_and_appears_in_no_file() {
    let daemon = Setup::new(&format!("{TCP}[log]\nfilter = \"trace\"\n")).start();
    create(&daemon, "b").await;
    let token = daemon.token_of("laptop.7", v1::Permission::Write).await;
    let channel = connect(&daemon).await;
    let mut memory = MemoryServiceClient::new(channel.clone());
    let written = memory.ingest(with(&token, batch("by the laptop"))).await;
    let commit = written.unwrap().into_inner().commit.unwrap();
    let got = v1::SubscribeRequest {
        brain: "b".into(),
        instance: commit.instance,
        after_lsn: Some(0),
        ..Default::default()
    };
    let mut commits = memory
        .subscribe(with(&token, got))
        .await
        .unwrap()
        .into_inner();
    let principal = loop {
        let commit = commits.message().await.unwrap().unwrap();
        if !commit.changes.is_empty() {
            break commit.principal;
        }
    };
    assert_eq!(principal, "token:laptop.7");
    // Wrong ones are no different.
    let mut admin = AdminServiceClient::new(channel);
    let wrong = format!("{}0", &token[..token.len() - 1]);
    for shown in [&wrong, &token] {
        let request = with(shown, v1::ReloadRequest {});
        admin.reload(request).await.unwrap_err();
    }
    let list = daemon
        .client()
        .await
        .admin()
        .list_tokens(v1::ListTokensRequest::default())
        .await;
    let list = list.unwrap().into_inner();
    assert_eq!(list.tokens[0].name, "laptop.7");
    let path = daemon.place.path("tokens.toml");
    let kept = fs::read_to_string(&path).unwrap();
    assert_eq!(
        fs::metadata(&path).unwrap().permissions().mode() & 0o777,
        0o600
    );
    let (place, said) = daemon.end_and_tell();
    assert!(said.contains("token:laptop.7"), "{said}");
    // The folder of the brains among all that there is.
    let brain = fs::read(place.path("brains/b.amem")).unwrap();
    let hash = kept
        .split("sha256:")
        .nth(1)
        .unwrap()
        .split('"')
        .next()
        .unwrap();
    for text in [
        said.as_str(),
        &kept,
        &format!("{list:?}"),
        &String::from_utf8_lossy(&brain),
    ] {
        assert!(!text.contains(&token[5..21]), "the token is there: {text}");
    }
    assert!(!said.contains(hash), "the hash is there: {said}");
}

#[tokio::test]
async fn a_stream_ends_when_its_callers_rights_change_and_not_at_other_changes() {
    let daemon = Setup::new(TCP).start();
    create(&daemon, "b").await;
    let token = daemon
        .token_for("some", v1::Permission::Write, &["b"])
        .await;
    let mut memory = MemoryServiceClient::new(connect(&daemon).await);
    let subscribe = || v1::SubscribeRequest {
        brain: "b".into(),
        ..Default::default()
    };
    let follows = memory.subscribe(with(&token, subscribe())).await;
    let mut follows = follows.unwrap().into_inner();
    follows.message().await.unwrap().unwrap();
    daemon.token_of("another", v1::Permission::Read).await;
    daemon
        .place
        .configure(&format!("{TCP}[limits]\nconnections = 7\n"));
    daemon.signal("-HUP");
    daemon.says("reloaded the configuration");
    let event = batch("it goes on");
    memory.ingest(with(&token, event)).await.unwrap();
    loop {
        let message = timeout(Duration::from_secs(20), follows.message()).await;
        if !message.unwrap().unwrap().unwrap().changes.is_empty() {
            break;
        }
    }
    // By hand it is for another brain.
    let path = daemon.place.path("tokens.toml");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace("[\"b\"]", "[\"c\"]")).unwrap();
    daemon.signal("-HUP");
    let words = ["token:some", "call again"];
    check_refused(
        end(follows).await,
        Code::Unavailable,
        "ACCESS_CHANGED",
        &words,
    );
    let again = memory.subscribe(with(&token, subscribe())).await;
    check_refused(again, Code::NotFound, "UNKNOWN_BRAIN", &["\"b\""]);
}
