//! What is refused: by code and reason, the same directly and by call.

use amem_client::{Brain, Question, Refusal, v1};
use tonic::Code;

use crate::kit::{Kit, check, fact};

/// A question that is refused, both ways.
async fn refused<Q: Question>(brain: &Brain, question: Q, code: Code, reason: &str, words: &str) {
    for brain in [brain.clone(), brain.by_call()] {
        let answer = brain.ask(question.clone()).await;
        println!("{question:?}");
        check(answer, code, reason, words);
    }
}

async fn two(kit: &Kit) -> Brain {
    let brain = kit.brain("b").await;
    let events = vec![fact("a stone"), fact("a river")];
    brain.ingest(events).await.unwrap();
    brain.forget(1).await.unwrap();
    brain
}

#[tokio::test]
async fn queries_of_a_missing_brain_name_it() {
    let kit = Kit::new();
    let client = kit.client().await;
    let mut queries = client.queries();
    macro_rules! all {
        ($($call:ident $request:ident;)*) => {$(
            for (name, code, reason) in [
                ("nowhere", Code::NotFound, "UNKNOWN_BRAIN"),
                ("a/b", Code::InvalidArgument, "BRAIN_NAME"),
                (".hidden", Code::InvalidArgument, "BRAIN_NAME"),
                ("", Code::InvalidArgument, "BRAIN_NAME"),
            ] {
                let request = v1::$request {
                    brain: name.into(),
                    ..Default::default()
                };
                let answer = queries.$call(request).await.map_err(Refusal::from);
                check(answer, code, reason, name);
            }
        )*};
    }
    all! {
        get_events GetEventsRequest;
        traverse TraverseRequest;
        path PathRequest;
        why WhyRequest;
        impact ImpactRequest;
        pattern PatternRequest;
        timeline TimelineRequest;
        similar SimilarRequest;
        text TextRequest;
        search SearchRequest;
        resolve ResolveRequest;
        list_conflicts ListConflictsRequest;
        list_sessions ListSessionsRequest;
        get_session GetSessionRequest;
        pipeline PipelineRequest;
        context ContextRequest;
    }
    check(
        client.brain("nowhere").await,
        Code::NotFound,
        "UNKNOWN_BRAIN",
        "nowhere",
    );
    let brain = two(&kit).await;
    let other = v1::WhyRequest {
        brain: "other".into(),
        ..Default::default()
    };
    refused(
        &brain,
        other,
        Code::InvalidArgument,
        "INVALID",
        "brain: this is \"b\"",
    )
    .await;
}

/// Every question with an `as_of` that it can't have, and those with an event that is not there or is hidden.
#[tokio::test]
async fn missing_events_and_moments_are_named() {
    let kit = Kit::new();
    let brain = two(&kit).await;
    let moment = |lsn| {
        Some(v1::AsOf {
            moment: Some(v1::as_of::Moment::Lsn(lsn)),
        })
    };
    macro_rules! moments {
        ($($request:ident)*) => {$(
            let request = v1::$request { as_of: moment(1_000), ..Default::default() };
            refused(&brain, request, Code::OutOfRange, "UNKNOWN_LSN", "1000").await;
            let request = v1::$request { as_of: Some(v1::AsOf { moment: None }), ..Default::default() };
            refused(&brain, request, Code::InvalidArgument, "INVALID", "as_of").await;
        )*};
    }
    moments! {
        GetEventsRequest TraverseRequest PathRequest WhyRequest ImpactRequest PatternRequest TimelineRequest
        SimilarRequest TextRequest SearchRequest ResolveRequest ListConflictsRequest ListSessionsRequest
        GetSessionRequest PipelineRequest ContextRequest
    }
    for (id, code, reason) in [
        (9, Code::NotFound, "UNKNOWN_EVENT"),
        (1, Code::FailedPrecondition, "FORGOTTEN"),
    ] {
        let words = &format!("event {id}");
        let get = v1::GetEventsRequest {
            event_ids: vec![0, id],
            ..Default::default()
        };
        refused(&brain, get, code, reason, words).await;
        let traverse = v1::TraverseRequest {
            event_id: id,
            ..Default::default()
        };
        refused(&brain, traverse, code, reason, words).await;
        let path = v1::PathRequest {
            to_id: id,
            ..Default::default()
        };
        refused(&brain, path, code, reason, words).await;
        let why = v1::WhyRequest {
            event_id: id,
            ..Default::default()
        };
        refused(&brain, why, code, reason, words).await;
        let impact = v1::ImpactRequest {
            event_id: id,
            ..Default::default()
        };
        refused(&brain, impact, code, reason, words).await;
        let resolve = v1::ResolveRequest {
            event_id: id,
            ..Default::default()
        };
        refused(&brain, resolve, code, reason, words).await;
        let similar = v1::SimilarRequest {
            like: Some(v1::similar_request::Like::EventId(id)),
            ..Default::default()
        };
        refused(&brain, similar, code, reason, words).await;
        let events = v1::EventsSource {
            event_ids: vec![id],
        };
        let pipeline = v1::PipelineRequest {
            sources: vec![v1::PipelineSource {
                source: Some(v1::pipeline_source::Source::Events(events)),
            }],
            ..Default::default()
        };
        refused(&brain, pipeline, code, reason, words).await;
    }
    for session in [
        v1::get_session_request::Session::SessionId(99),
        v1::get_session_request::Session::Key("nobody".into()),
    ] {
        let session = v1::GetSessionRequest {
            session: Some(session),
            ..Default::default()
        };
        refused(
            &brain,
            session,
            Code::NotFound,
            "UNKNOWN_SESSION",
            "there is no session",
        )
        .await;
    }
}

#[tokio::test]
async fn enums_limits_and_missing_fields_are_named() {
    let kit = Kit::new();
    let brain = two(&kit).await;
    let invalid = Code::InvalidArgument;
    macro_rules! rows {
        ($($request:ident { $($field:ident: $value:expr),* } $reason:literal $words:literal;)*) => {$(
            let request = v1::$request { $($field: $value,)* ..Default::default() };
            refused(&brain, request, invalid, $reason, $words).await;
        )*};
    }
    let selection = |change: fn(&mut v1::Selection)| {
        let mut selection = v1::Selection::default();
        change(&mut selection);
        Some(selection)
    };
    let stage = |stage| v1::PipelineStage { stage: Some(stage) };
    let here = || {
        let event_ids = vec![0];
        let events = v1::pipeline_source::Source::Events(v1::EventsSource { event_ids });
        vec![v1::PipelineSource {
            source: Some(events),
        }]
    };
    use v1::pipeline_stage::Stage;
    rows! {
        // Enums.
        TraverseRequest { follow: 9 } "INVALID" "follow: unknown value 9";
        TraverseRequest { types: vec![0] } "INVALID" "type";
        TraverseRequest { types: vec![257] } "INVALID" "257";
        PathRequest { follow: -1 } "INVALID" "follow: unknown value -1";
        PatternRequest { order: 9 } "INVALID" "order: unknown value 9";
        PatternRequest { axis: 9 } "INVALID" "axis: unknown value 9";
        TimelineRequest { axis: 9 } "INVALID" "axis: unknown value 9";
        ListSessionsRequest { state: 9 } "INVALID" "state: unknown value 9";
        PatternRequest { selection: selection(|s| s.types = vec![0]) } "INVALID" "unspecified";
        TextRequest { selection: selection(|s| s.types = vec![300]) } "INVALID" "300";
        // What is missing.
        SearchRequest {} "INVALID" "neither a question nor a vector";
        ContextRequest {} "INVALID" "neither a question nor a vector";
        SimilarRequest {} "INVALID" "like";
        GetSessionRequest {} "INVALID" "session";
        PipelineRequest {} "INVALID" "no source";
        PipelineRequest { sources: vec![v1::PipelineSource { source: None }] } "INVALID" "sources";
        PipelineRequest { sources: here(), stages: vec![v1::PipelineStage { stage: None }] } "INVALID" "stages";
        PipelineRequest { sources: here(), stages: vec![stage(Stage::Limit(v1::LimitStage::default()))] }
            "INVALID" "limit";
        // Limits.
        GetEventsRequest { event_ids: vec![0; 10_001] } "LIMIT" "10001";
        TraverseRequest { limit: 10_001 } "LIMIT" "10001";
        TraverseRequest { depth: 1_000_001 } "LIMIT" "1000001";
        PathRequest { depth: 1_000_001 } "LIMIT" "1000001";
        WhyRequest { limit: 10_001 } "LIMIT" "10001";
        ImpactRequest { limit: 10_001 } "LIMIT" "10001";
        PatternRequest { page_size: 10_001 } "LIMIT" "10001";
        TimelineRequest { page_size: 10_001 } "LIMIT" "10001";
        SimilarRequest { like: Some(v1::similar_request::Like::EventId(0)), limit: 10_001 } "LIMIT" "10001";
        TextRequest { text: "x".into(), limit: 10_001 } "LIMIT" "10001";
        SearchRequest { text: "x".into(), limit: 10_001 } "LIMIT" "10001";
        SearchRequest { text: "x".repeat(65_537) } "LIMIT" "65537";
        TextRequest { text: "x".repeat(65_537) } "LIMIT" "65537";
        ContextRequest { text: "x".into(), budget_tokens: 1_000_001 } "LIMIT" "1000001";
        ContextRequest { text: "x".into(), candidates: 1_001 } "LIMIT" "1001";
        ResolveRequest { limit: 10_001 } "LIMIT" "10001";
        ListConflictsRequest { page_size: 10_001 } "LIMIT" "10001";
        ListSessionsRequest { page_size: 10_001 } "LIMIT" "10001";
        PipelineRequest { sources: vec![here()[0].clone(); 9] } "LIMIT" "9";
        PipelineRequest { sources: here(), stages: vec![stage(Stage::Resolve(v1::ResolveStage {})); 17] } "LIMIT" "17";
        // What makes no sense.
        SimilarRequest { like: Some(v1::similar_request::Like::EventId(0)), min_similarity: Some(2.0) }
            "INVALID" "min_similarity";
        SimilarRequest { like: Some(v1::similar_request::Like::Vector(v1::Vector::default())) } "DIMENSION" "0";
        SearchRequest { vector: Some(v1::Vector { values: vec![1.0; 3], space: String::new() }) } "DIMENSION" "3";
        SearchRequest { vector: Some(v1::Vector { values: vec![], space: "no uuid".into() }) } "INVALID" "space";
        SearchRequest {
            vector: Some(v1::Vector {
                values: vec![1.0; 128],
                space: "77b45dbc-bbd2-40a0-9f3f-2e7eae8f43d9".into()
            })
        } "SPACE" "77b45dbc";
        SearchRequest { text: "x".into(), text_weight: Some(-1.0) } "INVALID" "weights";
        SearchRequest { text: "x".into(), neighbour_share: Some(2.0) } "INVALID" "neighbour_share";
        SearchRequest { text: "x".into(), session_share: Some(-1.0) } "INVALID" "session_share";
        PatternRequest { selection: selection(|s| s.filter_json = "{".into()) } "INVALID" "filter_json";
        TimelineRequest { selection: selection(|s| s.filter_json = r#"{"a":{"near":1}}"#.into()) }
            "INVALID" "near";
        PatternRequest { selection: selection(|s| s.keyword = "…?".into()) } "INVALID" "keyword";
        PatternRequest {
            selection: selection(|s| s.confidence = Some(v1::Bounds { min: Some(0.9), max: Some(0.1) }))
        } "INVALID" "confidence";
        PatternRequest {
            selection: selection(|s| s.strength_at = Some(amem_client::Timestamp { seconds: i64::MAX, nanos: 0 }))
        } "INVALID" "strength_at";
        WhyRequest { scope: Some(v1::Scope { user: Some("else".into()), ..Default::default() }) } "INVALID" "scope";
    }
}

#[tokio::test]
async fn page_tokens_are_bound_to_one_query_and_one_brain() {
    let kit = Kit::new();
    let (brain, other) = (kit.brain("b").await, kit.brain("c").await);
    for brain in [&brain, &other] {
        for key in ["one", "two"] {
            let open = v1::OpenSessionRequest {
                key: key.into(),
                ..Default::default()
            };
            brain.write(open).await.unwrap();
        }
        let events = vec![fact("a"), fact("b"), fact("c"), fact("d")];
        brain.ingest(events).await.unwrap();
        for (source, target) in [(0, 1), (2, 3)] {
            let contradicts = v1::EdgeType::Contradicts;
            brain.link(source, target, contradicts).await.unwrap();
        }
    }
    macro_rules! listings {
        ($($request:ident)*) => {$(
            let page = |page_token: &str| v1::$request {
                page_size: 1,
                page_token: page_token.into(),
                ..Default::default()
            };
            let token = brain.ask(page("")).await.unwrap().next_page_token;
            assert!(!token.is_empty());
            assert_eq!(
                brain.ask(page(&token)).await,
                brain.by_call().ask(page(&token)).await,
            );
            let code = Code::FailedPrecondition;
            refused(&other, page(&token), code, "FOREIGN_INSTANCE", "start the listing again").await;
            let code = Code::InvalidArgument;
            refused(&brain, page("nonsense"), code, "INVALID", "page token").await;
            let changed = token.replacen(&token[40..41], if &token[40..41] == "A" { "B" } else { "A" }, 1);
            refused(&brain, page(&changed), code, "INVALID", "page token").await;
        )*};
    }
    listings! { PatternRequest TimelineRequest ListConflictsRequest ListSessionsRequest }
    let first = v1::PatternRequest {
        page_size: 1,
        ..Default::default()
    };
    let token = brain.ask(first).await.unwrap().next_page_token;
    let timeline = v1::TimelineRequest {
        page_token: token,
        ..Default::default()
    };
    let code = Code::InvalidArgument;
    refused(&brain, timeline, code, "INVALID", "of another query").await;
}

#[tokio::test]
async fn an_answer_over_the_limit_is_refused_while_it_is_built() {
    let kit = Kit::new();
    let brain = kit.brain("b").await;
    for n in 0..5 {
        let text = format!("{n}{}", " stone".repeat(170_000));
        brain.ingest(vec![fact(text)]).await.unwrap();
    }
    let get = v1::GetEventsRequest {
        event_ids: (0..5).collect(),
        ..Default::default()
    };
    let code = Code::ResourceExhausted;
    refused(&brain, get, code, "MESSAGE_SIZE", "ask for less").await;
    assert_eq!(brain.get(&[0, 1, 2]).await.unwrap().len(), 3);
}
