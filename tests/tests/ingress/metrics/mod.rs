//! Metrics by HTTP: their content, readiness, refused and slow scrapers.

mod scraped;

mod phases;

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use amem_client::v1;
use serde_json::Value;

use self::scraped::{MetricsPage, get, send};
use crate::process::{Daemon, Setup};

const ON: &str = "[metrics]\nlisten = \"127.0.0.1:0\"\n";

/// A daemon that serves metrics, with a brain.
async fn daemon() -> (Daemon, amem_client::Client) {
    let daemon = Setup::new(ON).start();
    let client = daemon.client().await;
    let create = v1::CreateBrainRequest {
        brain: "work".into(),
        ..Default::default()
    };
    client.brains().create_brain(create).await.unwrap();
    (daemon, client)
}

async fn remember(client: &amem_client::Client, text: &str) {
    let event = v1::NewEvent {
        r#type: v1::EventType::Fact.into(),
        text: text.into(),
        ..Default::default()
    };
    let ingest = v1::IngestRequest {
        brain: "work".into(),
        events: vec![event],
        ..Default::default()
    };
    client.memory().ingest(ingest).await.unwrap();
}

#[tokio::test]
async fn metrics_parse_and_counters_only_grow() {
    let (daemon, client) = daemon().await;
    let from = daemon.metrics.unwrap();
    let before = MetricsPage::of(from);
    for at in 0..10 {
        remember(&client, &format!("a secret {at}")).await;
    }
    let unknown = v1::CheckpointBrainRequest {
        brain: "none".into(),
    };
    client.brains().checkpoint_brain(unknown).await.unwrap_err();
    let folded = v1::CheckpointBrainRequest {
        brain: "work".into(),
    };
    client.brains().checkpoint_brain(folded).await.unwrap();
    let after = MetricsPage::of(from);
    after.check_after(&before);

    let grown = |series: &str| {
        let was = before.series.get(series).copied().unwrap_or(0.0);
        after.value(series) - was
    };
    let work = "{brain=\"work\"}";
    for series in [
        "amemd_brain_requests_total",
        "amemd_brain_group_requests_sum",
        "amemd_brain_queue_wait_seconds_count",
        "amemd_brain_sync_seconds_count",
        "amemd_brain_events",
    ] {
        assert_eq!(grown(&format!("{series}{work}")), 10.0, "{series}");
    }
    assert!(grown(&format!("amemd_brain_commits_total{work}")) >= 10.0);
    assert_eq!(grown(&format!("amemd_brain_checkpoints_total{work}")), 1.0);
    assert!(after.value(&format!("amemd_brain_checkpoint_last_seconds{work}")) > 0.0);
    assert!(after.value(&format!("amemd_brain_checkpoint_last_stall_seconds{work}")) > 0.0);
    let ingests = "amemd_call_seconds_count{rpc=\"/amem.v1.MemoryService/Ingest\"}";
    assert_eq!(grown(ingests), 10.0);
    assert_eq!(
        grown("amemd_calls_refused_total{reason=\"UNKNOWN_BRAIN\"}"),
        1.0
    );
    assert_eq!(
        grown("amemd_jobs_total{kind=\"checkpoint\",outcome=\"done\"}"),
        1.0
    );
    for told in [
        "amemd_process_memory_bytes",
        "amemd_process_descriptors",
        "amemd_connections",
    ] {
        assert!(after.value(told) > 0.0, "{told}");
    }
    assert_eq!(after.value("amemd_ready"), 1.0);
    let page = get(from, "/metrics").body;
    assert!(!page.contains("secret"), "content of a brain is exposed");
}

#[tokio::test]
async fn the_status_shows_the_same_numbers_as_the_metrics() {
    let (daemon, client) = daemon().await;
    remember(&client, "one").await;
    let scraped = MetricsPage::of(daemon.metrics.unwrap());
    let status = client.admin().get_status(v1::GetStatusRequest {}).await;
    let status = status.unwrap().into_inner();
    let brain = &status.brains[0];
    let told = |name: &str| scraped.value(&format!("amemd_brain_{name}{{brain=\"work\"}}"));
    for (name, number) in [
        ("commits_total", brain.commits),
        ("requests_total", brain.requests),
        ("journal_bytes", brain.journal_bytes),
        ("group_requests_count", brain.groups),
        ("checkpoints_total", brain.checkpoints),
    ] {
        assert_eq!(told(name), number as f64, "{name}");
    }
    assert_eq!((brain.group_p50, brain.group_p99), (1, 1));
    assert!(brain.sync_p99.is_some_and(|span| span.nanos > 0));
    assert_eq!(brain.checkpoint_duration, None);
    let process = status.process.unwrap();
    assert!(process.memory_bytes > 0 && process.threads > 0);
    assert!(status.connections >= 1);
}

#[tokio::test]
async fn the_slowest_subscription_is_at_most_as_far_behind_as_there_are_commits() {
    let (daemon, client) = daemon().await;
    let from = daemon.metrics.unwrap();
    let follow = v1::SubscribeRequest {
        brain: "work".into(),
        ..Default::default()
    };
    let mut commits = client
        .memory()
        .subscribe(follow)
        .await
        .unwrap()
        .into_inner();
    commits.message().await.unwrap();
    remember(&client, "one").await;
    commits.message().await.unwrap();
    let until = Instant::now() + Duration::from_secs(20);
    loop {
        let scraped = MetricsPage::of(from);
        assert_eq!(
            scraped.value("amemd_brain_subscribers{brain=\"work\"}"),
            1.0
        );
        if scraped.value("amemd_brain_subscriber_behind_commits{brain=\"work\"}") == 0.0 {
            break;
        }
        assert!(Instant::now() < until, "it never catches up");
    }
}

#[tokio::test]
async fn pending_facts_of_an_open_brain_are_counted() {
    let (daemon, client) = daemon().await;
    let from = daemon.metrics.unwrap();
    let gauge = "amemd_brain_pending_facts{brain=\"work\"}";
    assert_eq!(MetricsPage::of(from).value(gauge), 0.0);
    // Work that waits for other settings, as fact memory writes it: nothing tries it again.
    let id = uuid::Uuid::new_v4();
    let work =
        serde_json::json!({"reason": "refused", "detail": "no key", "tries": 1, "next_try": null});
    let entry = serde_json::json!({"id": id, "scope": {}, "work": work, "since": 1});
    let attributes = serde_json::json!({"amem.pending": {"id": id, "state": "open"}});
    let event = v1::NewEvent {
        r#type: v1::EventType::Fact.into(),
        text: entry.to_string(),
        attributes_json: attributes.to_string(),
        ..Default::default()
    };
    let ingest = v1::IngestRequest {
        brain: "work".into(),
        events: vec![event],
        ..Default::default()
    };
    client.memory().ingest(ingest).await.unwrap();
    let until = Instant::now() + Duration::from_secs(20);
    while MetricsPage::of(from).value(gauge) != 1.0 {
        assert!(Instant::now() < until, "it is not counted");
    }
}

#[tokio::test]
async fn every_metric_of_the_dashboard_exists() {
    let (daemon, _client) = daemon().await;
    let scraped = MetricsPage::of(daemon.metrics.unwrap());
    let dashboard = include_str!("../../../../deploy/grafana/amemd.json");
    let dashboard: Value = serde_json::from_str(dashboard).unwrap();
    let mut asked = BTreeSet::new();
    let panels = dashboard["panels"].as_array().unwrap();
    for panel in panels {
        for target in panel["targets"].as_array().unwrap() {
            names(target["expr"].as_str().unwrap(), &mut asked);
        }
    }
    for variable in dashboard["templating"]["list"].as_array().unwrap() {
        names(
            variable["query"]["query"].as_str().unwrap_or_default(),
            &mut asked,
        );
    }
    assert!(asked.len() > 20, "{asked:?}");
    let unknown: Vec<_> = asked.iter().filter(|name| !scraped.knows(name)).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
}

#[tokio::test]
async fn untracked_files_are_no_brains_and_only_the_first_are_named() {
    const FILES: usize = 30;
    let (daemon, client) = daemon().await;
    let from = daemon.metrics.unwrap();
    let status = client.admin().get_status(v1::GetStatusRequest {}).await;
    let folder = status.unwrap().into_inner().folder;
    for number in 0..FILES {
        let name = format!("{folder}/stray{number:02}\nready.amem");
        std::fs::write(name, "no brain").unwrap();
    }
    let until = Instant::now() + Duration::from_secs(20);
    while MetricsPage::of(from).value("amemd_files_rejected") < FILES as f64 {
        assert!(Instant::now() < until, "they are not told");
    }
    let scraped = MetricsPage::of(from);
    assert_eq!(scraped.value("amemd_brains"), 1.0);
    assert_eq!(scraped.value("amemd_brains_failed"), 0.0);
    let page = get(from, "/readyz");
    assert_eq!(page.status, 200);
    let lines: Vec<_> = page.body.lines().collect();
    assert_eq!(lines.len(), 22, "{lines:?}");
    assert_eq!(lines[0], "ready");
    assert_eq!(lines[1], "file stray00\\nready.amem: rejected (BRAIN_NAME)");
    assert_eq!(
        lines[21],
        "and 10 more: `amemctl brain ls --rejected` lists all"
    );
}

/// The names of metrics in a question to Prometheus.
fn names(question: &str, into: &mut BTreeSet<String>) {
    let words = question.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    let ours = words.filter(|word| word.starts_with("amemd_"));
    into.extend(ours.map(str::to_owned));
}

#[tokio::test]
async fn requests_other_than_for_metrics_are_refused() {
    let (daemon, _client) = daemon().await;
    let from = daemon.metrics.unwrap();
    assert_eq!(get(from, "/").status, 404);
    assert_eq!(get(from, "/healthz").status, 200);
    let request = |line: &str, host: &str| {
        send(
            from,
            format!("{line} HTTP/1.1\r\nHost: {host}\r\n\r\n").as_bytes(),
        )
        .status
    };
    assert_eq!(request("POST /metrics", "localhost"), 405);
    assert_eq!(request("HEAD /metrics", "localhost:1"), 200);
    // A name that another site made up for this machine, as in a browser.
    assert_eq!(request("GET /metrics", "evil.example"), 421);
    let long = format!(
        "GET /metrics HTTP/1.1\r\nHost: localhost\r\nX: {}",
        "x".repeat(7 << 10)
    );
    assert_eq!(send(from, format!("{long}\r\n\r\n").as_bytes()).status, 200);
    let many = "A: b\r\n".repeat(100);
    let many = format!("GET /metrics HTTP/1.1\r\nHost: localhost\r\n{many}\r\n");
    assert_eq!(send(from, many.as_bytes()).status, 431);
}

#[test]
fn metrics_for_other_machines_are_refused_unless_they_are_allowed() {
    for (settings, words) in [
        ("[metrics]\nlisten = \"0.0.0.0:0\"", "metrics.allow_remote"),
        ("[metrics]\nlisten = \"here\"", "metrics.listen"),
        ("[metrics]\nlisten_on = \"127.0.0.1:0\"", "metrics.listen"),
    ] {
        let (code, told) = Setup::new(settings).refused(&[]);
        assert_eq!(code, Some(1), "{told}");
        assert!(told.contains(words), "{settings}: {told}");
    }
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap();
    let settings = format!("[metrics]\nlisten = \"{address}\"");
    let (code, told) = Setup::new(&settings).refused(&[]);
    assert_eq!(code, Some(1), "{told}");
    assert!(told.contains(&address.to_string()), "{told}");
    let daemon = Setup::new("[metrics]\nlisten = \"0.0.0.0:0\"\nallow_remote = true").start();
    let port = daemon.metrics.unwrap().port();
    let from = ([127, 0, 0, 1], port).into();
    let request = b"GET /readyz HTTP/1.1\r\nHost: amemd.example\r\n\r\n";
    assert_eq!(send(from, request).status, 200);
}

#[tokio::test]
async fn slow_heads_fail_no_health_check() {
    let (daemon, _client) = daemon().await;
    let from = daemon.metrics.unwrap();
    for check in 0..12 {
        // The check connects, and its request is late by as long as 64 others take to connect.
        let mut health = TcpStream::connect(from).unwrap();
        let slow: Vec<_> = (0..64)
            .map(|_| {
                let mut stream = TcpStream::connect(from).unwrap();
                stream.write_all(b"GET /metrics HT").unwrap();
                stream
            })
            .collect();
        let timeout = Some(Duration::from_secs(15));
        health.set_read_timeout(timeout).unwrap();
        let asked = health.write_all(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
        let mut answer = String::new();
        let read = asked.and_then(|()| health.read_to_string(&mut answer));
        assert!(
            answer.starts_with("HTTP/1.1 200"),
            "check {check}: {read:?} {answer:?}"
        );
        drop(slow);
    }
}

#[tokio::test]
async fn a_slow_scraper_delays_no_other() {
    let (daemon, client) = daemon().await;
    let from = daemon.metrics.unwrap();
    let slow: Vec<_> = (0..40)
        .map(|_| {
            let mut stream = TcpStream::connect(from).unwrap();
            stream.write_all(b"GET /metrics HT").unwrap();
            stream
        })
        .collect();
    let begun = Instant::now();
    let scraped = MetricsPage::of(from);
    remember(&client, "meanwhile").await;
    assert!(
        begun.elapsed() < Duration::from_secs(2),
        "{:?}",
        begun.elapsed()
    );
    assert_eq!(scraped.value("amemd_ready"), 1.0);
    // None of them is kept.
    for mut stream in slow {
        stream
            .set_read_timeout(Some(Duration::from_secs(15)))
            .unwrap();
        let mut rest = Vec::new();
        // One that was cut off may be answered or not.
        _ = stream.read_to_end(&mut rest);
        assert!(!rest.starts_with(b"HTTP/1.1 200"));
    }
}
