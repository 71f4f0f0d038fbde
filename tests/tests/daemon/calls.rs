//! What the daemon answers.

use amem_client::v1;
use amem_client::v1::ingest_stream_response::Result as Outcome;
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::health_client::HealthClient;

use crate::process::{Daemon, create, create_bare, facts, files_with, folder, get, ingest};

#[tokio::test(flavor = "multi_thread")]
async fn a_brain_is_created_written_searched_corrected_and_resolved() {
    let folder = folder();
    let daemon = Daemon::start(folder.path());
    let client = daemon.client().await;
    let made = create(&client, "work").await;
    assert_eq!(made.info.unwrap().dimension, 128);
    let told = [
        "The deploy script lives in tools/deploy.sh",
        "Ada prefers tea to coffee",
        "The build takes nine minutes on the old runner",
    ];
    let done = ingest(&client, "work", &told).await;
    assert_eq!(done.event_ids, [0, 1, 2]);
    let commit = done.commit.unwrap();
    assert_eq!(commit.instance, made.moment.unwrap().instance);

    let search = v1::SearchRequest {
        brain: "work".into(),
        text: "what does Ada drink, coffee?".into(),
        limit: 2,
        ..Default::default()
    };
    let mut queries = client.queries();
    let found = queries.search(search.clone()).await.unwrap().into_inner();
    let best = &found.hits[0];
    assert_eq!(best.event.as_ref().unwrap().id, 1);
    let parts = best.text_score + best.vector_score + best.neighbour_score + best.session_score;
    assert!((best.score - parts).abs() < 1e-6 && best.text_score > 0.0);
    assert!(found.moment.unwrap().lsn >= commit.lsn);
    // The brain's vectors are the built-in embedder's.
    let weighed = v1::SearchRequest {
        text_weight: Some(0.9),
        vector_weight: Some(0.1),
        ..search.clone()
    };
    let weighed = queries.search(weighed).await.unwrap().into_inner();
    assert_eq!(weighed.hits, found.hits);

    let correct = v1::CorrectRequest {
        brain: "work".into(),
        target_id: 1,
        event: Some(v1::NewEvent {
            text: "Ada prefers coffee since her trip to Vienna".into(),
            ..Default::default()
        }),
        reason: "she said so".into(),
        ..Default::default()
    };
    let corrected = client.memory().correct(correct).await.unwrap().into_inner();
    assert_eq!((corrected.event_id, corrected.target_id), (3, 1));
    let resolve = v1::ResolveRequest {
        brain: "work".into(),
        event_id: 1,
        ..Default::default()
    };
    let resolved = queries.resolve(resolve).await.unwrap().into_inner();
    let head = resolved.head.unwrap();
    assert_eq!(head.r#type(), v1::EventType::Correction);
    assert!(head.attributes_json.contains("she said so"), "{head:?}");
    let chain: Vec<u64> = resolved.chain.iter().map(|event| event.id).collect();
    assert_eq!((chain, resolved.contested), (vec![1, 3], false));
    let old = &get(&client, "work", &[1]).await[0];
    assert_eq!(old.confidence, 0.0);
    assert_eq!(old.edges[0].r#type(), v1::EdgeType::Supersedes);
    let now = queries.search(search.clone()).await.unwrap().into_inner();
    let ids: Vec<u64> = now
        .hits
        .iter()
        .flat_map(|h| &h.event)
        .map(|e| e.id)
        .collect();
    assert!(ids.contains(&3) && !ids.contains(&1), "{ids:?}");
    let all = v1::SearchRequest {
        include_superseded: true,
        ..search
    };
    let all = queries.search(all).await.unwrap().into_inner();
    let ids: Vec<u64> = all
        .hits
        .iter()
        .flat_map(|h| &h.event)
        .map(|e| e.id)
        .collect();
    assert!(ids.contains(&3) && ids.contains(&1), "{ids:?}");
    // What was believed before is still there to be asked for.
    let before = v1::GetEventsRequest {
        brain: "work".into(),
        event_ids: vec![1],
        as_of: Some(v1::AsOf {
            moment: Some(v1::as_of::Moment::Lsn(commit.lsn)),
        }),
        ..Default::default()
    };
    let before = queries.get_events(before).await.unwrap().into_inner();
    assert_eq!(before.events[0].confidence, 1.0);
    assert!(daemon.stop().success());
}

#[tokio::test]
async fn one_stream_takes_thousands_of_events_and_refuses_only_the_bad_batch() {
    let folder = folder();
    let daemon = Daemon::start(folder.path());
    let client = daemon.client().await;
    create_bare(&client, "b").await;
    const BATCHES: u64 = 40;
    const EVENTS: u64 = 100;
    let batch = |at: u64| {
        let texts: Vec<String> = (0..EVENTS).map(|n| format!("event {at}-{n}")).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let mut batch = facts("b", &texts);
        if at == 7 {
            batch.events[50].text.clear();
        }
        v1::IngestStreamRequest { batch: Some(batch) }
    };
    let batches: Vec<_> = (0..BATCHES).map(batch).collect();
    let answers = client
        .memory()
        .ingest_stream(tokio_stream::iter(batches))
        .await;
    let mut answers = answers.unwrap().into_inner();
    let (mut at, mut next_id, mut last) = (0, 0, 0);
    while let Some(answer) = answers.message().await.unwrap() {
        assert_eq!(answer.batch_index, at);
        match answer.result.unwrap() {
            Outcome::Done(done) => {
                let ids: Vec<u64> = (next_id..next_id + EVENTS).collect();
                assert_eq!(done.event_ids, ids);
                let lsn = done.commit.unwrap().lsn;
                assert!(lsn > last, "{lsn}");
                (next_id, last) = (next_id + EVENTS, lsn);
            }
            Outcome::Failure(failure) => {
                assert_eq!((at, failure.reason.as_str()), (7, "INVALID"), "{failure:?}");
            }
        }
        at += 1;
    }
    assert_eq!((at, next_id), (BATCHES, (BATCHES - 1) * EVENTS));
    let event = &get(&client, "b", &[7 * EVENTS]).await[0];
    assert_eq!(event.text, "event 8-0");
}

#[tokio::test]
async fn status_health_and_the_list_show_the_state() {
    let folder = folder();
    let daemon = Daemon::start(folder.path());
    let client = daemon.client().await;
    for brain in ["a", "b", "c"] {
        create_bare(&client, brain).await;
    }
    ingest(&client, "b", &["one", "two"]).await;
    let status = client.admin().get_status(v1::GetStatusRequest {}).await;
    let status = status.unwrap().into_inner();
    assert_eq!(status.pid, daemon.pid());
    assert_eq!(status.folder, folder.path().to_str().unwrap());
    let b = &status.brains[1];
    assert_eq!((b.brain.as_str(), b.events, b.generation), ("b", 2, 1));
    assert!(b.journal_bytes > 0 && b.poisoned.is_empty(), "{b:?}");

    let mut health = HealthClient::new(client.channel());
    for service in ["", "amem.v1.MemoryService", "amem.v1.QueryService"] {
        let request = HealthCheckRequest {
            service: service.into(),
        };
        let answer = health.check(request).await.unwrap().into_inner();
        assert_eq!(answer.status(), ServingStatus::Serving, "{service}");
    }

    let (mut names, mut page_token) = (Vec::new(), String::new());
    loop {
        let request = v1::ListBrainsRequest {
            page_size: 2,
            page_token,
        };
        let page = client.brains().list_brains(request).await.unwrap();
        let page = page.into_inner();
        names.extend(page.brains.into_iter().map(|brain| brain.brain));
        page_token = page.next_page_token;
        if page_token.is_empty() {
            break;
        }
    }
    assert_eq!(names, ["a", "b", "c"]);
}

#[tokio::test]
async fn every_other_mutation_has_its_effect() {
    let folder = folder();
    let daemon = Daemon::start(folder.path());
    let client = daemon.client().await;
    create_bare(&client, "b").await;
    let mut memory = client.memory();
    let brain = || "b".to_owned();
    let options = || None;
    let session = memory
        .open_session(v1::OpenSessionRequest {
            brain: brain(),
            options: options(),
            key: "chat".into(),
        })
        .await
        .unwrap();
    let session_id = session.into_inner().session_id;
    let mut batch = facts("b", &["a cat", "a dog"]);
    batch
        .events
        .iter_mut()
        .for_each(|e| e.session_id = Some(session_id));
    batch.follow = true;
    assert_eq!(memory.ingest(batch).await.unwrap().into_inner().edges, 1);
    let link = v1::LinkRequest {
        brain: brain(),
        source_id: 0,
        target_id: 1,
        r#type: v1::EdgeType::Supports.into(),
        weight: Some(0.5),
        ..Default::default()
    };
    memory.link(link).await.unwrap();
    let why = v1::WhyRequest {
        brain: brain(),
        event_id: 0,
        ..Default::default()
    };
    let why = client.queries().why(why).await.unwrap().into_inner();
    let ids = why.steps.iter().map(|s| s.event.as_ref().unwrap().id);
    assert_eq!(ids.collect::<Vec<_>>(), [0, 1]);
    assert_eq!(why.steps[1].parent, Some(0));
    let unlink = v1::UnlinkRequest {
        brain: brain(),
        source_id: 0,
        target_id: 1,
        r#type: v1::EdgeType::Supports.into(),
        ..Default::default()
    };
    memory.unlink(unlink).await.unwrap();
    let pin = v1::PinRequest {
        brain: brain(),
        event_id: 0,
        ..Default::default()
    };
    memory.pin(pin).await.unwrap();
    let attributes = v1::SetAttributesRequest {
        brain: brain(),
        event_id: 0,
        attributes_json: r#"{"legs":4}"#.into(),
        ..Default::default()
    };
    memory.set_attributes(attributes).await.unwrap();
    let touch = v1::TouchRequest {
        brain: brain(),
        touched: vec![v1::Touched {
            event_id: 0,
            count: 0,
        }],
        ..Default::default()
    };
    memory.touch(touch).await.unwrap();
    let forget = v1::ForgetRequest {
        brain: brain(),
        event_id: 1,
        ..Default::default()
    };
    memory.forget(forget).await.unwrap();
    let events = get(&client, "b", &[0, 1]).await;
    assert!(events[0].pinned && events[1].forgotten);
    assert_eq!(events[0].attributes_json, r#"{"legs":4}"#);
    assert_eq!((events[0].access_count, events[0].edges.len()), (1, 1));
    let restore = v1::RestoreRequest {
        brain: brain(),
        event_id: 1,
        ..Default::default()
    };
    memory.restore(restore).await.unwrap();
    let compress = v1::CompressSessionRequest {
        brain: brain(),
        session_id,
        text: "about animals".into(),
        ..Default::default()
    };
    let episode = memory
        .compress_session(compress)
        .await
        .unwrap()
        .into_inner();
    assert_eq!((episode.event_id, episode.edges), (2, 2));
    let close = v1::CloseSessionRequest {
        brain: brain(),
        session_id,
        outcome: "done".into(),
        ..Default::default()
    };
    memory.close_session(close).await.unwrap();
    let decay = v1::DecayRequest {
        brain: brain(),
        ..Default::default()
    };
    memory.decay(decay).await.unwrap();
    let events = get(&client, "b", &[0, 1, 2]).await;
    assert!(events[1].compressed && !events[1].forgotten);
    assert_eq!(events[2].r#type(), v1::EventType::Episode);
}

#[tokio::test]
async fn erased_bytes_are_in_no_file_once_the_erase_is_answered() {
    let folder = folder();
    let daemon = Daemon::start(folder.path());
    let client = daemon.client().await;
    create_bare(&client, "b").await;
    ingest(&client, "b", &["the password is swordfish", "keep this"]).await;
    let has = || files_with(folder.path(), b"swordfish");
    assert_eq!(has(), [folder.path().join("b.amem")]);
    let erase = v1::EraseRequest {
        brain: "b".into(),
        event_ids: vec![0],
        ..Default::default()
    };
    let erased = client.memory().erase(erase).await.unwrap().into_inner();
    assert_eq!(erased.generation, 2);
    assert_eq!(has(), [] as [std::path::PathBuf; 0]);
    let events = get(&client, "b", &[0, 1]).await;
    assert!(events[0].erased && events[0].text.is_empty());
    assert_eq!(events[1].text, "keep this");
}
