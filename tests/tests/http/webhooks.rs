//! Webhooks: what a receiver gets, when it gets it again, and where nothing is sent.

use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use amem_client::v1;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::client::{HTTP, WebCaller, daemon, daemon_with};
use crate::process::{Daemon, Setup};
use crate::routes::add;

/// How long a message may take.
const PATIENCE: Duration = Duration::from_secs(20);
/// How long nothing must come.
const SILENCE: Duration = Duration::from_millis(1_500);

/// A message that a receiver got.
#[derive(Debug)]
struct Post {
    head: String,
    body: String,
}

impl Post {
    fn header(&self, name: &str) -> &str {
        let mut lines = self.head.lines().filter_map(|line| line.split_once(": "));
        let found = lines.find(|(of, _)| of.eq_ignore_ascii_case(name));
        found.unwrap_or_else(|| panic!("{name}: {}", self.head)).1
    }

    fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }

    /// The event, the memory and its text.
    fn event(&self) -> (String, String, Option<String>) {
        let event = self.json()["event_details"].clone();
        let text = |name: &str| event[name].as_str().unwrap().to_owned();
        let memory = event["data"]["memory"].as_str().map(str::to_owned);
        (text("event"), text("id"), memory)
    }

    fn check_signature(&self, secret: &str) {
        let value = self.header("x-amem-signature");
        let (time, hex) = value
            .strip_prefix("t=")
            .and_then(|rest| rest.split_once(",v1="))
            .unwrap();
        let signed = format!("{time}.{}", self.body);
        assert_eq!(hex, hmac(secret.as_bytes(), signed.as_bytes()));
    }
}

/// HMAC-SHA256 (RFC 2104) in hexadecimal; the key is no longer than 128 digits.
fn hmac(key: &[u8], text: &[u8]) -> String {
    let mut block = [0; 64];
    if key.len() > 64 {
        block[..32].copy_from_slice(&Sha256::digest(key));
    } else {
        block[..key.len()].copy_from_slice(key);
    }
    let padded = |pad: u8| block.map(|byte| byte ^ pad);
    let inner = Sha256::new().chain_update(padded(0x36)).chain_update(text);
    let outer = Sha256::new()
        .chain_update(padded(0x5C))
        .chain_update(inner.finalize());
    let digest = outer.finalize();
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A receiver that answers with these statuses, one after the other, and with the last one from then on.
struct WebhookReceiver {
    address: SocketAddr,
    posts: Receiver<Post>,
    answers: Arc<Mutex<Vec<&'static str>>>,
}

fn read_post(stream: &mut TcpStream) -> Option<Post> {
    let mut read = Vec::new();
    let mut part = [0; 4096];
    loop {
        let bytes = stream.read(&mut part).ok().filter(|bytes| *bytes > 0)?;
        read.extend_from_slice(&part[..bytes]);
        let Some(end) = read.windows(4).position(|four| four == b"\r\n\r\n") else {
            continue;
        };
        let head = String::from_utf8(read[..end].to_vec()).unwrap();
        let post = Post {
            body: String::from_utf8(read[end + 4..].to_vec()).unwrap(),
            head,
        };
        if post.body.len() == post.header("content-length").parse::<usize>().unwrap() {
            return Some(post);
        }
    }
}

fn receive(listener: TcpListener, answers: &Mutex<Vec<&'static str>>, posts: &Sender<Post>) {
    for stream in listener.incoming() {
        let mut stream = stream.unwrap();
        let Some(post) = read_post(&mut stream) else {
            continue;
        };
        let mut answers = answers.lock().unwrap();
        let answer = if answers.len() > 1 {
            answers.remove(0)
        } else {
            answers[0]
        };
        drop(answers);
        let answer = format!("HTTP/1.1 {answer}\r\ncontent-length: 0\r\n\r\n");
        drop(stream.write_all(answer.as_bytes()));
        if posts.send(post).is_err() {
            return;
        }
    }
}

impl WebhookReceiver {
    fn new(answers: &[&'static str]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let answers = Arc::new(Mutex::new(answers.to_vec()));
        let (send, posts) = channel();
        let of = answers.clone();
        thread::spawn(move || receive(listener, &of, &send));
        Self {
            address,
            posts,
            answers,
        }
    }

    fn url(&self) -> String {
        format!("http://{}/hook?key=secret", self.address)
    }

    fn next(&self) -> Post {
        self.posts.recv_timeout(PATIENCE).unwrap()
    }

    fn gets_nothing(&self) {
        let got = self.posts.recv_timeout(SILENCE);
        assert!(matches!(got, Err(RecvTimeoutError::Timeout)), "{got:?}");
    }

    fn settings(&self) -> String {
        format!("[webhooks]\nprivate_hosts = \"{}\"\n", self.address)
    }
}

const ROUTE: &str = "/api/v1/webhooks/projects/default/";

fn create(web: &WebCaller, url: &str) -> Value {
    let body = json!({"name": "all", "url": url, "event_types": ["memory_add", "memory_update", "memory_delete"]});
    web.post(ROUTE, &body).ok()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

fn restart(place: Setup, web: &mut WebCaller) -> Daemon {
    let daemon = place.start();
    web.address = daemon.http.unwrap();
    daemon
}

#[tokio::test]
async fn a_receiver_gets_every_change_signed_and_in_order() {
    let receiver = WebhookReceiver::new(&["200 OK"]);
    let (daemon, web) = daemon_with(&receiver.settings()).await;
    let made = create(&web, &receiver.url());
    let secret = text(&made["secret"]).to_owned();
    assert!(secret.starts_with("amem_wh_") && secret.len() == 72);
    let id = add(&web, &json!({"user_id": "ada"}), "likes tea");
    let target = format!("/v1/memories/{id}/");
    let added = receiver.next();
    added.check_signature(&secret);
    assert_eq!(
        added.event(),
        ("ADD".into(), id.clone(), Some("likes tea".into()))
    );
    let message = added.json();
    assert_eq!(
        (
            &message["user_id"],
            &message["project"],
            &message["event_type"]
        ),
        (&json!("ada"), &json!("memories"), &json!("memory_add"))
    );
    assert_eq!(text(&made["webhook_id"]), added.header("x-amem-webhook"));
    assert_eq!(
        text(&message["delivery_id"]),
        added.header("x-amem-delivery")
    );
    assert!(added.head.starts_with("POST /hook?key=secret HTTP/1.1"));
    assert_eq!(added.header("host"), receiver.address.to_string());

    web.put(&target, &json!({"text": "likes milk"})).ok();
    let updated = receiver.next();
    updated.check_signature(&secret);
    assert_eq!(
        updated.event(),
        ("UPDATE".into(), id.clone(), Some("likes milk".into()))
    );
    web.delete(&target).ok();
    assert_eq!(receiver.next().event(), ("DELETE".into(), id, None));

    let erased = add(&web, &json!({"user_id": "bob"}), "likes rye");
    assert_eq!(receiver.next().event().0, "ADD");
    web.delete("/v2/entities/user/bob/").ok();
    let gone = receiver.next();
    assert_eq!(gone.event(), ("DELETE".into(), erased, None));
    assert!(!gone.body.contains("rye") && !gone.body.contains("bob"));
    receiver.gets_nothing();

    let state = daemon.place.path("brains/.amemd/webhooks.json");
    assert_eq!(
        fs::metadata(&state).unwrap().permissions().mode() & 0o777,
        0o600
    );
    assert!(!web.get(ROUTE).text().contains(&secret));
    let (_, log) = daemon.end_and_tell();
    for word in [secret.as_str(), "key=secret", "likes tea"] {
        assert!(!log.contains(word), "{word}: {log}");
    }
}

#[tokio::test]
async fn a_failed_post_is_repeated_over_restarts_and_keeps_its_id() {
    let receiver = WebhookReceiver::new(&["500 No", "503 No"]);
    let (daemon, mut web) = daemon_with(&receiver.settings()).await;
    let secret = text(&create(&web, &receiver.url())["secret"]).to_owned();
    let first = add(&web, &json!({"user_id": "ada"}), "likes tea");
    let second = add(&web, &json!({"user_id": "ada"}), "owns a boat");
    let (tried, again) = (receiver.next(), receiver.next());
    let delivery = tried.header("x-amem-delivery").to_owned();
    assert_eq!(again.header("x-amem-delivery"), delivery);
    let shown = web.get(ROUTE).ok()[0].clone();
    assert!(text(&shown["last_error"]).contains("50"), "{shown}");
    assert_eq!(shown["is_active"], true);
    let place = daemon.kill();
    *receiver.answers.lock().unwrap() = vec!["204 Done"];
    while receiver.posts.try_recv().is_ok() {}
    let daemon = restart(place, &mut web);
    let late = receiver.next();
    late.check_signature(&secret);
    assert_eq!(late.header("x-amem-delivery"), delivery);
    assert_eq!(late.event().1, first);
    // A post that was under way as the daemon was killed may have been read as well.
    let mut next = receiver.next();
    while next.header("x-amem-delivery") == delivery {
        next = receiver.next();
    }
    assert_eq!(next.event().1, second);
    // What happens while the receiver is gone waits in the brain, over an orderly restart too.
    *receiver.answers.lock().unwrap() = vec!["500 No"];
    let third = add(&web, &json!({"user_id": "ada"}), "plays chess");
    assert_eq!(receiver.next().event().1, third);
    let place = daemon.end();
    *receiver.answers.lock().unwrap() = vec!["200 OK"];
    while receiver.posts.try_recv().is_ok() {}
    let _daemon = restart(place, &mut web);
    assert_eq!(receiver.next().event().1, third);
    receiver.gets_nothing();
}

#[tokio::test]
async fn redirects_are_not_followed() {
    let elsewhere = WebhookReceiver::new(&["200 OK"]);
    let location: &'static str =
        format!("302 Found\r\nlocation: http://{}/", elsewhere.address).leak();
    let receiver = WebhookReceiver::new(&[location]);
    let hosts = format!("{},{}", receiver.address, elsewhere.address);
    let (_daemon, web) = daemon_with(&format!("[webhooks]\nprivate_hosts = \"{hosts}\"\n")).await;
    create(&web, &receiver.url());
    add(&web, &json!({"user_id": "ada"}), "likes tea");
    receiver.next();
    elsewhere.gets_nothing();
    let shown = web.get(ROUTE).ok()[0].clone();
    assert!(text(&shown["last_error"]).contains("redirects"), "{shown}");
}

#[tokio::test]
async fn nothing_is_sent_to_hosts_that_are_not_listed() {
    let receiver = WebhookReceiver::new(&["200 OK"]);
    let port = receiver.address.port();
    let (daemon, mut web) = daemon_with(&receiver.settings()).await;
    create(&web, &receiver.url());
    for url in [
        format!("http://127.0.0.1:{}/", port.wrapping_add(1)),
        format!("http://localhost:{port}/"),
        format!("http://127.0.0.1:{port}@example.com/"),
        format!("http://ada:secret@127.0.0.1:{port}/"),
        "https://example.com/".into(),
        "file:///etc/passwd".into(),
    ] {
        let body = json!({"url": url, "event_types": ["memory_add"]});
        web.post(ROUTE, &body)
            .refused(400, "ValidationError", "INVALID");
    }
    // The list counts when something is sent, too.
    let place = daemon.end();
    place.configure(&format!("{HTTP}[webhooks]\nhosts = \"example.com\"\n"));
    let _daemon = restart(place, &mut web);
    add(&web, &json!({"user_id": "ada"}), "likes tea");
    receiver.gets_nothing();
    let shown = web.get(ROUTE).ok()[0].clone();
    assert!(text(&shown["last_error"]).contains("not among"), "{shown}");
}

#[tokio::test]
async fn a_name_with_a_private_address_is_refused_unless_it_is_listed_as_private() {
    let receiver = WebhookReceiver::new(&["200 OK"]);
    let port = receiver.address.port();
    let hosts = format!(
        "[webhooks]\nhosts = \"localhost:{port},127.0.0.1:{port},[::ffff:127.0.0.1]:{port}\"\n"
    );
    let (daemon, mut web) = daemon_with(&hosts).await;
    for host in ["localhost", "127.0.0.1", "[::ffff:127.0.0.1]"] {
        create(&web, &format!("https://{host}:{port}/"));
    }
    add(&web, &json!({"user_id": "ada"}), "likes tea");
    receiver.gets_nothing();
    for shown in web.get(ROUTE).ok().as_array().unwrap() {
        assert!(text(&shown["last_error"]).contains("private"), "{shown}");
        web.delete(&format!("/api/v1/webhooks/{}/", text(&shown["webhook_id"])))
            .ok();
    }
    let place = daemon.end();
    place.configure(&format!(
        "{HTTP}[webhooks]\nprivate_hosts = \"localhost:{port}\"\n"
    ));
    let _daemon = restart(place, &mut web);
    create(&web, &format!("http://localhost:{port}/"));
    add(&web, &json!({"user_id": "ada"}), "owns a boat");
    assert_eq!(receiver.next().event().2.as_deref(), Some("owns a boat"));
}

#[tokio::test]
async fn webhooks_are_changed_and_deleted_by_administrators_only() {
    let receiver = WebhookReceiver::new(&["200 OK"]);
    let (daemon, web) = daemon_with(&receiver.settings()).await;
    let made = create(&web, &receiver.url());
    let target = format!("/api/v1/webhooks/{}/", text(&made["webhook_id"]));
    let writer = WebCaller::bearer(&daemon, &daemon.token().await);
    let elsewhere = daemon
        .token_for("elsewhere", v1::Permission::Admin, &["elsewhere"])
        .await;
    let elsewhere = WebCaller::bearer(&daemon, &elsewhere);
    let request = v1::CreateTokenRequest {
        name: "scoped".into(),
        permission: v1::Permission::Write.into(),
        scope: Some(v1::Scope {
            user: Some("ada".into()),
            ..Default::default()
        }),
        ..Default::default()
    };
    let scoped = daemon.client().await.admin().create_token(request).await;
    let scoped = WebCaller::bearer(&daemon, &scoped.unwrap().into_inner().token);
    let body = json!({"url": receiver.url(), "name": "b"});
    for (caller, status, name, code) in [
        (&writer, 403, "PermissionError", "ROLE"),
        (&scoped, 403, "PermissionError", "TOKEN_SCOPE"),
        (&elsewhere, 404, "NotFoundError", "UNKNOWN_BRAIN"),
    ] {
        caller.get(ROUTE).refused(status, name, code);
        caller.post(ROUTE, &body).refused(status, name, code);
        let code = if code == "UNKNOWN_BRAIN" {
            "UNKNOWN_WEBHOOK"
        } else {
            code
        };
        caller.put(&target, &body).refused(status, name, code);
        caller.delete(&target).refused(status, name, code);
    }
    let changed = web.put(
        &target,
        &json!({"eventTypes": ["memory_delete"], "name": "c"}),
    );
    let changed = changed.ok();
    assert!(changed["message"].is_string() && changed["secret"].is_null());
    assert_eq!(
        (&changed["event_types"], &changed["name"]),
        (&json!(["memory_delete"]), &json!("c"))
    );
    let id = add(&web, &json!({"user_id": "ada"}), "likes tea");
    web.delete(&format!("/v1/memories/{id}/")).ok();
    assert_eq!(receiver.next().event(), ("DELETE".into(), id, None));
    web.put(&target, &json!({"is_active": false})).ok();
    let id = add(&web, &json!({"user_id": "ada"}), "owns a boat");
    web.delete(&format!("/v1/memories/{id}/")).ok();
    receiver.gets_nothing();
    web.put(&target, &json!({"name": "d"})).ok();
    assert_eq!(receiver.next().event(), ("DELETE".into(), id, None));
    web.delete(&target).ok();
    web.delete(&target)
        .refused(404, "NotFoundError", "UNKNOWN_WEBHOOK");
    assert_eq!(web.get(ROUTE).ok(), json!([]));
    for (body, code) in [
        (
            json!({"url": receiver.url(), "event_types": ["memory_read"]}),
            "INVALID",
        ),
        (json!({"url": receiver.url(), "event_types": []}), "INVALID"),
        (json!({"name": "no URL"}), "INVALID"),
        (
            json!({"url": receiver.url(), "name": "x".repeat(257)}),
            "LIMIT",
        ),
        (
            json!({"url": format!("{}{}", receiver.url(), "x".repeat(2048))}),
            "LIMIT",
        ),
    ] {
        web.post(ROUTE, &body).refused(400, "ValidationError", code);
    }
    for _ in 0..64 {
        create(&web, &receiver.url());
    }
    let body = json!({"url": receiver.url()});
    web.post(ROUTE, &body)
        .refused(429, "RateLimitError", "LIMIT");
}

#[tokio::test]
async fn webhooks_are_off_unless_hosts_are_listed() {
    let (daemon, web) = daemon().await;
    web.get(ROUTE)
        .refused(501, "NotSupportedError", "NO_WEBHOOKS");
    let body = json!({"url": "https://example.com/"});
    web.post(ROUTE, &body)
        .refused(501, "NotSupportedError", "NO_WEBHOOKS");
    let place = daemon.end();
    place.configure(&format!(
        "{HTTP}[webhooks]\nhosts = \"https://example.com\"\n"
    ));
    let (status, said) = place.refused(&[]);
    assert_eq!(status, Some(1), "{said}");
    assert!(
        said.contains("webhooks.hosts") && said.contains("is no host"),
        "{said}"
    );
}
