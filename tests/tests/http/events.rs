//! Subscriptions as server-sent events: in order, resumed, and ended for the reasons of those by gRPC.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use amem_client::v1;
use serde_json::{Value, json};

use crate::client::{WebCaller, WebReader, connect, daemon, daemon_with};

/// An event of a stream.
#[derive(Debug, Default)]
struct Event {
    id: Option<u64>,
    kind: String,
    data: Value,
}

/// A stream of events by HTTP/1.
struct Events {
    stream: TcpStream,
    /// Bytes that came, in chunks, and the text in them.
    raw: Vec<u8>,
    text: String,
    comments: usize,
}

impl Events {
    /// The next event; `None` at the end.
    fn next(&mut self) -> Option<Event> {
        loop {
            while let Some((block, rest)) = self.text.split_once("\n\n") {
                let (block, rest) = (block.to_owned(), rest.to_owned());
                self.text = rest;
                let mut event = Event::default();
                for line in block.lines() {
                    let (name, value) = line.split_once(':').unwrap();
                    match name {
                        "" => self.comments += 1,
                        "id" => event.id = Some(value.trim().parse().unwrap()),
                        "event" => event.kind = value.trim().to_owned(),
                        "data" => event.data = serde_json::from_str(value).unwrap(),
                        _ => panic!("{line}"),
                    }
                }
                if !event.data.is_null() {
                    return Some(event);
                }
            }
            if !self.more() {
                return None;
            }
        }
    }

    /// Waits for a comment.
    fn comment(&mut self) {
        while !self.text.contains(":\n\n") {
            assert!(self.more(), "the stream has ended");
        }
    }

    /// Reads a chunk; false at the end.
    fn more(&mut self) -> bool {
        loop {
            let line = self.raw.windows(2).position(|two| two == b"\r\n");
            if let Some(line) = line {
                let size = std::str::from_utf8(&self.raw[..line]).unwrap();
                let size = usize::from_str_radix(size, 16).unwrap();
                let end = line + 2 + size;
                if self.raw.len() >= end + 2 {
                    let chunk = self.raw[line + 2..end].to_vec();
                    self.raw.drain(..end + 2);
                    // No part ends within a letter here: the texts are ASCII.
                    self.text += std::str::from_utf8(&chunk).unwrap();
                    return size > 0;
                }
            }
            let mut part = vec![0; 1 << 16];
            match self.stream.read(&mut part) {
                Ok(0) => return false,
                Ok(bytes) => self.raw.extend_from_slice(&part[..bytes]),
                Err(why) if why.kind() == ErrorKind::ConnectionReset => return false,
                Err(why) => panic!("{why}"),
            }
        }
    }
}

/// Subscribes, and reads the head of the answer.
fn subscribe(web: &WebCaller, target: &str, headers: &[&str]) -> Events {
    let mut connection = connect(web.address);
    let bytes = web.bytes("GET", target, headers, b"");
    connection.stream.write_all(&bytes).unwrap();
    let WebReader { mut stream, .. } = connection;
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).unwrap();
        head.push(byte[0]);
    }
    let head = String::from_utf8(head).unwrap().to_lowercase();
    assert!(head.starts_with("http/1.1 200"), "{head}");
    assert!(head.contains("content-type: text/event-stream"), "{head}");
    Events {
        stream,
        raw: Vec::new(),
        text: String::new(),
        comments: 0,
    }
}

fn ingest(web: &WebCaller, texts: &[&str]) -> u64 {
    let events: Vec<_> = texts.iter().map(|text| json!({"text": text})).collect();
    let done = web
        .post("/v1/brains/b/ingest", &json!({"events": events}))
        .ok();
    done["commit"]["lsn"].as_str().unwrap().parse().unwrap()
}

/// The first new event of a commit.
fn text(event: &Event) -> &str {
    event.data["changes"][0]["event"]["text"].as_str().unwrap()
}

#[tokio::test]
async fn commits_come_as_events_and_a_stream_goes_on_after_its_last_one() {
    let (_daemon, web) = daemon().await;
    web.post("/v1/brains/b/create-brain", &json!({})).ok();
    let first = ingest(&web, &["one"]);
    let mut events = subscribe(&web, "/v1/brains/b/subscribe?after=0", &[]);
    assert_eq!(events.next().unwrap().id, Some(0));
    let one = loop {
        let event = events.next().unwrap();
        if event.id == Some(first) {
            break event;
        }
    };
    assert_eq!(text(&one), "one");
    let second = ingest(&web, &["two", "three"]);
    let two = events.next().unwrap();
    assert_eq!((two.id, text(&two)), (Some(second), "two"));
    // Silence is filled, so that nothing between takes the stream for dead.
    events.comment();
    drop(events);
    // A browser repeats its URL, and says which event came last.
    let last = format!("last-event-id: {first}");
    for (target, headers) in [
        ("/v1/brains/b/subscribe?after=0", &[&*last][..]),
        (&*format!("/v1/brains/b/subscribe?after={first}"), &[]),
        (&*format!("/v1/brains/b/subscribe/?afterLsn={first}"), &[]),
    ] {
        let mut events = subscribe(&web, target, headers);
        assert_eq!(events.next().unwrap().id, Some(first));
        assert_eq!(text(&events.next().unwrap()), "two");
    }
    // Options are the fields of the request.
    let target = format!(
        "/v1/brains/b/subscribe?after={first}&types=EVENT_TYPE_SKILL&types=EVENT_TYPE_EPISODE"
    );
    let mut none = subscribe(&web, &target, &[]);
    none.next().unwrap();
    let skill = json!({"events": [{"text": "four", "type": "EVENT_TYPE_SKILL"}]});
    web.post("/v1/brains/b/ingest", &skill).ok();
    assert_eq!(text(&none.next().unwrap()), "four");
    for (target, headers, status, code) in [
        ("subscribe?unheard=1", &[][..], 400, "INVALID"),
        ("subscribe?after=x", &[], 400, "INVALID"),
        ("subscribe?after=1&after_lsn=1", &[], 400, "INVALID"),
        ("subscribe?types=FACT", &[], 400, "INVALID"),
        ("subscribe", &["last-event-id: x"], 400, "INVALID"),
    ] {
        let target = format!("/v1/brains/b/{target}");
        let refused = web.send("GET", &target, headers, &Value::Null);
        refused.refused(status, "ValidationError", code);
    }
    let foreign = "/v1/brains/b/subscribe?after=1&instance=00000000-0000-4000-8000-000000000000";
    web.get(foreign)
        .refused(400, "ValidationError", "FOREIGN_INSTANCE");
    let ahead = web.get("/v1/brains/b/subscribe?after=1000000");
    assert_eq!(ahead.status, 400, "{}", ahead.text());
}

// The client by gRPC closes its connection beside the test.
#[tokio::test(flavor = "multi_thread")]
async fn a_stream_ends_with_the_daemon_and_goes_on_at_the_next_one() {
    let (daemon, web) = daemon().await;
    web.post("/v1/brains/b/create-brain", &json!({})).ok();
    let mut events = subscribe(&web, "/v1/brains/b/subscribe", &[]);
    events.next().unwrap();
    let seen = ingest(&web, &["one"]);
    assert_eq!(events.next().unwrap().id, Some(seen));
    let place = daemon.end();
    let last = events.next().unwrap();
    assert_eq!((&*last.kind, last.id), ("failure", None));
    assert_eq!(last.data["code"], "CLOSED", "{last:?}");
    assert!(events.next().is_none());
    let daemon = place.start();
    let web = WebCaller {
        address: daemon.http.unwrap(),
        ..web
    };
    ingest(&web, &["two"]);
    let last = format!("last-event-id: {seen}");
    let mut events = subscribe(&web, "/v1/brains/b/subscribe", &[&last]);
    assert_eq!(events.next().unwrap().id, Some(seen));
    assert_eq!(text(&events.next().unwrap()), "two");
}

// The client by gRPC closes its connection beside the test.
#[tokio::test(flavor = "multi_thread")]
async fn a_stream_goes_on_across_restarts_and_neither_misses_nor_repeats_anything() {
    let (mut daemon, mut web) = daemon().await;
    web.post("/v1/brains/b/create-brain", &json!({})).ok();
    let (mut stored, mut seen, mut last) = (Vec::new(), Vec::new(), 0);
    let ingest_some = |web: &WebCaller, round: usize, stored: &mut Vec<String>| {
        // Commits of one event and of several.
        for events in 1..=3 {
            let texts: Vec<_> = (0..events)
                .map(|at| format!("{round}.{events}.{at}"))
                .collect();
            let refs: Vec<_> = texts.iter().map(String::as_str).collect();
            ingest(web, &refs);
            stored.extend(texts);
        }
    };
    // Each round reads a few of the events, ends the daemon in order or kills it, and starts the next one.
    for round in 0..6 {
        ingest_some(&web, round, &mut stored);
        let header = format!("last-event-id: {last}");
        let mut events = subscribe(&web, "/v1/brains/b/subscribe?after=0", &[&header]);
        assert_eq!(events.next().unwrap().id, Some(last));
        ingest_some(&web, round + 100, &mut stored);
        // The last round reads all.
        let commits = if round == 5 {
            usize::MAX
        } else {
            2 + round % 3
        };
        let mut read = 0;
        while read < commits && seen.len() < stored.len() {
            let event = events.next().unwrap();
            let changes = event.data["changes"].as_array().into_iter().flatten();
            let texts = changes.filter_map(|change| change["event"]["text"].as_str());
            seen.extend(texts.map(str::to_owned));
            if let Some(id) = event.id {
                assert!(id >= last, "{id} after {last}");
                (last, read) = (id, read + 1);
            }
        }
        drop(events);
        let place = match round % 2 {
            0 => daemon.end(),
            _ => daemon.kill(),
        };
        daemon = place.start();
        web.address = daemon.http.unwrap();
    }
    assert_eq!(seen, stored);
}

#[tokio::test]
async fn a_stream_ends_when_its_caller_loses_its_rights() {
    let (daemon, web) = daemon().await;
    web.post("/v1/brains/b/create-brain", &json!({})).ok();
    let reads = daemon.token_of("reads", v1::Permission::Read).await;
    let reads = WebCaller::bearer(&daemon, &reads);
    let mut events = subscribe(&reads, "/v1/brains/b/subscribe", &[]);
    events.next().unwrap();
    web.post("/v1/daemon/revoke-token", &json!({"name": "reads"}))
        .ok();
    // Its connection may end first.
    while let Some(event) = events.next() {
        assert!(
            event.kind == "failure" || event.data["changes"].is_null(),
            "{event:?}"
        );
    }
}

#[tokio::test]
async fn a_subscriber_that_does_not_read_is_left_behind_and_told_where() {
    let (_daemon, web) = daemon_with("[limits]\nsend_secs = 1\n").await;
    web.post("/v1/brains/b/create-brain", &json!({})).ok();
    // More than the buffers of both ends hold.
    let long = "x ".repeat(500_000);
    // Before the commits: a checkpoint behind them may fold the first ones, which nobody can follow then.
    let mut events = subscribe(&web, "/v1/brains/b/subscribe?after=0", &[]);
    let subscribers = || web.get("/v1/brains/b").ok()["status"]["subscribers"].clone();
    assert_eq!(subscribers(), 1);
    let commits: Vec<_> = (0..14).map(|_| ingest(&web, &[&long, &long])).collect();
    // It is left behind after `send_secs`. Each question is a connection, of which there are only so many a second.
    while subscribers() == 1 {
        std::thread::sleep(Duration::from_millis(20));
    }
    let (mut seen, mut last) = (0, None);
    while let Some(event) = events.next() {
        seen = event.id.unwrap_or(seen);
        last = Some(event);
    }
    let last = last.unwrap();
    assert_eq!(last.kind, "failure", "{last:?}");
    assert_eq!(last.data["code"], "SLOW_SUBSCRIBER", "{last:?}");
    // It knows after which commit it was left behind.
    let at = commits.iter().position(|lsn| *lsn == seen);
    assert!(
        at.is_some_and(|at| at + 1 < commits.len()),
        "{seen} of {commits:?}"
    );
}
