//! Hostile requests: each gets a typed error, and nothing is stored.

use std::io::Write;
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use amem_client::v1;
use serde_json::{Value, json};

use crate::client::{WebAnswer, WebCaller, WebReader, connect, daemon, daemon_with, raw};
use crate::process::{Daemon, Setup};

const JSON: &str = "content-type: application/json";

/// An add that would be good.
fn good() -> String {
    json!({"messages": "likes tea", "user_id": "ada", "infer": false}).to_string()
}

fn check_nothing_stored(web: &WebCaller) {
    let listed = web.get("/v1/memories/?user_id=ada").ok();
    assert_eq!(listed["results"], json!([]), "something was stored");
}

fn post(web: &WebCaller, headers: &[&str], body: &[u8]) -> WebAnswer {
    raw(
        web.address,
        &web.bytes("POST", "/v1/memories/", headers, body),
    )
    .unwrap()
}

/// An add with these lines for its framing, and this body.
fn framed(web: &WebCaller, framing: &str, body: &str) -> Vec<u8> {
    let WebCaller { address, shows } = web;
    format!("POST /v1/memories/ HTTP/1.1\r\nhost: {address}\r\n{shows}\r\n{JSON}\r\n{framing}\r\n\r\n{body}").into_bytes()
}

fn chunks(body: &str) -> String {
    format!("{:x}\r\n{body}\r\n0\r\n\r\n", body.len())
}

#[tokio::test]
async fn bodies_that_are_not_json_within_the_limits_are_refused() {
    let (_daemon, web) = daemon().await;
    let deep = format!(
        "{{\"metadata\":{}1{}}}",
        "{\"a\":".repeat(100_000),
        "}".repeat(100_000)
    );
    let wide = format!("{{\"metadata\":[{}1]}}", "1,".repeat(200_000));
    let twice = good().replace("{\"messages\"", "{\"user_id\":\"bob\",\"messages\"");
    let large = format!("{{\"messages\":\"{}\"}}", "x".repeat(5 << 20));
    for (what, body, status, code) in [
        ("deep", deep.as_bytes(), 400, "JSON"),
        ("wide", wide.as_bytes(), 400, "JSON"),
        ("a key twice", twice.as_bytes(), 400, "JSON"),
        ("not UTF-8", b"{\"messages\":\"\xff\"}", 400, "JSON"),
        ("a list", b"[1]", 400, "JSON"),
        ("no end", b"{\"messages\":", 400, "JSON"),
        ("two values", b"{} {}", 400, "JSON"),
        ("too large", large.as_bytes(), 413, "BODY_SIZE"),
    ] {
        let answer = post(&web, &[JSON], body);
        let refused = answer.refused(status, "ValidationError", code);
        assert_eq!(refused["stored"], "nothing", "{what}");
    }
    let unannounced = framed(&web, "transfer-encoding: chunked", &chunks(&large));
    raw(web.address, &unannounced)
        .unwrap()
        .refused(413, "ValidationError", "BODY_SIZE");
    for kind in [
        "text/plain",
        "application/x-www-form-urlencoded",
        "application/json; charset=utf-16",
        "",
    ] {
        let header = format!("content-type: {kind}");
        let header = if kind.is_empty() { "" } else { &*header };
        post(&web, &[header], good().as_bytes()).refused(415, "ValidationError", "MEDIA_TYPE");
    }
    check_nothing_stored(&web);
}

#[tokio::test]
async fn a_body_that_does_not_come_is_refused_in_time() {
    let (_daemon, web) = daemon_with("[limits]\nbody_millis = 200\n").await;
    let whole = web.bytes("POST", "/v1/memories/", &[JSON], good().as_bytes());
    let half = &whole[..whole.len() - 10];
    // It stays away.
    let mut slow = connect(web.address);
    slow.stream.write_all(half).unwrap();
    let refused = slow
        .answer()
        .unwrap()
        .refused(408, "TimeoutError", "BODY_TIMEOUT");
    assert!(
        refused["detail"]
            .as_str()
            .unwrap()
            .contains("limits.body_millis")
    );
    // The client says that no more will come.
    let mut cut = connect(web.address);
    cut.stream.write_all(half).unwrap();
    cut.stream.shutdown(Shutdown::Write).unwrap();
    cut.answer()
        .unwrap()
        .refused(400, "ValidationError", "BODY");
    // It leaves.
    let mut gone = connect(web.address);
    gone.stream.write_all(half).unwrap();
    drop(gone);
    check_nothing_stored(&web);
}

#[tokio::test]
async fn framing_that_two_servers_may_read_differently_is_refused() {
    let (_daemon, web) = daemon().await;
    let body = good();
    let (length, in_chunks) = (body.len(), chunks(&body));
    for (framing, body, code) in [
        (
            format!("content-length: {length}\r\ntransfer-encoding: chunked"),
            &in_chunks,
            "FRAMING",
        ),
        (
            format!("transfer-encoding: chunked\r\ncontent-length: {length}"),
            &in_chunks,
            "FRAMING",
        ),
        (
            format!("Transfer-Encoding: chunked\r\nX-A: b\r\nContent-Length: {length}"),
            &in_chunks,
            "FRAMING",
        ),
        (
            format!("content-length: {length}\r\ncontent-length: 1"),
            &body,
            "REQUEST_HEAD",
        ),
        (
            format!("content-length: {length}, {length}"),
            &body,
            "REQUEST_HEAD",
        ),
        (format!("content-length: +{length}"), &body, "REQUEST_HEAD"),
        (
            "transfer-encoding: xchunked".into(),
            &in_chunks,
            "REQUEST_HEAD",
        ),
        (
            "transfer-encoding: chunked, identity".into(),
            &in_chunks,
            "REQUEST_HEAD",
        ),
        (
            "transfer-encoding : chunked".into(),
            &in_chunks,
            "REQUEST_HEAD",
        ),
        (
            "transfer-encoding:\r\n chunked".into(),
            &in_chunks,
            "REQUEST_HEAD",
        ),
    ] {
        let mut reader = connect(web.address);
        // What is smuggled would be the next request.
        let smuggled = web.bytes("POST", "/v1/memories/", &[JSON], good().as_bytes());
        let bytes = [framed(&web, &framing, body), smuggled].concat();
        drop(reader.stream.write_all(&bytes));
        let answer = reader
            .answer()
            .unwrap_or_else(|| panic!("no answer: {framing:?}"));
        answer.refused(400, "ValidationError", code);
        assert!(
            reader.answer().is_none(),
            "{framing:?}: the connection goes on"
        );
    }
    check_nothing_stored(&web);
    // Chunks alone are good, also behind other requests.
    let mut reader = connect(web.address);
    for bytes in [
        web.bytes("POST", "/v1/memories/", &[JSON], good().as_bytes()),
        framed(&web, "transfer-encoding: chunked", &in_chunks),
    ] {
        reader.stream.write_all(&bytes).unwrap();
        reader.answer().unwrap().ok();
    }
}

#[tokio::test]
async fn heads_beyond_the_limits_are_refused() {
    let (_daemon, web) = daemon().await;
    let many: Vec<_> = (0..10_000).map(|at| format!("x-{at}: y")).collect();
    let many: Vec<_> = many.iter().map(String::as_str).collect();
    let long = format!("x-long: {}", "y".repeat(100_000));
    for headers in [&many[..], &[long.as_str()]] {
        let bytes = web.bytes("GET", "/v1/ping/", headers, b"");
        raw(web.address, &bytes)
            .unwrap()
            .refused(431, "ValidationError", "HEAD_SIZE");
    }
    let target = format!("/v1/memories/?user_id={}", "x".repeat(100_000));
    let answer = raw(web.address, &web.bytes("GET", &target, &[], b"")).unwrap();
    assert!([414, 431].contains(&answer.status), "{answer:?}");
    assert!(answer.json()["code"].is_string());
    for bad in [
        &b"GARBAGE\r\n\r\n"[..],
        b"GET /v1/ping/ HTTP/9.9\r\n\r\n",
        b"GET /v1/ping/ HTTP/1.1\r\nbad header\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
    ] {
        raw(web.address, bad)
            .unwrap()
            .refused(400, "ValidationError", "REQUEST_HEAD");
    }
    assert_eq!(web.get("/v1/ping/").status, 200);
    let options = (0..100)
        .map(|at| format!("o{at}=1"))
        .collect::<Vec<_>>()
        .join("&");
    web.get(&format!("/v1/ping/?{options}"))
        .refused(400, "ValidationError", "QUERY");
    web.get("/v1/memories/%FF/")
        .refused(400, "ValidationError", "INVALID");
    web.get("/v1/memories/?user_id=%FF")
        .refused(400, "ValidationError", "QUERY");
}

#[tokio::test]
async fn web_pages_are_refused_unless_their_origin_is_configured() {
    let (_daemon, web) = daemon().await;
    let evil = "origin: https://evil.example";
    let asks = [
        "access-control-request-method: POST",
        "access-control-request-headers: authorization",
    ];
    let is_cors = |answer: &WebAnswer| {
        answer
            .headers
            .iter()
            .any(|header| header.0.starts_with("access-control"))
    };
    let preflight = |web: &WebCaller, origin: &str| {
        let nobody = WebCaller {
            shows: String::new(),
            ..web.clone()
        };
        nobody.send(
            "OPTIONS",
            "/v1/memories/",
            &[origin, asks[0], asks[1]],
            &Value::Null,
        )
    };
    for origin in [evil, "origin: null", "origin: http://localhost:3000"] {
        let refused = preflight(&web, origin);
        assert!(!is_cors(&refused));
        refused.refused(403, "PermissionError", "ORIGIN");
        let refused = post(&web, &[JSON, origin], good().as_bytes());
        assert!(!is_cors(&refused));
        refused.refused(403, "PermissionError", "ORIGIN");
    }
    let options = web.send("OPTIONS", "/v1/memories/", &[], &Value::Null);
    options.refused(405, "NotSupportedError", "METHOD");
    check_nothing_stored(&web);
    let settings = "origins = \"https://app.example\"\n";
    let place = crate::process::Setup::new(
        &crate::client::HTTP.replace("[tcp]", &format!("{settings}[tcp]")),
    );
    let daemon = place.start();
    let web = WebCaller::bearer(&daemon, &daemon.token().await);
    let ours = "origin: https://app.example";
    let allowed = preflight(&web, ours);
    assert_eq!(allowed.status, 204);
    assert_eq!(
        allowed.header("access-control-allow-origin"),
        Some("https://app.example")
    );
    assert!(
        allowed
            .header("access-control-allow-headers")
            .unwrap()
            .contains("authorization")
    );
    let added = post(&web, &[JSON, ours], good().as_bytes());
    assert_eq!(
        added.header("access-control-allow-origin"),
        Some("https://app.example")
    );
    added.ok();
    preflight(&web, evil).refused(403, "PermissionError", "ORIGIN");
}

#[tokio::test]
async fn a_request_by_loopback_names_this_machine() {
    let (_daemon, web) = daemon().await;
    let WebCaller { address, shows } = &web;
    let port = address.port();
    for host in [
        "evil.example",
        &format!("evil.example:{port}"),
        "127.0.0.1",
        "",
        &format!("127.0.0.1:{port}\r\nhost: evil"),
    ] {
        let bytes = format!("GET /v1/ping/ HTTP/1.1\r\nhost: {host}\r\n{shows}\r\n\r\n");
        let answer = raw(*address, bytes.as_bytes()).unwrap();
        answer.refused(421, "PermissionError", "HOST");
    }
    for host in [format!("localhost:{port}"), format!("127.0.0.1:{port}")] {
        let bytes = format!("GET /v1/ping/ HTTP/1.1\r\nhost: {host}\r\n{shows}\r\n\r\n");
        assert_eq!(
            raw(*address, bytes.as_bytes()).unwrap().status,
            200,
            "{host}"
        );
    }
}

/// Connections whose answers are not read: together more than may wait for long.
const UNREAD: usize = 32;

/// Calls of `GetEvents`: those under way, and those that failed.
async fn calls(daemon: &Daemon) -> (u64, u64) {
    let request = v1::ListLatenciesRequest::default();
    let asked = daemon.client().await.admin().list_latencies(request).await;
    let mut calls = asked.unwrap().into_inner().latencies.into_iter();
    let of_get = calls.find(|call| call.rpc.ends_with("/GetEvents"));
    of_get.map_or((0, 0), |call| (call.in_flight, call.errors))
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_that_nobody_reads_give_way_where_many_wait() {
    let sockets = tempfile::tempdir().unwrap();
    let path = sockets.path().join("h");
    let listen = format!("[http]\nlisten = \"unix:{}\"\n", path.display());
    let daemon = Setup::new(&listen).start();
    let client = daemon.client().await;
    amem_tests::daemon::create_bare(&client, "b").await;
    let event = |letter: &str| v1::NewEvent {
        r#type: v1::EventType::Fact.into(),
        text: letter.repeat(1 << 20),
        ..Default::default()
    };
    let ingest = v1::IngestRequest {
        brain: "b".into(),
        events: ["a", "b", "c"].map(event).into(),
        ..Default::default()
    };
    client.memory().ingest(ingest).await.unwrap();
    let body = json!({"eventIds": ["0", "1", "2"]}).to_string();
    let target = "POST /v1/brains/b/get-events HTTP/1.1";
    let length = body.len();
    let get =
        format!("{target}\r\nhost: memory\r\n{JSON}\r\ncontent-length: {length}\r\n\r\n{body}");
    let ask = |_| {
        let mut stream = UnixStream::connect(&path).unwrap();
        stream.write_all(get.as_bytes()).unwrap();
        stream
    };
    let unread: Vec<_> = (0..UNREAD).map(ask).collect();
    // Some are given up, long before an answer is that waits alone.
    let begun = Instant::now();
    while calls(&daemon).await.1 == 0 {
        assert!(begun.elapsed() < Duration::from_secs(30), "they all wait");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let is_cut = |stream| {
        let answer = WebReader::new(stream).answer().unwrap();
        answer.body.len() < answer.header("content-length").unwrap().parse().unwrap()
    };
    let cut = unread
        .into_iter()
        .filter_map(|it| is_cut(it).then_some(()))
        .count();
    assert!((1..UNREAD).contains(&cut), "{cut} were given up");
    assert_eq!(calls(&daemon).await.0, 0);
    daemon.end();
}
