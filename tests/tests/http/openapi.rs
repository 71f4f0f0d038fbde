//! The description of all routes: the daemon serves and prints the same, and it is true.

use std::process::Command;

use amem_tests::programs::amemd;
use serde_json::{Value, json};

use crate::client::{WebCaller, daemon};
use crate::routes::add;

/// Routes with their methods and paths, at least: a description with fewer has lost some.
const OPERATIONS_MIN: usize = 160;

#[tokio::test]
async fn the_description_that_is_served_is_the_one_that_the_program_prints() {
    let (_daemon, web) = daemon().await;
    let served = web.get("/openapi.json");
    assert_eq!(served.ok()["openapi"], "3.1.0");
    let printed = Command::new(amemd()).arg("--openapi").output().unwrap();
    assert!(printed.status.success(), "{printed:?}");
    assert!(printed.stderr.is_empty(), "{printed:?}");
    assert!(printed.stdout == served.body, "they differ");
    let document = served.ok();
    let paths = document["paths"].as_object().unwrap();
    let operations = paths.values().map(|item| item.as_object().unwrap().len());
    let count = operations.sum::<usize>();
    assert!(count >= OPERATIONS_MIN, "{count}");
    let page = web.get("/docs");
    assert_eq!(
        page.header("content-type"),
        Some("text/html; charset=utf-8")
    );
    assert!(page.text().contains("/v1/brains/{brain}/search"));
    for path in ["/openapi.json", "/docs"] {
        let nobody = WebCaller {
            shows: String::new(),
            ..web.clone()
        };
        nobody
            .get(path)
            .refused(401, "AuthenticationError", "TOKEN");
    }
}

#[tokio::test]
async fn every_described_route_is_there_and_reads_its_request_strictly() {
    let (_daemon, web) = daemon().await;
    let document = web.get("/openapi.json").ok();
    let mut calls = 0;
    for (path, item) in document["paths"].as_object().unwrap() {
        let target = path.replace(['{', '}'], "");
        for method in item.as_object().unwrap().keys() {
            let is_call = target.starts_with("/v1/brains") || target.starts_with("/v1/daemon");
            // No call is executed with a field that it does not have.
            let answer = match (method.as_str(), is_call) {
                ("get", true) => web.get(&format!("{target}?unheard=1")),
                (_, true) => web.post(&target, &json!({"unheard": 1})),
                (method, false) => web.send(&method.to_uppercase(), &target, &[], &Value::Null),
            };
            if is_call {
                calls += 1;
                let refused = answer.refused(400, "ValidationError", "INVALID");
                let detail = refused["detail"].as_str().unwrap();
                assert!(detail.contains("unheard"), "{method} {path}: {detail}");
            } else if answer.header("content-type") == Some("application/json") {
                let code = &answer.json()["code"];
                assert!(
                    code != "UNKNOWN_PATH" && code != "METHOD",
                    "{method} {path}"
                );
            }
        }
    }
    assert!(calls > 60, "{calls}");
}

/// Where a value is not as a schema says.
fn unlike(document: &Value, schema: &Value, value: &Value, path: &str, out: &mut Vec<String>) {
    if let Some(name) = schema["$ref"].as_str() {
        let name = name.rsplit('/').next().unwrap();
        let schema = &document["components"]["schemas"][name];
        return unlike(document, schema, value, path, out);
    }
    let kind = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    let allowed = match &schema["type"] {
        Value::String(one) => vec![one.as_str()],
        Value::Array(several) => several.iter().filter_map(Value::as_str).collect(),
        _ => return,
    };
    let is_number = kind == "integer" && allowed.contains(&"number");
    if !allowed.contains(&kind) && !is_number {
        out.push(format!("{path} is {kind}, not {allowed:?}"));
    }
    if let Some(names) = schema["enum"].as_array()
        && !names.contains(value)
    {
        out.push(format!("{path} is {value}, not one of {names:?}"));
    }
    for (at, element) in value.as_array().into_iter().flatten().enumerate() {
        let path = format!("{path}[{at}]");
        unlike(document, &schema["items"], element, &path, out);
    }
    let Some(fields) = value.as_object() else {
        return;
    };
    for name in schema["required"].as_array().into_iter().flatten() {
        if !fields.contains_key(name.as_str().unwrap()) {
            out.push(format!("{path} has no {name}"));
        }
    }
    for (name, value) in fields {
        let path = format!("{path}.{name}");
        match schema["properties"].get(name) {
            Some(schema) => unlike(document, schema, value, &path, out),
            None if schema["additionalProperties"] == true => {}
            None => out.push(format!("{path} is not described")),
        }
    }
}

#[tokio::test]
async fn events_are_as_their_schema_says_also_after_their_memories_are_gone() {
    let (_daemon, web) = daemon().await;
    let document = web.get("/openapi.json").ok();
    for text in ["likes tea", "likes milk"] {
        add(&web, &json!({"user_id": "ada"}), text);
    }
    let id = add(&web, &json!({"user_id": "ada"}), "likes rum");
    web.send("DELETE", &format!("/v1/memories/{id}/"), &[], &Value::Null)
        .ok();
    web.send("DELETE", "/v1/memories/?user_id=bob", &[], &Value::Null);
    let page = web.get("/v1/events?page_size=2").ok();
    let all = web.get("/v1/events").ok();
    let content = &document["paths"]["/v1/events"]["get"]["responses"]["200"]["content"];
    let schema = &content["application/json"]["schema"];
    for answer in [&page, &all] {
        let mut out = Vec::new();
        unlike(&document, schema, answer, "", &mut out);
        assert!(out.is_empty(), "{out:#?}");
    }
    let gone = all["results"].as_array().unwrap().iter();
    let gone = gone.filter(|event| event["results"][0]["memory"].is_null());
    assert!(gone.count() >= 1, "{all}");
}
