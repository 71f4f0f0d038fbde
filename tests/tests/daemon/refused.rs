//! What the daemon refuses: each with its own error, nothing changed.

use std::time::Duration;

use amem_client::{Client, v1};
use tonic::Code;

use crate::process::{Daemon, check_refused, command, create_bare, facts, folder, ingest};

async fn create(client: &Client, brain: &str) -> Result<(), tonic::Status> {
    let request = v1::CreateBrainRequest {
        brain: brain.into(),
        ..Default::default()
    };
    client.brains().create_brain(request).await.map(drop)
}

#[tokio::test]
async fn invalid_names_are_refused_and_no_file_is_created() {
    let folder = folder();
    let daemon = Daemon::start(folder.path());
    let client = daemon.client().await;
    let long = "n".repeat(129);
    for name in [
        "", ".hidden", "..", "a/b", "/etc/x", "a b", "b.amem", "é", &long,
    ] {
        let answer = create(&client, name).await;
        let code = Code::InvalidArgument;
        check_refused(
            name,
            answer,
            code,
            "BRAIN_NAME",
            &["cannot be a brain's name"],
        );
        let answer = client.memory().ingest(facts(name, &["x"])).await;
        check_refused(name, answer, code, "BRAIN_NAME", &[]);
    }
    let files = std::fs::read_dir(folder.path()).unwrap();
    let names: Vec<_> = files.map(|f| f.unwrap().file_name()).collect();
    assert_eq!(names, [".amemd"]);
    create_bare(&client, "b").await;
    let answer = create(&client, "b").await;
    check_refused("b", answer, Code::AlreadyExists, "BRAIN_EXISTS", &["\"b\""]);
}

#[tokio::test]
async fn invalid_requests_are_refused_one_by_one() {
    let folder = folder();
    let daemon = Daemon::start(folder.path());
    let client = daemon.client().await;
    let (mut memory, mut queries) = (client.memory(), client.queries());
    let answer = memory.ingest(facts("nowhere", &["x"])).await;
    check_refused(
        "brain",
        answer,
        Code::NotFound,
        "UNKNOWN_BRAIN",
        &["nowhere"],
    );
    create_bare(&client, "b").await;
    let lsn = ingest(&client, "b", &["one", "two"])
        .await
        .commit
        .unwrap()
        .lsn;

    let link = |source_id, target_id, r#type| v1::LinkRequest {
        brain: "b".into(),
        source_id,
        target_id,
        r#type,
        ..Default::default()
    };
    let invalid = Code::InvalidArgument;
    let answer = memory.link(link(0, 9, 2)).await;
    check_refused(
        "event",
        answer,
        Code::NotFound,
        "UNKNOWN_EVENT",
        &["event 9"],
    );
    let answer = memory.link(link(0, 0, 2)).await;
    check_refused("self edge", answer, invalid, "INVALID", &[]);
    let answer = memory.link(link(0, 1, 0)).await;
    check_refused("no type", answer, invalid, "INVALID", &["CAUSED_BY"]);
    let answer = memory.link(link(0, 1, 300)).await;
    check_refused("type", answer, invalid, "INVALID", &["300"]);
    let mut batch = facts("b", &["x"]);
    batch.events[0].confidence = Some(f32::NAN);
    let answer = memory.ingest(batch).await;
    check_refused("NaN", answer, invalid, "INVALID", &[]);
    let mut batch = facts("b", &["x"]);
    batch.events[0].vector = Some(v1::Vector {
        values: vec![1.0; 3],
        space: String::new(),
    });
    let answer = memory.ingest(batch).await;
    check_refused("dimension", answer, invalid, "DIMENSION", &["3"]);
    let mut batch = facts("b", &["x"]);
    batch.events[0].attributes_json = "[1]".into();
    let answer = memory.ingest(batch).await;
    check_refused("attributes", answer, invalid, "INVALID", &["object"]);
    let mut batch = facts("b", &["x"]);
    batch.events[0].text = "x".repeat((1 << 20) + 1);
    let answer = memory.ingest(batch).await;
    check_refused("text", answer, invalid, "LIMIT", &["1048576"]);
    let mut batch = facts("b", &["x"]);
    batch.options = Some(v1::WriteOptions {
        request_id: "not-a-uuid".into(),
        ..Default::default()
    });
    let answer = memory.ingest(batch).await;
    check_refused("request id", answer, invalid, "INVALID", &["not-a-uuid"]);
    let mut batch = facts("b", &["x"]);
    batch.options = Some(v1::WriteOptions {
        expected_lsn: Some(lsn - 1),
        ..Default::default()
    });
    let answer = memory.ingest(batch).await;
    check_refused("condition", answer, Code::Aborted, "CONDITION", &["LSN"]);
    let future = v1::GetEventsRequest {
        brain: "b".into(),
        as_of: Some(v1::AsOf {
            moment: Some(v1::as_of::Moment::Lsn(lsn + 1)),
        }),
        ..Default::default()
    };
    let answer = queries.get_events(future).await;
    check_refused("future", answer, Code::OutOfRange, "UNKNOWN_LSN", &[]);
    let search = v1::SearchRequest {
        brain: "b".into(),
        text: "x".into(),
        selection: Some(v1::Selection {
            filter_json: "{".into(),
            ..Default::default()
        }),
        ..Default::default()
    };
    let answer = queries.search(search).await;
    check_refused("filter", answer, invalid, "INVALID", &["filter_json"]);
    // Nothing of all that was done.
    let done = ingest(&client, "b", &["three"]).await;
    assert_eq!(done.event_ids, [2]);
}

#[tokio::test]
async fn relative_times_of_a_filter_refer_to_the_request_and_never_to_the_daemon() {
    let folder = folder();
    let daemon = Daemon::start(folder.path());
    let client = daemon.client().await;
    create_bare(&client, "b").await;
    ingest(&client, "b", &["now"]).await;
    let now = std::time::SystemTime::now();
    let ask = async |filter: &str, now: Option<std::time::SystemTime>, zone: &str| {
        let pattern = v1::PatternRequest {
            brain: "b".into(),
            selection: Some(v1::Selection {
                filter_json: filter.into(),
                now: now.map(Into::into),
                zone: zone.into(),
                ..Default::default()
            }),
            ..Default::default()
        };
        let answer = client.queries().pattern(pattern).await?;
        Ok::<_, tonic::Status>(answer.into_inner().events.len())
    };
    let recent = r#"{"created_at": {"gte": "2 hours ago"}}"#;
    assert_eq!(ask(recent, Some(now), "UTC").await.unwrap(), 1);
    let tomorrow = now + Duration::from_secs(86_400);
    assert_eq!(
        ask(recent, Some(tomorrow), "Europe/Berlin").await.unwrap(),
        0
    );
    let early = r#"{"created_at": {"gte": "2020-03-05"}}"#;
    assert_eq!(ask(early, None, "+01:00").await.unwrap(), 1);
    assert_eq!(
        ask(r#"{"created_at": {"gte": "1583366400"}}"#, None, "")
            .await
            .unwrap(),
        1
    );
    for (filter, now, zone, word) in [
        (recent, None, "UTC", "now"),
        (recent, Some(now), "", "zone"),
        (early, Some(now), "", "zone"),
        (recent, Some(now), "Mars/Olympus", "Mars/Olympus"),
        (
            r#"{"created_at": {"gte": "soonish"}}"#,
            Some(now),
            "UTC",
            "soonish",
        ),
    ] {
        let answer = ask(filter, now, zone).await;
        check_refused(filter, answer, Code::InvalidArgument, "INVALID", &[word]);
    }
}

#[tokio::test]
async fn messages_over_their_limits_are_refused_and_the_connection_stays_open() {
    let folder = folder();
    let daemon = Daemon::start(folder.path());
    let client = daemon.client().await;
    create_bare(&client, "b").await;
    let mib = "x".repeat(1 << 20);
    let large = |n: usize| facts("b", &vec![mib.as_str(); n]);
    let mut memory = client.memory();
    let answer = memory.ingest(large(4)).await;
    let code = Code::ResourceExhausted;
    check_refused("5 MiB", answer, code, "MESSAGE_SIZE", &["IngestStream"]);
    let answer = memory.ingest(large(17)).await;
    check_refused("17 MiB", answer, code, "MESSAGE_SIZE", &["IngestStream"]);
    let answer = client
        .queries()
        .search(v1::SearchRequest {
            brain: "b".into(),
            text: mib.repeat(5),
            ..Default::default()
        })
        .await;
    check_refused("question", answer, code, "MESSAGE_SIZE", &["limit"]);
    let batch = v1::IngestStreamRequest {
        batch: Some(large(17)),
    };
    let answers = memory.ingest_stream(tokio_stream::iter([batch])).await;
    let answer = match answers {
        Ok(answers) => answers.into_inner().message().await,
        Err(status) => Err(status),
    };
    check_refused(
        "a batch of 17 MiB",
        answer,
        code,
        "MESSAGE_SIZE",
        &["limit"],
    );
    // A stream may carry what a single call may not.
    let batch = v1::IngestStreamRequest {
        batch: Some(large(8)),
    };
    let answers = memory.ingest_stream(tokio_stream::iter([batch])).await;
    let answer = answers.unwrap().into_inner().message().await.unwrap();
    let outcome = answer.unwrap().result.unwrap();
    assert!(matches!(
        outcome,
        v1::ingest_stream_response::Result::Done(_)
    ));
    let all = v1::GetEventsRequest {
        brain: "b".into(),
        event_ids: (0..8).collect(),
        ..Default::default()
    };
    let answer = client.queries().get_events(all).await;
    check_refused("answer", answer, code, "MESSAGE_SIZE", &["ask for less"]);
}

/// The most memory that a process ever had resident.
#[cfg(target_os = "linux")]
fn peak_mib(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib: u64 = line
        .unwrap()
        .trim()
        .trim_end_matches(" kB")
        .parse()
        .unwrap();
    kib >> 10
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_small_message_that_would_expand_in_memory_is_refused_before_it_does() {
    let folder = folder();
    let daemon = Daemon::start(folder.path());
    let client = daemon.client().await;
    create_bare(&client, "b").await;
    let before = peak_mib(daemon.pid());
    // 400 KB on the wire, and 80 MB as structures.
    let many = v1::PipelineRequest {
        brain: "b".into(),
        sources: vec![v1::PipelineSource::default(); 200_000],
        ..Default::default()
    };
    let queries = client.queries();
    let calls = (0..2).map(|_| {
        let (mut queries, many) = (queries.clone(), many.clone());
        tokio::spawn(async move { queries.pipeline(many).await })
    });
    for call in calls.collect::<Vec<_>>() {
        let answer = call.await.unwrap();
        let code = Code::ResourceExhausted;
        check_refused("sources", answer, code, "MESSAGE_SIZE", &["too many parts"]);
    }
    let grown = peak_mib(daemon.pid()) - before;
    assert!(grown < 40, "{grown} MiB for messages that are refused");
    ingest(&client, "b", &["another"]).await;
}

#[test]
fn a_second_daemon_is_refused_and_the_refusal_names_the_holder() {
    let (folder, other) = (folder(), self::folder());
    let daemon = Daemon::start(folder.path());
    let elsewhere = daemon.socket.with_file_name("t");
    let rows = [
        (folder.path(), &elsewhere, daemon.pid().to_string()),
        (
            other.path(),
            &daemon.socket,
            "another daemon listens on".to_owned(),
        ),
    ];
    for (folder, socket, words) in rows {
        let output = command(folder, socket).output().unwrap();
        let told = String::from_utf8(output.stderr).unwrap();
        // Another one may be gone in a moment: EX_TEMPFAIL.
        assert_eq!(output.status.code(), Some(75), "{told}");
        assert!(told.contains(&words), "{words}: {told}");
    }
    assert!(daemon.socket.exists());
    assert!(!elsewhere.exists());
    assert!(daemon.stop().success());
}

#[test]
fn a_daemon_without_a_folder_names_the_missing_folder() {
    let folder = folder();
    let missing = folder.path().join("missing");
    let output = command(&missing, &folder.path().join("s"))
        .output()
        .unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert!(told.contains("missing"), "{told}");
}
