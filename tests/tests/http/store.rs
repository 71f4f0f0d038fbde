//! LangGraph's store routes: what its SDK 0.4.14 sends, as recorded, and the answers that it reads.
//!
//! `.ci/clients` runs the SDK itself.

use serde_json::{Value, json};

use crate::client::{WebAnswer, WebCaller, daemon};

/// A recorded request, and what its answer must have.
struct Row {
    method: &'static str,
    path: &'static str,
    body: Value,
    status: u16,
    answer: Value,
}

fn row(method: &'static str, path: &'static str, body: Value, status: u16, answer: Value) -> Row {
    Row {
        method,
        path,
        body,
        status,
        answer,
    }
}

/// The requests in the order of the recording.
fn recorded() -> Vec<Row> {
    let home = json!({"city": "Porto", "n": 1, "tags": ["a"]});
    let item = json!({"namespace": ["users", "ada"], "key": "home", "value": home});
    let none = Value::Null;
    vec![
        row(
            "PUT",
            "/store/items",
            json!({"namespace": ["users", "ada"], "key": "home", "value": home}),
            204,
            none.clone(),
        ),
        row(
            "PUT",
            "/store/items",
            json!({"namespace": ["users", "ada"], "key": "secret", "value": {"city": "Porto"}, "index": false, "ttl": 10}),
            204,
            none.clone(),
        ),
        row(
            "PUT",
            "/store/items",
            json!({"namespace": ["users", "ada"], "key": "part", "value": {"city": "Rome", "note": "velvet"}, "index": ["note"]}),
            204,
            none.clone(),
        ),
        row(
            "GET",
            "/store/items?key=home&namespace=users.ada",
            none.clone(),
            200,
            item.clone(),
        ),
        row(
            "GET",
            "/store/items?key=home&namespace=users.ada&refresh_ttl=false",
            none.clone(),
            200,
            item.clone(),
        ),
        row(
            "GET",
            "/store/items?key=a+key+%26+more%2F%C3%A9&namespace=users.ada",
            none.clone(),
            200,
            none.clone(),
        ),
        row(
            "POST",
            "/store/items/search",
            json!({"namespace_prefix": ["users"], "limit": 10, "offset": 0}),
            200,
            json!({"items": [{"key": "part"}, {"key": "secret"}, {"key": "home", "score": null}]}),
        ),
        row(
            "POST",
            "/store/items/search",
            json!({"namespace_prefix": ["users", "ada"], "filter": {"city": "Porto", "n": {"$gte": 1}}, "limit": 5, "offset": 0,
                "query": "velvet", "refresh_ttl": true}),
            200,
            json!({"items": [item]}),
        ),
        row(
            "POST",
            "/store/items/search",
            json!({"namespace_prefix": [], "limit": 1, "offset": 1}),
            200,
            json!({"items": [{"key": "secret"}]}),
        ),
        row(
            "POST",
            "/store/namespaces",
            json!({"limit": 100, "offset": 0}),
            200,
            json!({"namespaces": [["users", "ada"]]}),
        ),
        row(
            "POST",
            "/store/namespaces",
            json!({"prefix": ["users"], "suffix": ["ada"], "max_depth": 1, "limit": 10, "offset": 0}),
            200,
            json!({"namespaces": [["users"]]}),
        ),
        row(
            "DELETE",
            "/store/items",
            json!({"key": "home", "namespace": ["users", "ada"]}),
            204,
            none.clone(),
        ),
        row(
            "GET",
            "/store/items?key=home&namespace=users.ada",
            none.clone(),
            200,
            none,
        ),
    ]
}

/// True if a value has all that is wanted; lists have as many elements.
fn has(found: &Value, wanted: &Value) -> bool {
    match (found, wanted) {
        (Value::Object(found), Value::Object(wanted)) => wanted
            .iter()
            .all(|(name, wanted)| found.get(name).is_some_and(|found| has(found, wanted))),
        (Value::Array(found), Value::Array(wanted)) => {
            found.len() == wanted.len() && found.iter().zip(wanted).all(|(f, w)| has(f, w))
        }
        (found, wanted) => found == wanted,
    }
}

fn sent(web: &WebCaller, row: &Row) -> WebAnswer {
    match row.method {
        "PUT" => web.put(row.path, &row.body),
        "POST" => web.post(row.path, &row.body),
        "GET" => web.get(row.path),
        _ => web.send("DELETE", row.path, &[], &row.body),
    }
}

#[tokio::test]
async fn the_recorded_requests_of_the_sdk_are_answered_as_it_reads_them() {
    let (_daemon, web) = daemon().await;
    for row in recorded() {
        let what = format!("{} {} {}", row.method, row.path, row.body);
        let answer = sent(&web, &row);
        assert_eq!(answer.status, row.status, "{what}: {}", answer.text());
        if row.status == 204 {
            assert!(answer.body.is_empty(), "{what}");
            continue;
        }
        let found = answer.json();
        assert!(has(&found, &row.answer), "{what}: {found}");
        if !found.is_null() && row.method == "GET" {
            for time in ["created_at", "updated_at"] {
                let text = found[time].as_str().unwrap();
                assert!(text.starts_with("20") && text.ends_with('Z'), "{text}");
            }
        }
    }
}

#[tokio::test]
async fn what_the_store_cannot_take_is_refused_by_name() {
    let (_daemon, web) = daemon().await;
    for (body, word) in [
        (json!({"key": "k", "value": {}}), "namespace"),
        (json!({"namespace": ["a"], "value": {}}), "key"),
        (json!({"namespace": ["a"], "key": "k"}), "value"),
        (
            json!({"namespace": ["a"], "key": "k", "value": [1]}),
            "value",
        ),
        (
            json!({"namespace": ["a", ""], "key": "k", "value": {}}),
            "namespace",
        ),
        (
            json!({"namespace": ["a.b"], "key": "k", "value": {}}),
            "namespace",
        ),
        (
            json!({"namespace": [1], "key": "k", "value": {}}),
            "namespace",
        ),
        (
            json!({"namespace": ["a"], "key": "k", "value": {}, "ttl": -1}),
            "ttl",
        ),
        (
            json!({"namespace": ["a"], "key": "k", "value": {}, "ttl": 1e300}),
            "ttl",
        ),
        (
            json!({"namespace": ["a"], "key": "k", "value": {}, "index": "a"}),
            "index",
        ),
        (
            json!({"namespace": ["a"], "key": "k", "value": {}, "index": ["a["]}),
            "index",
        ),
    ] {
        let refused = web.put("/store/items", &body);
        let refused = refused.refused(400, "ValidationError", "INVALID");
        let detail = refused["detail"].as_str().unwrap();
        assert!(detail.contains(word), "{body}: {detail}");
        assert_eq!(refused["stored"], "nothing");
    }
    for (body, code) in [
        (json!({"filter": {"a": {"$in": [1]}}}), "INVALID"),
        (json!({"filter": []}), "INVALID"),
        (json!({"limit": 1001}), "LIMIT"),
        (json!({"limit": 1.5}), "INVALID"),
        (json!({"offset": -1}), "INVALID"),
        (json!({"offset": 1_000_001}), "LIMIT"),
    ] {
        let refused = web.post("/store/items/search", &body);
        refused.refused(400, "ValidationError", code);
    }
    let none = web.post("/store/namespaces", &json!({})).ok();
    assert_eq!(none, json!({"namespaces": []}));
}
