//! The calls of amem.v1 over JSON: what they answer, what they refuse, and under which conditions they change.

use amem_client::v1;
use serde_json::{Value, json};

use crate::client::{WebAnswer, WebCaller, daemon};
use crate::routes::add;

/// A brain with the name, and three events in it: two that agree, one that rests on the first.
fn filled(web: &WebCaller, brain: &str) {
    let at = |call: &str| format!("/v1/brains/{brain}/{call}");
    web.post(&at("create-brain"), &json!({})).ok();
    let events = json!({
        "events": [
            {"type": "EVENT_TYPE_FACT", "text": "the build fails when protoc is missing", "confidence": 0.7},
            {"text": "protoc is missing on the second machine"},
            {"type": "EVENT_TYPE_DECISION", "text": "protoc is no longer needed to build"},
        ],
        "links": [{"source": {"batchIndex": 2}, "target": {"batch_index": 0}, "type": "EDGE_TYPE_CAUSED_BY"}],
    });
    let done = web.post(&at("ingest"), &events).ok();
    assert_eq!(done["eventIds"].as_array().unwrap().len(), 3, "{done}");
    assert_eq!(done["edges"], "1", "{done}");
}

#[tokio::test]
async fn a_brain_is_made_filled_asked_and_corrected() {
    let (daemon, web) = daemon().await;
    filled(&web, "notes");
    let at = |call: &str| format!("/v1/brains/notes/{call}");
    let found = web.post(&at("search"), &json!({"text": "what does the build need"}));
    let found = found.ok();
    let ids: Vec<_> = found["hits"].as_array().unwrap().iter().collect();
    assert!(ids.len() >= 2, "{found}");
    let first = web
        .post(&at("get-events"), &json!({"eventIds": [0, "1"]}))
        .ok();
    assert_eq!(first["events"][0]["type"], "EVENT_TYPE_FACT");
    assert_eq!(first["events"][1]["id"], "1");
    // Numbers have the digits that they were given, not those of a longer number.
    let confidence = first["events"][0]["confidence"].to_string();
    assert_eq!(confidence, "0.7", "{first}");
    let why = web.post(&at("why"), &json!({"event_id": 2})).ok();
    assert_eq!(why["steps"][1]["type"], "EDGE_TYPE_CAUSED_BY", "{why}");
    let replaced = json!({"targetId": "1", "event": {"text": "protoc is on every machine"}, "reason": "it was installed"});
    let corrected = web.post(&at("correct"), &replaced).ok();
    assert_eq!(corrected["eventId"], "3", "{corrected}");
    let now = web.post(&at("resolve"), &json!({"eventId": 1})).ok();
    assert_eq!(now["head"]["reason"], "it was installed", "{now}");
    let context = web.post(
        &at("context"),
        &json!({"text": "where is protoc", "minRelevance": 0}),
    );
    assert!(
        context.ok()["text"]
            .as_str()
            .unwrap()
            .contains("every machine")
    );
    let session = web
        .post(&at("open-session"), &json!({"key": "monday"}))
        .ok();
    let closed = json!({"sessionId": session["sessionId"], "outcome": "done"});
    web.post(&at("close-session"), &closed).ok();
    let sessions = web.post(&at("list-sessions"), &Value::Null).ok();
    assert_eq!(sessions["sessions"][0]["key"], "monday", "{sessions}");
    // The same as gRPC answers.
    let request = v1::GetEventsRequest {
        brain: "notes".into(),
        event_ids: vec![3],
        ..Default::default()
    };
    let client = daemon.client().await;
    let event = client.queries().get_events(request).await.unwrap();
    let event = event.into_inner().events.remove(0);
    let told = web.post(&at("get-events"), &json!({"eventIds": [3]})).ok();
    assert_eq!(told["events"][0]["text"], event.text);
    assert_eq!(told["events"][0]["by"], event.by);
    let listed = web.get("/v1/brains?page_size=10").ok();
    assert_eq!(listed["brains"][0]["brain"], "notes");
    assert_eq!(web.get("/v1/brains/notes/").ok()["status"]["events"], "4");
    let status = web.post("/v1/daemon/get-status", &Value::Null).ok();
    assert_eq!(status["brainCount"], "1", "{status}");
    // A call of facts, and one that may name a brain.
    add(&web, &json!({"user_id": "ada"}), "likes tea");
    let facts = web.post(
        "/v1/brains/memories/list-facts",
        &json!({"scope": {"user": "ada"}}),
    );
    assert_eq!(facts.ok()["facts"][0]["memory"], "likes tea");
    for path in [
        "/v1/daemon/list-schedules",
        "/v1/brains/notes/list-schedules",
    ] {
        web.post(path, &json!({"pageSize": 5})).ok();
    }
    // A request counts as the call that it is.
    let metrics = web.get("/metrics");
    for call in ["QueryService/Search", "MemoryService/Correct"] {
        assert!(metrics.text().contains(call), "{call}");
    }
}

#[tokio::test]
async fn requests_are_read_strictly_and_nothing_of_a_refused_one_is_stored() {
    let (_daemon, web) = daemon().await;
    filled(&web, "notes");
    let ingest = "/v1/brains/notes/ingest";
    let event = json!({"text": "x"});
    for (body, words) in [
        (json!({"events": [event], "unheard": 1}), "unheard"),
        (json!({"events": [{"text": "x", "unheard": 1}]}), "unheard"),
        (json!({"events": [{"text": 7}]}), "string"),
        (json!({"events": [{"text": "x", "type": "FACT"}]}), "FACT"),
        (json!({"events": [event], "brain": "other"}), "the path"),
        (
            json!({"events": [{"text": "x", "sessionId": 0, "session_id": 0}]}),
            "twice",
        ),
        (json!({"events": [event], "follow": "yes"}), "follow"),
    ] {
        let refused = web.post(ingest, &body);
        let refused = refused.refused(400, "ValidationError", "INVALID");
        assert_eq!(refused["stored"], "nothing");
        let detail = refused["detail"].as_str().unwrap();
        assert!(detail.contains(words) || words == "follow", "{detail}");
    }
    let good = json!({"events": [event], "brain": "notes"});
    for (target, headers) in [
        ("/v1/brains/notes/ingest?follow=true", &[][..]),
        ("/v1/brains/notes/ingest?brain=other", &[]),
        ("/v1/brains/notes/ingest", &["x-amem-brain: other"]),
    ] {
        web.send("POST", target, headers, &good)
            .refused(400, "ValidationError", "INVALID");
    }
    let body = web.send("GET", "/v1/brains/notes", &[], &json!({"brain": "notes"}));
    body.refused(400, "ValidationError", "INVALID");
    web.get("/v1/brains/notes?unheard=1")
        .refused(400, "ValidationError", "INVALID");
    web.post("/v1/brains/notes/unheard", &good)
        .refused(404, "NotFoundError", "UNKNOWN_PATH");
    web.post("/v1/brains/absent/search", &json!({"text": "x"}))
        .refused(404, "NotFoundError", "UNKNOWN_BRAIN");
    assert_eq!(web.get("/v1/brains/notes").ok()["status"]["events"], "3");
    web.post(ingest, &good).ok();
    assert_eq!(web.get("/v1/brains/notes").ok()["status"]["events"], "4");
}

#[tokio::test]
async fn a_call_by_json_needs_the_role_that_it_needs_by_grpc() {
    let (daemon, web) = daemon().await;
    filled(&web, "notes");
    let ask = json!({"text": "protoc"});
    let change = json!({"events": [{"text": "x"}]});
    let reads = daemon.token_of("reads", v1::Permission::Read).await;
    let reads = WebCaller::bearer(&daemon, &reads);
    reads.post("/v1/brains/notes/search", &ask).ok();
    let denied = |answer: WebAnswer, code| answer.refused(403, "PermissionError", code);
    let refused = denied(reads.post("/v1/brains/notes/ingest", &change), "ROLE");
    assert_eq!(refused["stored"], "nothing");
    denied(reads.post("/v1/daemon/shutdown", &json!({})), "ROLE");
    denied(
        reads.post("/v1/brains/new/create-brain", &json!({})),
        "ROLE",
    );
    let other = daemon
        .token_for("other", v1::Permission::Write, &["elsewhere"])
        .await;
    let other = WebCaller::bearer(&daemon, &other);
    for answer in [
        other.post("/v1/brains/notes/search", &ask),
        other.post("/v1/brains/notes/ingest", &change),
        other.get("/v1/brains/notes"),
        other.get("/v1/brains/notes/subscribe"),
    ] {
        answer.refused(404, "NotFoundError", "UNKNOWN_BRAIN");
    }
    assert_eq!(other.get("/v1/brains").ok().get("brains"), None);
    let request = v1::CreateTokenRequest {
        name: "ada".into(),
        permission: v1::Permission::Write.into(),
        scope: Some(v1::Scope {
            user: Some("ada".into()),
            ..Default::default()
        }),
        ..Default::default()
    };
    let made = daemon.client().await.admin().create_token(request).await;
    let ada = WebCaller::bearer(&daemon, &made.unwrap().into_inner().token);
    for answer in [
        ada.post("/v1/brains/notes/search", &ask),
        ada.get("/v1/brains/notes"),
        ada.get("/v1/brains/notes/subscribe"),
    ] {
        denied(answer, "TOKEN_SCOPE");
    }
    add(&web, &json!({"user_id": "bob"}), "likes milk");
    add(&ada, &json!({}), "likes tea");
    let facts = ada.post("/v1/brains/memories/list-facts", &json!({})).ok();
    assert_eq!(facts["facts"].as_array().unwrap().len(), 1, "{facts}");
    assert_eq!(facts["facts"][0]["memory"], "likes tea");
}

#[tokio::test]
async fn what_the_caller_has_is_not_sent_again_and_changes_have_conditions() {
    let (_daemon, web) = daemon().await;
    filled(&web, "notes");
    let get = |headers: &[&str]| web.send("GET", "/v1/brains/notes", headers, &Value::Null);
    let read = get(&[]);
    let tag = read.header("etag").unwrap().to_owned();
    let body = read.ok();
    let moment = &body["moment"];
    let (instance, lsn) = (moment["instance"].as_str(), moment["lsn"].as_str());
    assert_eq!(tag, format!("\"{}.{}\"", instance.unwrap(), lsn.unwrap()));
    let known = format!("if-none-match: {tag}");
    let same = get(&[&known]);
    assert_eq!((same.status, same.body.len()), (304, 0));
    assert_eq!(same.header("etag"), Some(&*tag));
    // Of two changes of what was read, the second one is refused.
    let only = format!("if-match: {tag}");
    let ingest = |text: &str, headers: &[&str]| {
        let body = json!({"events": [{"text": text}]});
        web.send("POST", "/v1/brains/notes/ingest", headers, &body)
    };
    ingest("first", &[&only]).ok();
    let late = ingest("second", &[&only]).refused(412, "ConflictError", "CONDITION");
    assert_eq!(late["stored"], "nothing");
    assert_eq!(get(&[&known]).status, 200);
    let foreign = format!(
        "if-match: \"00000000-0000-4000-8000-000000000000.{}\"",
        lsn.unwrap()
    );
    ingest("third", &[&foreign]).refused(412, "ConflictError", "CONDITION");
    ingest("third", &["if-match: 7"]).refused(400, "ValidationError", "INVALID");
    ingest("third", &["if-match: *"]).ok();
    // A question and a change without such a condition.
    for call in ["search", "run-job"] {
        let path = format!("/v1/brains/notes/{call}");
        web.send("POST", &path, &[&only], &json!({}))
            .refused(400, "ValidationError", "INVALID");
    }
    // A change sent again with its key is executed once.
    let key = "idempotency-key: turn-7";
    let once = ingest("fourth", &[key, "x-amem-agent: tester"]).ok();
    let again = ingest("fourth", &[key, "x-amem-agent: tester"]).ok();
    assert_eq!(once["eventIds"], again["eventIds"]);
    assert_eq!(again["commit"]["replayed"], true);
    ingest("fifth", &[key, "x-amem-agent: tester"]).refused(409, "ConflictError", "REQUEST_REUSED");
    let told = web.post(
        "/v1/brains/notes/get-events",
        &json!({"eventIds": once["eventIds"]}),
    );
    assert_eq!(told.ok()["events"][0]["agent"], "tester");
    let other = json!({"events": [{"text": "x"}], "options": {"requestId": "01890000-0000-7000-8000-000000000000"}});
    web.send("POST", "/v1/brains/notes/ingest", &[key], &other)
        .refused(400, "ValidationError", "INVALID");
    web.send("POST", "/v1/brains/new/create-brain", &[key], &json!({}))
        .refused(400, "ValidationError", "INVALID");
    // Memories have a tag too.
    let id = add(&web, &json!({"user_id": "ada"}), "likes tea");
    let path = format!("/v1/memories/{id}/");
    let tag = web.get(&path).header("etag").unwrap().to_owned();
    let known = format!("if-none-match: {tag}");
    let same = || web.send("GET", &path, &[&known], &Value::Null);
    assert_eq!(same().status, 304);
    let only = format!("if-match: {tag}");
    let change = json!({"text": "likes milk"});
    let refused = web.send("PUT", &path, &[&only], &change);
    let refused = refused.refused(400, "ValidationError", "INVALID");
    assert!(
        refused["detail"]
            .as_str()
            .unwrap()
            .contains("expected_text")
    );
    web.put(&path, &change).ok();
    assert_eq!(same().ok()["memory"], "likes milk");
}
