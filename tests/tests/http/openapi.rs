//! The description of all routes: as it is checked in, and true.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::client::{WebCaller, daemon};

/// If it is set, the test writes `docs/openapi.json`.
const WRITE: &str = "AMEM_WRITE_OPENAPI";

#[tokio::test]
async fn the_description_that_is_served_is_the_one_that_is_checked_in() {
    let (_daemon, web) = daemon().await;
    let served = web.get("/openapi.json");
    assert_eq!(served.ok()["openapi"], "3.1.0");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/openapi.json");
    if std::env::var_os(WRITE).is_some() {
        fs::write(&path, &served.body).unwrap();
    }
    let kept = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        kept == served.text(),
        "docs/openapi.json is not what is served: run this test with {WRITE}=1, and look at the difference"
    );
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
