//! Where HTTP listens: a Unix socket, TLS, HTTP/2, and the end of the daemon.

use std::fs;
use std::future::poll_fn;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::pin::Pin;
use std::sync::Arc;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};
use tonic::body::Body;
use tonic::codegen::Body as HttpBody;
use tonic::codegen::http::Request;
use tonic::transport::Endpoint;
use tower::{Service, ServiceExt};

use crate::client::{WebCaller, by_socket, connect, daemon, raw};
use crate::process::{Setup, write_private};

#[tokio::test]
async fn the_owner_needs_no_token_by_the_unix_socket() {
    let sockets = tempfile::tempdir().unwrap();
    let path = sockets.path().join("h");
    let place = Setup::new(&format!("[http]\nlisten = \"unix:{}\"\n", path.display()));
    let daemon = place.start();
    assert_eq!(by_socket(&path, "GET", "/v1/ping/").ok()["status"], "ok");
    let missing = by_socket(&path, "GET", "/v1/memories/?user_id=ada");
    // Our user administers everything, so that the brain is made.
    assert_eq!(missing.ok()["results"], json!([]));
    let mode = fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    daemon.end();
    assert!(!path.exists());
}

#[tokio::test]
async fn http_for_other_machines_needs_tls() {
    let place =
        Setup::new("[http]\nlisten = \"0.0.0.0:0\"\n[tcp]\ntokens_file = \"tokens.toml\"\n");
    let (code, told) = place.refused(&[]);
    assert_eq!(code, Some(1));
    assert!(
        told.contains("http.listen") && told.contains("tcp.tls_certificate"),
        "{told}"
    );
}

#[tokio::test]
async fn a_connection_serves_many_requests_in_order_also_when_they_come_at_once() {
    let (_daemon, web) = daemon().await;
    let mut reader = connect(web.address);
    let body = json!({"messages": "likes tea", "infer": false, "user_id": "ada"}).to_string();
    let json = ["content-type: application/json"];
    let all = [
        web.bytes("GET", "/v1/ping/", &[], b""),
        web.bytes("POST", "/v1/memories/", &json, body.as_bytes()),
        web.bytes("GET", "/v1/memories/?user_id=ada", &[], b""),
    ];
    reader.stream.write_all(&all.concat()).unwrap();
    assert_eq!(reader.answer().unwrap().ok()["status"], "ok");
    assert_eq!(reader.answer().unwrap().ok()["results"][0]["event"], "ADD");
    assert_eq!(
        reader.answer().unwrap().ok()["results"][0]["memory"],
        "likes tea"
    );
    reader
        .stream
        .write_all(&web.bytes("GET", "/v1/ping/", &[], b""))
        .unwrap();
    assert_eq!(reader.answer().unwrap().status, 200);
}

// The client by gRPC closes its connection beside the test.
#[tokio::test(flavor = "multi_thread")]
async fn the_daemon_ends_while_clients_keep_connections_open() {
    let (daemon, web) = daemon().await;
    let mut idle = connect(web.address);
    let _silent = connect(web.address);
    idle.stream
        .write_all(&web.bytes("GET", "/v1/ping/", &[], b""))
        .unwrap();
    assert_eq!(idle.answer().unwrap().status, 200);
    daemon.end();
    assert!(idle.answer().is_none());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_log_has_no_token_no_key_and_no_id_of_a_request() {
    let place = Setup::new(&format!(
        "{}[log]\nfilter = \"debug\"\n",
        crate::client::HTTP
    ));
    let daemon = place.start();
    let token = daemon.token().await;
    let web = WebCaller::token(&daemon, &token);
    let headers = ["mem0-user-id: 8ce4b16b22b58894", "x-amem-agent: planner"];
    web.send(
        "GET",
        "/v1/memories/?user_id=secret-user",
        &headers,
        &Value::Null,
    );
    web.send("GET", "/v1/memories/secret-id/", &headers, &Value::Null);
    raw(
        web.address,
        b"GET / HTTP/1.1\r\nhost: x\r\nauthorization: Bearer wrong-token\r\n\r\n",
    );
    let (_, said) = daemon.end_and_tell();
    assert!(said.contains("/v1/memories/{id}"), "{said}");
    for secret in [
        token.as_str(),
        "8ce4b16b22b58894",
        "secret-user",
        "secret-id",
        "wrong-token",
    ] {
        assert!(!said.contains(secret), "{secret}: {said}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn clients_of_http_2_are_served_and_refused_alike() {
    let (_daemon, web) = daemon().await;
    let endpoint = Endpoint::from_shared(format!("http://{}", web.address)).unwrap();
    let mut channel = endpoint.connect().await.unwrap();
    let shows = web.shows.strip_prefix("authorization: ").unwrap();
    for (shows, status, words) in [
        (shows, 200, "\"status\":\"ok\""),
        ("Bearer wrong", 401, "TOKEN"),
    ] {
        let request = Request::builder()
            .uri("/v1/ping/")
            .header("authorization", shows);
        let request = request.body(Body::empty()).unwrap();
        let answer = channel.ready().await.unwrap().call(request).await.unwrap();
        assert_eq!(answer.status(), status);
        let (mut body, mut bytes) = (answer.into_body(), Vec::new());
        while let Some(frame) = poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)).await {
            bytes.extend(frame.unwrap().into_data().unwrap_or_default());
        }
        let text = String::from_utf8(bytes).unwrap();
        assert!(text.contains(words), "{text}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn http_by_tls_speaks_either_version() {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let place = Setup::new(&format!(
        "{}tls_certificate = \"cert\"\ntls_key = \"key\"\n",
        crate::client::HTTP
    ));
    write_private(&place.path("cert"), &made.cert.pem());
    write_private(&place.path("key"), &made.signing_key.serialize_pem());
    let daemon = place.start();
    let web = WebCaller::bearer(&daemon, &daemon.token().await);
    let mut roots = RootCertStore::empty();
    roots.add(made.cert.der().clone()).unwrap();
    let provider = Arc::new(ring::default_provider());
    let config =
        ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let config = config
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    for (offered, chosen) in [
        (&[][..], None),
        (&["http/1.1"], Some("http/1.1")),
        (&["h2", "http/1.1"], Some("h2")),
    ] {
        let mut config = config.clone();
        config.alpn_protocols = offered
            .iter()
            .map(|name: &&str| name.as_bytes().to_vec())
            .collect();
        let stream = tokio::net::TcpStream::connect(web.address).await.unwrap();
        let name = ServerName::try_from("localhost").unwrap();
        let connector = TlsConnector::from(Arc::new(config));
        let mut stream = connector.connect(name, stream).await.unwrap();
        let found = stream.get_ref().1.alpn_protocol();
        assert_eq!(found, chosen.map(str::as_bytes));
        if chosen == Some("h2") {
            continue;
        }
        let request = web.bytes("GET", "/v1/ping/", &["connection: close"], b"");
        stream.write_all(&request).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        assert!(answer.starts_with("HTTP/1.1 200 OK"), "{answer}");
    }
    // Without TLS there is no answer.
    assert!(
        raw(web.address, &web.bytes("GET", "/v1/ping/", &[], b""))
            .is_none_or(|answer| answer.status != 200)
    );
}
