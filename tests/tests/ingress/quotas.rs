//! Quotas: what one caller may take, and what is left for others.

use amem_client::v1;
use amem_client::v1::memory_service_client::MemoryServiceClient;
use amemd::limits::INGEST_STREAMS_MAX;
use tokio_stream::pending;
use tonic::transport::Channel;
use tonic::{Code, Status, Streaming};

use crate::process::{Setup, ask, check_refused};
use crate::tokens::{TCP, batch, connect, create, with};

/// Follows a brain, without a deadline.
async fn follow(
    channel: &Channel,
    token: &str,
) -> Result<Streaming<v1::SubscribeResponse>, Status> {
    let request = v1::SubscribeRequest {
        brain: "b".into(),
        ..Default::default()
    };
    let mut memory = MemoryServiceClient::new(channel.clone());
    let follows = memory.subscribe(with(token, request)).await?;
    Ok(follows.into_inner())
}

#[tokio::test]
async fn callers_leave_capacity_to_others_and_to_administrators() {
    let daemon = Setup::new(&format!("{TCP}[limits]\nrequests_in_flight = 8\n")).start();
    create(&daemon, "b").await;
    let one = daemon.token_of("one", v1::Permission::Read).await;
    let other = daemon.token_of("other", v1::Permission::Write).await;
    let channel = connect(&daemon).await;
    let mut held = Vec::new();
    for _ in 0..4 {
        held.push(follow(&channel, &one).await.unwrap());
    }
    let refused = follow(&channel, &one).await.map(drop);
    let words = ["limits.requests_in_flight", "token:one holds its share"];
    check_refused(refused, Code::ResourceExhausted, "LOAD", &words);
    for _ in 0..2 {
        held.push(follow(&channel, &other).await.unwrap());
    }
    let refused = follow(&channel, &other).await.map(drop);
    let words = ["limits.requests_in_flight", "administer"];
    check_refused(refused, Code::ResourceExhausted, "LOAD", &words);
    // Our own user still sees what goes on, and ends it.
    let client = daemon.client().await;
    ask(client.channel(), &[]).await.unwrap();
    let name = "one".to_owned();
    let mut admin = client.admin();
    let revoked = admin.revoke_token(v1::RevokeTokenRequest { name });
    revoked.await.unwrap();
    for mut follows in held.drain(..4) {
        while let Ok(Some(_)) = follows.message().await {}
    }
    let mut memory = MemoryServiceClient::new(channel.clone());
    memory.ingest(with(&other, batch("at last"))).await.unwrap();
}

#[tokio::test]
async fn callers_leave_ingest_streams_to_others() {
    let daemon = Setup::new(TCP).start();
    create(&daemon, "b").await;
    let one = daemon.token_of("one", v1::Permission::Write).await;
    let mut memory = MemoryServiceClient::new(connect(&daemon).await);
    let mut held = Vec::new();
    let share = INGEST_STREAMS_MAX / 2;
    for _ in 0..share - share / 8 {
        let streamed = memory.ingest_stream(with(&one, pending())).await;
        held.push(streamed.unwrap().into_inner());
    }
    // The rest is for the caller's other processes and connections.
    let refused = memory.ingest_stream(with(&one, pending())).await.map(drop);
    let words = ["this process holds its part"];
    check_refused(refused, Code::ResourceExhausted, "LOAD", &words);
    let mut memory = MemoryServiceClient::new(connect(&daemon).await);
    for _ in 0..share / 8 {
        let streamed = memory.ingest_stream(with(&one, pending())).await;
        held.push(streamed.unwrap().into_inner());
    }
    let refused = memory.ingest_stream(with(&one, pending())).await.map(drop);
    let words = ["token:one holds its share"];
    check_refused(refused, Code::ResourceExhausted, "LOAD", &words);
    let other = daemon.token_of("other", v1::Permission::Write).await;
    let streamed = memory.ingest_stream(with(&other, pending())).await;
    drop(streamed.unwrap());
}

#[tokio::test]
async fn a_process_that_takes_all_calls_of_its_user_leaves_some_to_the_next() {
    let daemon = Setup::new(&format!("{TCP}[limits]\nrequests_in_flight = 32\n")).start();
    create(&daemon, "b").await;
    let token = daemon.token_of("agents", v1::Permission::Read).await;
    let [hog, next] = [connect(&daemon).await, connect(&daemon).await];
    let mut held = Vec::new();
    let refused = loop {
        match follow(&hog, &token).await {
            Ok(follows) => held.push(follows),
            Err(status) => break status,
        }
    };
    check_refused::<()>(
        Err(refused),
        Code::ResourceExhausted,
        "LOAD",
        &["this process"],
    );
    assert_eq!(held.len(), 14);
    // The other connection is served at once, and equally once the first lets go.
    let mut others = Vec::new();
    for _ in 0..2 {
        others.push(follow(&next, &token).await.unwrap());
    }
    held.truncate(6);
    let served = async {
        while others.len() < 8 {
            match follow(&next, &token).await {
                Ok(follows) => others.push(follows),
                Err(_) => tokio::task::yield_now().await,
            }
        }
    };
    let served = tokio::time::timeout(std::time::Duration::from_secs(20), served).await;
    served.expect("the first connection keeps more than its part");
}
