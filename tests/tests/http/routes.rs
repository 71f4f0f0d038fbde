//! The routes of the specification (12.1), end to end.

use serde_json::{Value, json};

use crate::client::{WebAnswer, WebCaller, daemon, daemon_with};

/// Adds one memory as it is; its id.
pub(crate) fn add(web: &WebCaller, scope: &Value, text: &str) -> String {
    let mut body = json!({"messages": text, "infer": false});
    for (name, value) in scope.as_object().unwrap() {
        body[name] = value.clone();
    }
    let added = web.post("/v1/memories/", &body).ok();
    assert_eq!(added["results"][0]["event"], "ADD", "{added}");
    added["results"][0]["id"].as_str().unwrap().to_owned()
}

fn texts(answer: &Value) -> Vec<&str> {
    let results = answer["results"].as_array().unwrap();
    results
        .iter()
        .map(|item| item["memory"].as_str().unwrap())
        .collect()
}

#[tokio::test]
async fn a_memory_is_added_found_changed_and_deleted_with_its_history() {
    let (_daemon, web) = daemon().await;
    let body = json!({
        "messages": [{"role": "user", "content": "I live in Porto and I am allergic to nuts"}],
        "user_id": "ada",
        "metadata": {"tag": "home"},
    });
    let added = web.post("/v1/memories/", &body).ok();
    assert_eq!(
        texts(&added),
        ["User lives in Porto", "User is allergic to nuts"]
    );
    assert_eq!(
        (&added["status"], &added["results"][0]["metadata"]),
        (&json!("SUCCEEDED"), &json!({"tag": "home"}))
    );
    let id = added["results"][0]["id"].as_str().unwrap();
    let moved = json!({"messages": "I moved to Rome last month", "user_id": "ada"});
    let moved = web.post("/v1/memories", &moved).ok();
    assert_eq!(
        (&moved["results"][0]["event"], &moved["results"][0]["id"]),
        (&json!("UPDATE"), &json!(id))
    );
    assert_eq!(moved["results"][0]["old_memory"], "User lives in Porto");
    for slash in ["", "/"] {
        let found = web
            .get(&format!(
                "/v1/memories/search{slash}?q=where+does+she+live&user_id=ada&limit=1"
            ))
            .ok();
        assert_eq!(texts(&found), ["User moved to Rome last month"]);
        assert!(found["results"][0]["score"].as_f64().unwrap() > 0.0);
        let one = web.get(&format!("/v1/memories/{id}{slash}")).ok();
        assert_eq!(
            (&one["memory"], &one["user_id"]),
            (&json!("User moved to Rome last month"), &json!("ada"))
        );
        let all = web.get(&format!("/v1/memories{slash}?user_id=ada")).ok();
        assert_eq!(texts(&all).len(), 2);
    }
    let changed = web
        .put(
            &format!("/v1/memories/{id}/"),
            &json!({"text": "User lives in Rome"}),
        )
        .ok();
    assert_eq!(
        (&changed["memory"], &changed["id"]),
        (&json!("User lives in Rome"), &json!(id))
    );
    let history = web.get(&format!("/v1/memories/{id}/history/")).ok();
    let events: Vec<_> = history
        .as_array()
        .unwrap()
        .iter()
        .map(|one| &one["event"])
        .collect();
    assert_eq!(events, ["ADD", "UPDATE", "UPDATE"]);
    assert_eq!(
        history[0]["input"][0]["content"],
        "I live in Porto and I am allergic to nuts"
    );
    web.delete(&format!("/v1/memories/{id}/")).ok();
    web.get(&format!("/v1/memories/{id}/"))
        .refused(404, "NotFoundError", "UNKNOWN_MEMORY");
    let history = web.get(&format!("/v1/memories/{id}/history/")).ok();
    assert_eq!(history[3]["is_deleted"], true);
    let deleted = web.delete("/v1/memories/?user_id=ada").ok();
    assert_eq!(deleted["deleted"], 1);
    let event = deleted["event_id"].as_str().unwrap();
    let event = web.get(&format!("/v1/event/{event}/")).ok();
    assert_eq!(
        (&event["event_type"], &event["status"]),
        (&json!("DELETE"), &json!("SUCCEEDED"))
    );
    let dry = json!({"messages": "I like tea", "user_id": "ada", "dry_run": true});
    assert_eq!(
        web.post("/v1/memories/", &dry).ok()["event_id"],
        Value::Null
    );
    assert_eq!(texts(&web.get("/v1/memories/?user_id=ada").ok()).len(), 0);
    assert!(
        web.post("/v1/reset/", &Value::Null).ok()["erased_events"]
            .as_u64()
            .unwrap()
            > 3
    );
    web.get(&format!("/v1/memories/{id}/history/"))
        .refused(404, "NotFoundError", "UNKNOWN_MEMORY");
}

#[tokio::test]
async fn refusals_have_a_name_a_status_and_what_is_stored() {
    let (_daemon, web) = daemon().await;
    let none = "00000000-0000-4000-8000-000000000000";
    let refused = |answer: WebAnswer, status, name, code, stored: Option<&str>| {
        let body = answer.refused(status, name, code);
        assert_eq!(body.get("stored").and_then(Value::as_str), stored, "{body}");
    };
    let no_scope = web.post("/v1/memories/", &json!({"messages": "I like tea"}));
    refused(no_scope, 400, "ScopeError", "SCOPE", Some("nothing"));
    refused(
        web.get("/v1/memories/search/?q=x"),
        400,
        "ScopeError",
        "SCOPE",
        None,
    );
    add(&web, &json!({"user_id": "ada"}), "likes tea");
    refused(
        web.get("/v1/memories/seven/"),
        400,
        "ValidationError",
        "INVALID",
        None,
    );
    refused(
        web.get(&format!("/v1/memories/{none}/")),
        404,
        "NotFoundError",
        "UNKNOWN_MEMORY",
        None,
    );
    refused(
        web.delete(&format!("/v1/memories/{none}/")),
        404,
        "NotFoundError",
        "UNKNOWN_MEMORY",
        Some("nothing"),
    );
    refused(
        web.delete("/v1/memories/"),
        400,
        "ScopeError",
        "SCOPE",
        Some("nothing"),
    );
    refused(
        web.post("/v1/entities/", &json!({})),
        400,
        "ScopeError",
        "SCOPE",
        None,
    );
    refused(
        web.get("/v1/entities/nobody/relations/?user_id=ada"),
        404,
        "NotFoundError",
        "UNKNOWN_MEMORY",
        None,
    );
    refused(
        web.get("/v9/memories/"),
        404,
        "NotFoundError",
        "UNKNOWN_PATH",
        None,
    );
    let method = web.send("PATCH", "/v1/memories/", &[], &Value::Null);
    assert!(
        method
            .header("allow")
            .is_some_and(|allow| allow.contains("POST")),
        "{method:?}"
    );
    refused(method, 405, "NotSupportedError", "METHOD", None);
    let unknown = web.get("/v1/memories/?user_id=ada&brain=absent");
    refused(unknown, 404, "NotFoundError", "UNKNOWN_BRAIN", None);
    let late = web.send(
        "GET",
        "/v1/memories/?user_id=ada",
        &["x-amem-timeout: 0"],
        &Value::Null,
    );
    refused(late, 504, "TimeoutError", "DEADLINE", None);
    let bad = web.send(
        "GET",
        "/v1/memories/?user_id=ada",
        &["x-amem-timeout: soon"],
        &Value::Null,
    );
    refused(bad, 400, "ValidationError", "INVALID", None);
}

#[tokio::test]
async fn a_request_names_its_brain_and_a_repetition_its_key() {
    let (daemon, web) = daemon().await;
    let create = amem_client::v1::CreateBrainRequest {
        brain: "work".into(),
        ..Default::default()
    };
    daemon
        .client()
        .await
        .brains()
        .create_brain(create)
        .await
        .unwrap();
    let body = json!({"messages": "likes tea", "infer": false, "user_id": "ada", "rerank": true});
    let headers = [
        "x-amem-brain: work",
        "idempotency-key: one",
        "x-request-id: turn-7",
    ];
    let first = web.send("POST", "/v1/memories/", &headers, &body);
    assert_eq!(first.header("x-amem-ignored"), Some("rerank"));
    assert_eq!(first.header("x-request-id"), Some("turn-7"));
    let second = web.send("POST", "/v1/memories/", &headers, &body).ok();
    assert_eq!(first.ok()["results"][0]["id"], second["results"][0]["id"]);
    let count = |target: &str| texts(&web.get(target).ok()).len();
    assert_eq!(count("/v1/memories/?user_id=ada&brain=work"), 1);
    let other = json!({"messages": "likes milk", "infer": false, "user_id": "ada"});
    let reused = web.send("POST", "/v1/memories/", &headers, &other);
    reused.refused(409, "ConflictError", "REQUEST_REUSED");
    web.send(
        "GET",
        "/v1/memories/?user_id=ada&brain=memories",
        &["x-amem-brain: work"],
        &Value::Null,
    )
    .refused(400, "ValidationError", "INVALID");
}

#[tokio::test]
async fn a_change_sent_again_with_its_key_is_executed_once() {
    let (daemon, web) = daemon().await;
    let id = add(&web, &json!({"user_id": "ada"}), "likes tea");
    let path = format!("/v1/memories/{id}/");
    let send = |web: &WebCaller, method: &str, key: &str, body: &Value| {
        web.send(method, &path, &[&format!("idempotency-key: {key}")], body)
    };
    let events = || {
        let history = web.get(&format!("{path}history/")).ok();
        let events = history.as_array().unwrap().iter();
        let events = events.map(|one| one["event"].as_str().unwrap().to_owned());
        events.collect::<Vec<_>>()
    };
    let milk = json!({"text": "likes milk"});
    let once = send(&web, "PUT", "one", &milk).ok();
    assert_eq!(send(&web, "PUT", "one", &milk).ok(), once);
    assert_eq!(events(), ["ADD", "UPDATE"]);
    send(&web, "PUT", "one", &json!({"text": "likes beer"})).refused(
        409,
        "ConflictError",
        "REQUEST_REUSED",
    );
    // A key is one of its caller.
    let other = daemon.token_of("other", amem_client::v1::Permission::Write);
    let other = WebCaller::bearer(&daemon, &other.await);
    send(&other, "PUT", "one", &json!({"text": "likes water"})).ok();
    assert_eq!(events(), ["ADD", "UPDATE", "UPDATE"]);
    // Without a key a memory is not deleted twice.
    send(&web, "DELETE", "two", &Value::Null).ok();
    send(&web, "DELETE", "two", &Value::Null).ok();
    web.delete(&path).refused(404, "NotFoundError", "DELETED");
    assert_eq!(events(), ["ADD", "UPDATE", "UPDATE", "DELETE"]);
}

#[tokio::test]
async fn an_add_that_takes_long_is_answered_before_its_end_and_has_an_event() {
    let (daemon, web) = daemon_with("[limits]\nadd_wait_millis = 1\n").await;
    // As many texts as one add may have: they take longer than a millisecond.
    let messages = |from: usize| -> Vec<_> {
        (from..from + 1000)
            .map(|n| json!({"role": "user", "content": format!("User has the number {n}")}))
            .collect()
    };
    let body = json!({"messages": messages(0), "infer": false, "user_id": "ada"});
    let ended = |event: &str| {
        let path = format!("/v1/event/{event}/");
        loop {
            let event = web.get(&path).ok();
            if event["status"] != "PENDING" {
                return event;
            }
            assert_eq!(event["completed_at"], Value::Null, "{event}");
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
    };
    let answer = web.post("/v3/memories/add/", &body);
    assert_eq!(answer.status, 202, "{}", answer.text());
    let answer = answer.json();
    assert_eq!(
        (&answer["status"], &answer["results"]),
        (&json!("PENDING"), &json!([]))
    );
    let event = ended(answer["event_id"].as_str().unwrap());
    assert_eq!(
        (&event["status"], &event["error"], &event["event_type"]),
        (&json!("SUCCEEDED"), &Value::Null, &json!("ADD"))
    );
    let results = event["results"].as_array().unwrap();
    assert_eq!(results.len(), 1000);
    assert_eq!(results[7]["memory"], "User has the number 7");
    assert!(event["latency"].as_f64().unwrap() >= 1.0, "{event}");
    assert_eq!(
        texts(&web.get("/v1/memories/?user_id=ada&limit=2000").ok()).len(),
        1000
    );
    assert_eq!(web.get("/v1/events/").ok()["count"], 1);
    // Clients that expect a bare list get one.
    let token = daemon.token_of("lists", amem_client::v1::Permission::Write);
    let lists = WebCaller::token(&daemon, &token.await);
    let body = json!({"messages": messages(1000), "infer": false, "user_id": "ada"});
    let answer = lists.post("/v1/memories/", &body);
    assert_eq!(answer.status, 202, "{}", answer.text());
    assert_eq!(answer.json()[0]["status"], "PENDING");
    // One that stores nothing has no event: it is waited for.
    let dry = json!({"messages": messages(0), "infer": false, "user_id": "bob", "dry_run": true});
    let answer = web.post("/v1/memories/", &dry).ok();
    assert_eq!(texts(&answer).len(), 1000);
}

#[tokio::test]
async fn pages_are_numbered_and_counted_and_filters_hold() {
    let (_daemon, web) = daemon().await;
    for at in 0..5 {
        let scope = json!({"user_id": "ada", "metadata": {"n": at}});
        add(&web, &scope, &format!("fact number {at}"));
    }
    add(&web, &json!({"user_id": "bob"}), "fact of bob");
    let body = json!({"filters": {"AND": [{"user_id": "ada"}, {"metadata": {"n": {"gte": 1}}}]}});
    let page = web.post("/v3/memories/?page=2&page_size=3", &body).ok();
    assert_eq!(
        (page["count"].as_u64(), texts(&page)),
        (Some(4), vec!["fact number 1"])
    );
    assert_eq!(page["next"], Value::Null);
    let first = web.post("/v3/memories/?page=1&page_size=3", &body).ok();
    assert_eq!(
        texts(&first),
        ["fact number 4", "fact number 3", "fact number 2"]
    );
    let next = format!("http://{}/v3/memories/?page=2&page_size=3", web.address);
    assert_eq!(
        (&first["next"], &first["previous"]),
        (&json!(next), &Value::Null)
    );
    let listed = web.get("/v1/memories/?user_id=ada&limit=2").ok();
    assert_eq!(texts(&listed), ["fact number 4", "fact number 3"]);
    let seed = json!({"query": "number", "user_id": "ada",
        "filters": {"AND": [{"field": "n", "operator": "eq", "value": 3}]}});
    assert_eq!(
        texts(&web.post("/v2/memories/search/", &seed).ok()),
        ["fact number 3"]
    );
    let unscoped = json!({"filters": {"OR": [{"user_id": "ada"}, {"n": 3}]}});
    web.post("/v3/memories/", &unscoped)
        .refused(400, "ScopeError", "SCOPE");
}

#[tokio::test]
async fn quotas_and_rates_hold_and_say_when_to_retry() {
    let (_daemon, web) = daemon_with("[limits]\ncalls_per_second = 5\n").await;
    let refused = (0..200)
        .map(|_| web.get("/v1/ping/"))
        .find(|answer| answer.status != 200);
    let refused = refused.unwrap();
    refused.refused(429, "RateLimitError", "LOAD");
    assert!(
        refused
            .header("retry-after")
            .unwrap()
            .parse::<u64>()
            .unwrap()
            >= 1
    );
}
