//! Subscriptions of some types, sessions or a scope.

use amem_client::{Client, v1};
use tonic::Code;

use crate::process::{Daemon, check_refused, create_bare, folder};
use crate::subscribe::{after, instance, next, texts};

/// The texts that a follower of only some gets, up to an event that says `end`.
async fn told(client: &Client, only: v1::SubscribeRequest) -> Vec<String> {
    let request = v1::SubscribeRequest {
        instance: instance(client).await,
        ..only
    };
    let commits = client.memory().subscribe(request).await;
    let mut commits = commits.unwrap().into_inner();
    let mut found = Vec::new();
    loop {
        let message = next(&mut commits).await;
        for text in texts(&message) {
            if text == "end" {
                return found;
            }
            found.push(text.to_owned());
        }
    }
}

#[tokio::test]
async fn a_subscriber_gets_only_the_requested_events() {
    let folder = folder();
    let daemon = Daemon::start(folder.path());
    let client = daemon.client().await;
    create_bare(&client, "b").await;
    let open = v1::OpenSessionRequest {
        brain: "b".into(),
        key: "talk".into(),
        ..Default::default()
    };
    let opened = client.memory().open_session(open).await.unwrap();
    let session_id = opened.into_inner().session_id;
    let event = |r#type: v1::EventType, text: &str, user: &str, session: bool| v1::NewEvent {
        r#type: r#type.into(),
        text: text.into(),
        attributes_json: format!("{{\"amem.user\":\"{user}\"}}"),
        session_id: session.then_some(session_id),
        ..Default::default()
    };
    use v1::EventType::{Decision, Fact};
    let batches = [
        vec![event(Fact, "a fact of ann", "ann", true)],
        vec![
            event(Decision, "a decision of ann", "ann", false),
            event(Decision, "a decision of bob", "bob", true),
        ],
        vec![event(Fact, "a fact of bob", "bob", false)],
        vec![
            event(Decision, "end", "ann", true),
            event(Fact, "end", "bob", true),
        ],
    ];
    for events in batches {
        let request = v1::IngestRequest {
            brain: "b".into(),
            events,
            ..Default::default()
        };
        client.memory().ingest(request).await.unwrap();
    }
    let decisions = v1::SubscribeRequest {
        types: vec![Decision.into()],
        ..after(Some(0))
    };
    let told_of = told(&client, decisions.clone()).await;
    assert_eq!(told_of, ["a decision of ann", "a decision of bob"]);
    let talk = v1::SubscribeRequest {
        session_ids: vec![session_id],
        ..after(Some(0))
    };
    assert_eq!(
        told(&client, talk).await,
        ["a fact of ann", "a decision of bob"]
    );
    let scope = |user: &str| {
        Some(v1::Scope {
            user: Some(user.into()),
            ..Default::default()
        })
    };
    let of_bob = v1::SubscribeRequest {
        scope: scope("bob"),
        ..after(Some(0))
    };
    assert_eq!(
        told(&client, of_bob).await,
        ["a decision of bob", "a fact of bob"]
    );
    let both = v1::SubscribeRequest {
        scope: scope("ann"),
        ..decisions
    };
    assert_eq!(told(&client, both.clone()).await, ["a decision of ann"]);
    // Changes of others are not delivered; an erased event is, in any scope.
    let request = v1::SubscribeRequest {
        instance: instance(&client).await,
        after_lsn: None,
        ..both
    };
    let commits = client.memory().subscribe(request).await;
    let mut commits = commits.unwrap().into_inner();
    for event_id in [0, 2, 3, 1] {
        let forget = v1::ForgetRequest {
            brain: "b".into(),
            event_id,
            ..Default::default()
        };
        client.memory().forget(forget).await.unwrap();
    }
    let erase = v1::EraseRequest {
        brain: "b".into(),
        event_ids: vec![2],
        ..Default::default()
    };
    client.memory().erase(erase).await.unwrap();
    let mut changes = Vec::new();
    while changes.len() < 2 {
        let message = next(&mut commits).await;
        changes.extend(
            message
                .changes
                .into_iter()
                .filter_map(|change| change.change),
        );
    }
    assert!(
        matches!(&changes[0], v1::change::Change::Belief(b) if b.event_id == 1),
        "{changes:?}"
    );
    assert_eq!(changes[1], v1::change::Change::ErasedEventId(2));
    let unsaid = v1::SubscribeRequest {
        types: vec![0],
        ..after(None)
    };
    let refused = client.memory().subscribe(unsaid).await;
    check_refused(
        "no type",
        refused.map(drop),
        Code::InvalidArgument,
        "INVALID",
        &["types"],
    );
}
