//! Metrics and health by HTTP, for callers with a role.

use amem_client::v1;
use serde_json::Value;

use crate::client::{WebCaller, daemon, raw};

#[tokio::test]
async fn metrics_need_a_role_for_all_brains_and_health_any() {
    let (daemon, web) = daemon().await;
    let create = v1::CreateBrainRequest {
        brain: "b".into(),
        ..Default::default()
    };
    daemon
        .client()
        .await
        .brains()
        .create_brain(create)
        .await
        .unwrap();
    let metrics = web.get("/metrics");
    assert_eq!(metrics.status, 200);
    assert!(
        metrics.text().contains("amemd_brains 1"),
        "{}",
        metrics.text()
    );
    let one = daemon.token_for("one", v1::Permission::Read, &["b"]).await;
    let one = WebCaller::bearer(&daemon, &one);
    one.get("/metrics").refused(403, "PermissionError", "ROLE");
    for (page, text) in [("/healthz", "alive\n"), ("/readyz", "ready\n")] {
        let answer = one.get(page);
        assert_eq!((answer.status, answer.text()), (200, text), "{page}");
    }
    let head = web.send("HEAD", "/healthz", &["connection: close"], &Value::Null);
    assert_eq!(head.status, 200);
    for page in ["/metrics", "/healthz", "/readyz"] {
        let request = format!("GET {page} HTTP/1.1\r\nhost: {}\r\n\r\n", web.address);
        let answer = raw(web.address, request.as_bytes()).unwrap();
        answer.refused(401, "AuthenticationError", "TOKEN");
    }
    // A request counts as the call that it is.
    web.get("/v1/memories/?user_id=ada");
    let metrics = web.get("/metrics");
    assert!(
        metrics.text().contains("FactService/ListFacts"),
        "{}",
        metrics.text()
    );
}
