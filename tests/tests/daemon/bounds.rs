//! Bounds of answers that the protos promise, reached.

use amem_client::{Client, v1};
use amem_proto::limits::{ANSWER_EDGES_MAX, HEADS_MAX};
use amem_query::limits::SPANS_LISTED_MAX;
use tonic::Code;

use crate::process::{Daemon, check_refused, create_bare, facts, folder, ingest};

async fn started() -> (tempfile::TempDir, Daemon, Client) {
    let folder = folder();
    let daemon = Daemon::start(folder.path());
    let client = daemon.client().await;
    create_bare(&client, "b").await;
    (folder, daemon, client)
}

#[tokio::test]
async fn events_with_too_many_edges_are_refused_and_fewer_are_answered() {
    let (_folder, _daemon, client) = started().await;
    // Each event leads to each other one; the answer has an edge at both of its ends.
    let events = (1..).find(|n| n * (n - 1) * 2 > ANSWER_EDGES_MAX as u32);
    let events = events.unwrap();
    let names: Vec<_> = (0..events).map(|n| n.to_string()).collect();
    let names: Vec<_> = names.iter().map(String::as_str).collect();
    let end = |n| {
        Some(v1::LinkEnd {
            end: Some(v1::link_end::End::BatchIndex(n)),
        })
    };
    let links = (0..events).flat_map(|source| {
        let others = (0..events).filter(move |target| *target != source);
        others.map(move |target| v1::NewLink {
            source: end(source),
            target: end(target),
            r#type: v1::EdgeType::RelatedTo.into(),
            ..Default::default()
        })
    });
    let request = v1::IngestRequest {
        links: links.collect(),
        ..facts("b", &names)
    };
    client.memory().ingest(request).await.unwrap();
    let get = |ids: std::ops::Range<u64>| {
        let request = v1::GetEventsRequest {
            brain: "b".into(),
            event_ids: ids.collect(),
            include_edges: true,
            ..Default::default()
        };
        let client = client.clone();
        async move { client.queries().get_events(request).await }
    };
    let refused = get(0..events.into()).await;
    let words = ["ask for fewer events"];
    let code = Code::ResourceExhausted;
    check_refused("all edges", refused, code, "ANSWER_EDGES", &words);
    let some = get(0..10).await.unwrap().into_inner().events;
    let edges: usize = some.iter().map(|event| event.edges.len()).sum();
    assert_eq!(edges, 20 * (events as usize - 1));
}

#[tokio::test]
async fn a_contested_belief_lists_its_newest_heads_and_counts_all() {
    let (_folder, _daemon, client) = started().await;
    ingest(&client, "b", &["the belief"]).await;
    let heads = HEADS_MAX as u64 + 1;
    for n in 0..heads {
        let request = v1::CorrectRequest {
            brain: "b".into(),
            target_id: 0,
            event: Some(v1::NewEvent {
                text: format!("another belief {n}"),
                ..Default::default()
            }),
            ..Default::default()
        };
        client.memory().correct(request).await.unwrap();
    }
    let request = v1::ListConflictsRequest {
        brain: "b".into(),
        ..Default::default()
    };
    let listed = client.queries().list_conflicts(request).await.unwrap();
    let [conflict] = &listed.into_inner().conflicts[..] else {
        panic!("one belief is contested");
    };
    let Some(v1::conflict::Conflict::Contested(belief)) = &conflict.conflict else {
        panic!("{conflict:?}");
    };
    assert_eq!(belief.head_count, heads);
    let shown: Vec<_> = belief.heads.iter().map(|event| event.id).collect();
    let newest: Vec<_> = (2..=heads).rev().collect();
    assert_eq!(shown, newest);
}

#[tokio::test]
async fn a_list_of_sessions_has_the_newest_spans_of_each_and_counts_all() {
    let (_folder, _daemon, client) = started().await;
    let spans = SPANS_LISTED_MAX as u64 + 1;
    for n in 0..spans {
        let open = v1::OpenSessionRequest {
            brain: "b".into(),
            key: "daily".into(),
            ..Default::default()
        };
        let opened = client.memory().open_session(open).await.unwrap();
        let close = v1::CloseSessionRequest {
            brain: "b".into(),
            session_id: opened.into_inner().session_id,
            outcome: n.to_string(),
            ..Default::default()
        };
        client.memory().close_session(close).await.unwrap();
    }
    let request = v1::ListSessionsRequest {
        brain: "b".into(),
        ..Default::default()
    };
    let listed = client.queries().list_sessions(request).await.unwrap();
    let session = listed.into_inner().sessions.remove(0);
    assert_eq!(session.span_count, spans);
    let outcomes: Vec<_> = session.spans.iter().map(|span| &span.outcome).collect();
    assert_eq!(
        (outcomes.len(), outcomes[0].as_str()),
        (SPANS_LISTED_MAX, "1")
    );
    let request = v1::GetSessionRequest {
        brain: "b".into(),
        session: Some(v1::get_session_request::Session::Key("daily".into())),
        ..Default::default()
    };
    let got = client.queries().get_session(request).await.unwrap();
    let session = got.into_inner().session.unwrap();
    assert_eq!(session.spans.len() as u64, spans);
}
