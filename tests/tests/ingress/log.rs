//! The log: whose call a line is about.

use std::process::Stdio;

use amem_client::v1;
use serde_json::Value;
use tonic::Request;

use crate::process::{Daemon, Setup};

/// A request of a call that the caller names.
fn named<T>(message: T, name: &str) -> Request<T> {
    let mut request = Request::new(message);
    let name = name.parse().unwrap();
    request.metadata_mut().insert("x-request-id", name);
    request
}

#[tokio::test]
async fn every_log_line_of_a_call_has_its_id() {
    let place = Setup::new("[log]\nformat = \"json\"\nfilter = \"warn,amemd=debug\"\n");
    let mut command = place.command();
    command.stdout(Stdio::null());
    let daemon = Daemon::start(place, command);
    let client = daemon.client().await;
    let create = v1::CreateBrainRequest {
        brain: "work".into(),
        ..Default::default()
    };
    let created = client.brains().create_brain(named(create, "first")).await;
    created.unwrap();
    let touch = v1::CloseSessionRequest {
        brain: "work".into(),
        session_id: 77,
        ..Default::default()
    };
    let refused = client.memory().close_session(named(touch, "second")).await;
    refused.unwrap_err();
    let line = |words: &str| serde_json::from_str::<Value>(&daemon.says(words)).unwrap();
    // A brain is opened beside the call, and a request is executed by the writer's thread.
    for (words, name, method) in [
        ("\"open\"", "first", "/amem.v1.BrainService/CreateBrain"),
        ("\"answered\"", "first", "/amem.v1.BrainService/CreateBrain"),
        (
            "\"not committed\"",
            "second",
            "/amem.v1.MemoryService/CloseSession",
        ),
        (
            "\"answered\"",
            "second",
            "/amem.v1.MemoryService/CloseSession",
        ),
    ] {
        let told = line(words);
        assert_eq!(told["span"]["request_id"], name, "{told}");
        assert_eq!(told["span"]["method"], method, "{told}");
        let principal = told["span"]["principal"].as_str().unwrap_or_default();
        assert!(principal.starts_with("uid:"), "{told}");
    }
}
