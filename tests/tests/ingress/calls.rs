//! What every call has: a name, a deadline, a place among the others; and what there is to call.

use amem_client::v1;
use amem_client::v1::admin_service_client::AdminServiceClient;
use tonic::{Code, Request};
use tonic_reflection::pb::v1::ServerReflectionRequest;
use tonic_reflection::pb::v1::server_reflection_client::ServerReflectionClient;
use tonic_reflection::pb::v1::server_reflection_request::MessageRequest;
use tonic_reflection::pb::v1::server_reflection_response::MessageResponse;

use crate::process::{Setup, ask, check_refused};

#[tokio::test]
async fn the_id_of_a_call_is_returned_and_logged() {
    let daemon = Setup::new("[log]\nfilter = \"amemd=debug\"\n").start();
    let channel = daemon.client().await.channel();
    let answer = ask(channel.clone(), &[("x-request-id", "turn-7")])
        .await
        .unwrap();
    assert_eq!(answer.metadata().get("x-request-id").unwrap(), "turn-7");
    let line = daemon.says("answered");
    for word in ["turn-7", "/amem.v1.AdminService/GetStatus", "uid:"] {
        assert!(line.contains(word), "{word}: {line}");
    }
    let answer = ask(channel, &[("x-request-id", "two words")])
        .await
        .unwrap();
    let name = answer.metadata().get("x-request-id").unwrap();
    assert_eq!(name.len(), 32);
}

#[tokio::test]
async fn reflection_lists_the_services() {
    let daemon = Setup::new("").start();
    let mut client = ServerReflectionClient::new(daemon.client().await.channel());
    let request = ServerReflectionRequest {
        message_request: Some(MessageRequest::ListServices(String::new())),
        ..Default::default()
    };
    let answers = client
        .server_reflection_info(tokio_stream::iter([request]))
        .await;
    let answer = answers
        .unwrap()
        .into_inner()
        .message()
        .await
        .unwrap()
        .unwrap();
    let Some(MessageResponse::ListServicesResponse(list)) = answer.message_response else {
        panic!("{answer:?}");
    };
    let names: Vec<_> = list
        .service
        .into_iter()
        .map(|service| service.name)
        .collect();
    for name in [
        "amem.v1.AdminService",
        "amem.v1.BrainService",
        "amem.v1.MemoryService",
        "amem.v1.QueryService",
        "grpc.health.v1.Health",
    ] {
        assert!(
            names.iter().any(|listed| listed == name),
            "{name}: {names:?}"
        );
    }
}

#[tokio::test]
async fn an_invalid_deadline_is_refused() {
    let daemon = Setup::new("").start();
    let client = daemon.client().await;
    let answer = ask(client.channel(), &[("grpc-timeout", "soon")]).await;
    check_refused(answer, Code::InvalidArgument, "INVALID", &["grpc-timeout"]);
}

#[tokio::test]
async fn a_request_over_the_memory_limit_is_refused_with_the_limit() {
    let daemon = Setup::new("[limits]\nrequest_bytes_in_flight = 100_000\n").start();
    let client = daemon.client().await;
    let create = v1::CreateBrainRequest {
        brain: "b".into(),
        ..Default::default()
    };
    client.brains().create_brain(create).await.unwrap();
    let batch = |bytes: usize| v1::IngestRequest {
        brain: "b".into(),
        events: vec![v1::NewEvent {
            r#type: v1::EventType::Fact.into(),
            text: "x".repeat(bytes),
            ..Default::default()
        }],
        ..Default::default()
    };
    let answer = client.memory().ingest(batch(200_000)).await;
    let words = ["limits.request_bytes_in_flight"];
    check_refused(answer, Code::ResourceExhausted, "LOAD", &words);
    // What was refused takes no room.
    for _ in 0..20 {
        client.memory().ingest(batch(50_000)).await.unwrap();
    }
    // A stream may be longer than what fits at once.
    let batches = (0..20).map(move |_| v1::IngestStreamRequest {
        batch: Some(batch(50_000)),
    });
    let answers = client
        .memory()
        .ingest_stream(tokio_stream::iter(batches))
        .await;
    let mut answers = answers.unwrap().into_inner();
    for _ in 0..20 {
        answers.message().await.unwrap().unwrap();
    }
}

#[tokio::test]
async fn unknown_methods_are_refused() {
    let daemon = Setup::new("").start();
    let mut grpc = tonic::client::Grpc::new(daemon.client().await.channel());
    for path in ["/amem.v1.AdminService/Unheard", "/other.Service/Method"] {
        grpc.ready().await.unwrap();
        let codec =
            tonic_prost::ProstCodec::<v1::GetStatusRequest, v1::GetStatusResponse>::default();
        let request = Request::new(v1::GetStatusRequest {});
        let answer = grpc.unary(request, path.parse().unwrap(), codec).await;
        check_refused(answer, Code::Unimplemented, "UNKNOWN_CALL", &[path]);
    }
    let mut admin = AdminServiceClient::new(daemon.client().await.channel());
    admin.get_status(v1::GetStatusRequest {}).await.unwrap();
}

#[tokio::test]
async fn a_stream_ends_at_the_deadline_that_it_names() {
    let daemon = Setup::new("").start();
    let client = daemon.client().await;
    let create = v1::CreateBrainRequest {
        brain: "b".into(),
        ..Default::default()
    };
    client.brains().create_brain(create).await.unwrap();
    let mut request = Request::new(v1::SubscribeRequest {
        brain: "b".into(),
        ..Default::default()
    });
    // A client in Rust watches the beginning of the answer only.
    request
        .metadata_mut()
        .insert("grpc-timeout", "300m".parse().unwrap());
    let changes = client.memory().subscribe(request).await;
    let mut changes = changes.unwrap().into_inner();
    let end = loop {
        match changes.message().await {
            Ok(Some(_)) => {}
            Ok(None) => panic!("it ends as if it were whole"),
            Err(status) => break status,
        }
    };
    check_refused(Err::<(), _>(end), Code::DeadlineExceeded, "DEADLINE", &[]);
}
