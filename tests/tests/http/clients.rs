//! What mem0's clients send, and the fields of the answers that they read. `.ci/clients` runs the clients themselves.
//!
//! Their recorded requests lie beside the workspace; each is sent as it was recorded, with ids of this daemon, and the
//! answer must have every field of the recorded one.

use std::collections::HashMap;

use amem_client::v1;
use amem_tests::shared::shared_dir;
use serde_json::{Value, json};

use crate::client::{WebAnswer, WebCaller, daemon};

/// The recordings.
const RECORDED: [&str; 6] = [
    "mem0-python-2.2.1",
    "mem0-python-1.0.11",
    "mem0-python-0.1.118",
    "mem0-ts-3.3.1",
    "mem0-ts-2.4.6",
    "mem0-cli-0.2.13",
];

/// Fields of recorded answers that the daemon leaves out: a payload has texts that an erase would have to find.
const LEFT_OUT: [&str; 1] = ["payload"];

/// Options of recorded requests that have no meaning here: they change no answer.
const IGNORED: [&str; 6] = [
    "org_id",
    "project_id",
    "source",
    "version",
    "async_mode",
    "delete_linked",
];

/// The fields of `recorded` that `found` lacks, by path. Lists are compared by their first elements.
fn lacking(recorded: &Value, found: &Value, path: &str, out: &mut Vec<String>) {
    match (recorded, found) {
        (Value::Object(recorded), Value::Object(found)) => {
            for (name, value) in recorded
                .iter()
                .filter(|(name, _)| !LEFT_OUT.contains(&name.as_str()))
            {
                let path = format!("{path}.{name}");
                match found.get(name) {
                    Some(found) => lacking(value, found, &path, out),
                    None => out.push(path),
                }
            }
        }
        (Value::Array(recorded), Value::Array(found)) => {
            if let Some(recorded) = recorded.first() {
                match found.first() {
                    Some(found) => lacking(recorded, found, &format!("{path}[0]"), out),
                    None => out.push(format!("{path}[0]")),
                }
            }
        }
        (Value::Null, _) | (_, Value::Null) => {}
        (recorded, found) => {
            if std::mem::discriminant(recorded) != std::mem::discriminant(found) {
                out.push(format!("{path} is {found}"));
            }
        }
    }
}

/// Replaces the ids of a recording by those of the daemon.
fn replaced(text: &str, ids: &HashMap<String, String>) -> String {
    ids.iter().fold(text.to_owned(), |text, (recorded, id)| {
        text.replace(recorded, id)
    })
}

/// The memories of an add, or the event of it.
fn learn(recorded: &Value, found: &Value, ids: &mut HashMap<String, String>) {
    let list = |value: &Value| match value {
        Value::Array(list) => list.clone(),
        value => value["results"].as_array().cloned().unwrap_or_default(),
    };
    for (recorded, found) in list(recorded).iter().zip(list(found)) {
        // The id of a user is its name.
        if let (Some(recorded), Some(found)) = (recorded["id"].as_str(), found["id"].as_str())
            && uuid::Uuid::try_parse(recorded).is_ok()
        {
            ids.insert(recorded.to_owned(), found.to_owned());
        }
    }
}

fn send(web: &WebCaller, request: &Value, ids: &HashMap<String, String>) -> WebAnswer {
    let query = request["q"].as_object().into_iter().flatten();
    let pair = |(name, value): (&String, &Value)| format!("{name}={}", value.as_str().unwrap());
    let query: Vec<_> = query.map(pair).collect();
    let mut target = replaced(request["path"].as_str().unwrap(), ids);
    if !query.is_empty() {
        target += &format!("?{}", query.join("&"));
    }
    let body = replaced(&request["body"].to_string(), ids);
    let mut body: Value = serde_json::from_str(&body).unwrap();
    // The recordings have words that are no facts; the clients' own tests send `infer` where it matters.
    if request["path"]
        .as_str()
        .is_some_and(|path| path.ends_with("/add/") || path == "/v1/memories/")
        && body.get("messages").is_some()
    {
        body["infer"] = false.into();
    }
    web.send(
        request["m"].as_str().unwrap(),
        &target,
        &["mem0-user-id: 8ce4"],
        &body,
    )
}

/// Recorded refusals that are answers here: top-level scopes are accepted by every route, and projects are known.
fn is_wider(request: &Value) -> bool {
    let path = request["path"].as_str().unwrap();
    path.starts_with("/api/v1/orgs/") || request["body"]["user_id"].is_string()
}

fn replay(name: &str, text: &str, web: &WebCaller) -> Vec<String> {
    let mut ids = HashMap::new();
    let mut complaints = Vec::new();
    for line in text.lines() {
        let request: Value = serde_json::from_str(line).unwrap();
        let shown = request["h"]["Authorization"].as_str().unwrap_or("Token k");
        let web = match shown {
            "Token k" => web.clone(),
            other => WebCaller {
                shows: format!("authorization: {other}"),
                ..web.clone()
            },
        };
        let answer = send(&web, &request, &ids);
        let (wanted, recorded) = (request["code"].as_u64().unwrap(), &request["out"]);
        let what = format!("{name}: {} {}", request["m"], request["path"]);
        if u64::from(answer.status) != wanted
            && !(wanted >= 400 && answer.status == 200 && is_wider(&request))
        {
            complaints.push(format!(
                "{what}: {} instead of {wanted}: {}",
                answer.status,
                answer.text()
            ));
            continue;
        }
        let named = answer.header("x-amem-ignored").unwrap_or_default();
        let named = named.split(',').map(str::trim);
        for other in named.filter(|one| !one.is_empty() && !IGNORED.contains(one)) {
            complaints.push(format!("{what}: {other} is ignored"));
        }
        let found = answer.json();
        if wanted < 400 {
            learn(recorded, &found, &mut ids);
            let mut out = Vec::new();
            lacking(recorded, &found, "", &mut out);
            complaints.extend(out.iter().map(|path| format!("{what}: {path} in {found}")));
        }
    }
    complaints
}

#[tokio::test]
async fn recorded_requests_of_every_client_are_answered_with_every_field() {
    let Some(shared) = shared_dir() else { return };
    for name in RECORDED {
        let (daemon, _) = daemon().await;
        let web = WebCaller::token(&daemon, &daemon.token().await);
        let path = shared.join(format!("data/facts/{name}.requests.jsonl"));
        let text = std::fs::read_to_string(path).unwrap();
        let complaints = replay(name, &text, &web);
        assert!(complaints.is_empty(), "{complaints:#?}");
    }
}

#[tokio::test]
async fn lists_are_bare_only_for_clients_that_expect_it() {
    let (daemon, bearer) = daemon().await;
    let token = daemon.token().await;
    let (token, key) = (
        WebCaller::token(&daemon, &token),
        WebCaller {
            shows: format!("x-api-key: {token}"),
            ..bearer.clone()
        },
    );
    let body = json!({"messages": "likes tea", "user_id": "ada", "infer": false});
    let with = |mut body: Value, name: &str, value: &str| {
        body[name] = value.into();
        body
    };
    let query = json!({"query": "tea", "user_id": "ada"});
    for (web, is_mem0) in [(&bearer, false), (&key, false), (&token, true)] {
        for (answer, bare) in [
            (web.post("/v1/memories/", &body), is_mem0),
            (
                web.post(
                    "/v1/memories/",
                    &with(body.clone(), "output_format", "v1.1"),
                ),
                false,
            ),
            (web.post("/v3/memories/add/", &body), false),
            (web.post("/memories", &body), false),
            (web.get("/v1/memories/?user_id=ada"), is_mem0),
            (
                web.get("/v1/memories/?user_id=ada&page=1&page_size=5"),
                false,
            ),
            (web.get("/memories?user_id=ada"), false),
            (
                web.post("/v2/memories/", &json!({"filters": {"user_id": "ada"}})),
                is_mem0,
            ),
            (
                web.post(
                    "/v2/memories/?page=1&page_size=5",
                    &json!({"filters": {"user_id": "ada"}}),
                ),
                false,
            ),
            (
                web.post("/v3/memories/", &json!({"filters": {"user_id": "ada"}})),
                false,
            ),
            (web.post("/v1/memories/search/", &query), is_mem0),
            (web.post("/v2/memories/search/", &query), is_mem0),
            (web.post("/v3/memories/search/", &query), false),
            (web.post("/search", &query), false),
        ] {
            assert_eq!(answer.ok().is_array(), bare, "{answer:?}");
        }
    }
}

#[tokio::test]
async fn the_routes_of_a_self_hosted_server_answer() {
    let (_daemon, web) = daemon().await;
    let body = json!({"messages": [{"role": "user", "content": "likes tea"}], "user_id": "ada", "infer": false});
    let added = web.post("/memories", &body).ok();
    let id = added["results"][0]["id"].as_str().unwrap().to_owned();
    assert_eq!(
        web.get("/memories?user_id=ada").ok()["results"][0]["id"],
        id.as_str()
    );
    assert_eq!(
        web.get(&format!("/memories/{id}")).ok()["memory"],
        "likes tea"
    );
    assert_eq!(
        web.post("/search", &json!({"query": "tea", "user_id": "ada"}))
            .ok()["results"][0]["id"],
        id.as_str()
    );
    let changed = web
        .put(&format!("/memories/{id}"), &json!({"data": "likes milk"}))
        .ok();
    assert_eq!(changed["message"], "Memory updated successfully!");
    assert_eq!(
        web.get(&format!("/memories/{id}/history"))
            .ok()
            .as_array()
            .unwrap()
            .len(),
        2
    );
    assert_eq!(
        web.get("/configure").ok()["vector_store"]["provider"],
        "amemd"
    );
    web.post("/configure", &json!({"llm": {}}))
        .refused(501, "NotSupportedError", "NOT_KEPT");
    assert_eq!(
        web.delete(&format!("/memories/{id}")).ok()["message"],
        "Memory deleted successfully!"
    );
    web.post("/memories", &body).ok();
    assert_eq!(web.delete("/memories?user_id=ada").ok()["deleted"], 1);
    web.post("/reset", &Value::Null).ok();
}

#[tokio::test]
async fn feedback_exports_events_and_entities_say_what_is_so() {
    let (daemon, web) = daemon().await;
    let body = json!({"messages": "likes tea", "user_id": "ada", "run_id": "r", "infer": false,
        "expiration_date": "2099-01-01", "timestamp": 1_700_000_000});
    let added = web.post("/v3/memories/add/", &body).ok();
    let id = added["results"][0]["id"].as_str().unwrap().to_owned();
    let event = web
        .get(&format!(
            "/v1/event/{}/",
            added["event_id"].as_str().unwrap()
        ))
        .ok();
    assert_eq!(
        (&event["status"], &event["results"][0]["memory"]),
        (&json!("SUCCEEDED"), &json!("likes tea"))
    );
    let item = web.get(&format!("/v1/memories/{id}/")).ok();
    assert_eq!(
        (&item["expiration_date"], &item["session_id"]),
        (&json!("2099-01-01"), &json!("r"))
    );
    for (feedback, wanted) in [
        (json!("POSITIVE"), json!("POSITIVE")),
        (Value::Null, Value::Null),
    ] {
        let body = json!({"memory_id": id, "feedback": feedback, "feedback_reason": null});
        assert_eq!(web.post("/v1/feedback/", &body).ok()["feedback"], wanted);
    }
    let wrong = json!({"memory_id": id, "feedback": "GREAT"});
    web.post("/v1/feedback/", &wrong)
        .refused(400, "ValidationError", "INVALID");
    let export = json!({"schema": "{}", "filters": {"user_id": "ada"}});
    let created = web.post("/v1/exports/", &export);
    assert_eq!(created.header("x-amem-ignored"), Some("schema"));
    let export = json!({"memory_export_id": created.ok()["id"]});
    assert_eq!(
        web.post("/v1/exports/get/", &export).ok()["results"][0]["id"],
        id.as_str()
    );
    let other = WebCaller::bearer(
        &daemon,
        &daemon.token_of("other", v1::Permission::Read).await,
    );
    other
        .post("/v1/exports/get/", &export)
        .refused(404, "NotFoundError", "UNKNOWN_EXPORT");
    web.post("/v1/exports/", &json!({"schema": "{}"}))
        .refused(400, "ScopeError", "SCOPE");
    let users = web.get("/v1/entities/").ok();
    assert_eq!(
        (&users["count"], &users["total_users"]),
        (&json!(2), &json!(1))
    );
    web.delete("/v2/entities/person/ada/")
        .refused(400, "ValidationError", "INVALID");
    assert!(
        web.delete("/v2/entities/user/ada/").ok()["erased_events"]
            .as_u64()
            .unwrap()
            > 0
    );
    web.get(&format!("/v1/memories/{id}/history/"))
        .refused(404, "NotFoundError", "UNKNOWN_MEMORY");
    // What was erased is in no event either.
    let event = web
        .get(&format!(
            "/v1/event/{}/",
            added["event_id"].as_str().unwrap()
        ))
        .ok();
    assert_eq!(event["results"][0]["memory"], Value::Null);
    let project = "/api/v1/orgs/organizations/local/projects/default/";
    assert_eq!(
        web.get(&format!("{project}?fields=custom_instructions"))
            .ok()["custom_instructions"],
        Value::Null
    );
    let patch = web.send("PATCH", project, &[], &json!({"custom_instructions": "x"}));
    patch.refused(501, "NotSupportedError", "NOT_KEPT");
}

#[tokio::test]
async fn batches_have_up_to_a_thousand_changes() {
    let (_daemon, web) = daemon().await;
    let messages: Vec<_> = (0..3)
        .map(|at| json!({"role": "user", "content": format!("fact {at}")}))
        .collect();
    let body = json!({"messages": messages, "user_id": "ada", "infer": false});
    let added = web.post("/v3/memories/add/", &body).ok();
    let ids: Vec<_> = added["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["id"].clone())
        .collect();
    let memories = |ids: &[Value]| json!({"memories": ids.iter().map(|id| json!({"memory_id": id, "text": "x"})).collect::<Vec<_>>()});
    let updated = web.put("/v1/batch/", &memories(&ids[..2])).ok();
    assert_eq!(updated["message"], "Successfully updated 2 memories");
    let deleted = web.send("DELETE", "/v1/batch/", &[], &memories(&ids));
    assert_eq!(deleted.ok()["message"], "Successfully deleted 3 memories");
    let none = web.send("DELETE", "/v1/batch/", &[], &memories(&ids));
    none.refused(404, "NotFoundError", "DELETED");
    let many = vec![json!("00000000-0000-4000-8000-000000000000"); 1001];
    web.put("/v1/batch/", &memories(&many))
        .refused(400, "ValidationError", "LIMIT");
    for wrong in [
        json!({}),
        json!({"memories": []}),
        json!({"memories": [7]}),
        json!({"memories": [{"text": "x"}]}),
    ] {
        web.put("/v1/batch/", &wrong)
            .refused(400, "ValidationError", "INVALID");
    }
}

#[tokio::test]
async fn a_request_to_forget_that_is_not_understood_is_answered_as_not_done() {
    let (_daemon, web) = daemon().await;
    for infer in [true, false] {
        let body =
            json!({"user_id": "ada", "messages": "Don't remember my salary", "infer": infer});
        let answer = web.post("/v3/memories/add/", &body).ok();
        assert_eq!(answer["results"], json!([]), "{answer}");
        let why = answer["rejected"][0]["why"].as_str().unwrap();
        assert!(why.starts_with("not done: "), "{answer}");
    }
    let said =
        json!({"user_id": "ada", "messages": "I live in Rome. Forget everything about Karl."});
    let answer = web.post("/v3/memories/add/", &said).ok();
    assert_eq!(answer["results"], json!([]), "{answer}");
    let why = answer["rejected"][0]["why"].as_str().unwrap();
    assert!(
        why.contains("amemctl fact forget ada --entity Karl"),
        "{why}"
    );
}

#[tokio::test]
async fn a_search_has_what_was_only_said_and_its_id_is_one_of_a_memory() {
    let (_daemon, web) = daemon().await;
    let words = "Quokka deploys go out from the harbour office at noon";
    let body = json!({"messages": [{"role": "user", "content": words}], "user_id": "ada"});
    web.post("/v1/memories/", &body).ok();
    let query = json!({"query": "quokka deploys harbour", "filters": {"user_id": "ada"}});
    let found = web.post("/v3/memories/search/", &query).ok();
    let hit = found["results"]
        .as_array()
        .unwrap()
        .iter()
        .find(|hit| hit["memory"] == words)
        .unwrap_or_else(|| panic!("{found}"));
    assert_eq!(
        (&hit["metadata"]["kind"], &hit["user_id"]),
        (&json!("said"), &json!("ada"))
    );
    let id = hit["id"].as_str().unwrap();
    let one = web.get(&format!("/v1/memories/{id}/")).ok();
    assert_eq!(
        (&one["memory"], &one["metadata"]["kind"]),
        (&json!(words), &json!("said"))
    );
    let history = web.get(&format!("/v1/memories/{id}/history/")).ok();
    assert_eq!(
        (&history[0]["event"], &history[0]["new_memory"]),
        (&json!("ADD"), &json!(words))
    );
    // Lists have what was formed.
    let listed = web.get("/v1/memories/?user_id=ada").ok();
    assert!(!listed.to_string().contains(id), "{listed}");
    // Another user's request does not reach it.
    web.get(&format!("/v1/memories/{id}/?user_id=bob")).refused(
        404,
        "NotFoundError",
        "UNKNOWN_MEMORY",
    );
    let recall = json!({"question": "quokka deploys", "scope": {"user": "ada"}});
    let recalled = web.post("/v1/brains/memories/recall", &recall).ok();
    assert_eq!(recalled["entries"][0]["id"], id, "{recalled}");
    web.delete(&format!("/v1/memories/{id}/")).ok();
    let after = web.post("/v3/memories/search/", &query).ok();
    assert!(!after.to_string().contains(id), "{after}");
    assert!(web.get(&format!("/v1/memories/{id}/")).status == 404);
}

#[tokio::test]
async fn a_search_has_a_memory_or_its_turn_and_not_both() {
    let (_daemon, web) = daemon().await;
    let body =
        json!({"messages": [{"role": "user", "content": "I live in Porto"}], "user_id": "ada"});
    web.post("/v1/memories/", &body).ok();
    let query = json!({"query": "who lives in Porto", "filters": {"user_id": "ada"}});
    let found = web.post("/v3/memories/search/", &query).ok();
    let hits = found["results"].as_array().unwrap();
    assert_eq!(hits.len(), 1, "{found}");
    assert_eq!(hits[0]["memory"], "User lives in Porto", "{found}");
}
