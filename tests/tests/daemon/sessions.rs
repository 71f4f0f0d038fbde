//! Sessions of many agents: ten thousand of them listed, one that several write, and those whose agent was killed.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use amem_client::{Client, v1};
use tokio::task::JoinSet;

use crate::process::{Daemon, create_bare, folder};

const MANY: u32 = 10_000;
/// Agents that open sessions at the same time.
const AGENTS: u32 = 16;

/// Sessions are opened by many agents, none of which waits for another.
async fn open(client: &Client, brain: &str, count: u32) {
    let mut agents = JoinSet::new();
    for agent in 0..AGENTS {
        let (client, brain) = (client.clone(), brain.to_owned());
        agents.spawn(async move {
            let mut memory = client.memory();
            for number in (agent..count).step_by(AGENTS as usize) {
                let request = v1::OpenSessionRequest {
                    brain: brain.clone(),
                    key: format!("key {number}"),
                    options: Some(v1::WriteOptions {
                        agent: format!("agent {agent}"),
                        ..Default::default()
                    }),
                };
                memory.open_session(request).await.unwrap();
            }
        });
    }
    while let Some(agent) = agents.join_next().await {
        agent.unwrap();
    }
}

/// All sessions, page by page, and how long that took.
async fn list(client: &Client, request: &v1::ListSessionsRequest) -> (Vec<v1::Session>, Duration) {
    let (mut request, mut found) = (request.clone(), Vec::new());
    let began = Instant::now();
    loop {
        let page = client.queries().list_sessions(request.clone()).await;
        let page = page.unwrap().into_inner();
        let is_full = page.sessions.len() == request.page_size as usize;
        found.extend(page.sessions);
        request.page_token = page.next_page_token;
        if request.page_token.is_empty() {
            return (found, began.elapsed());
        }
        assert!(is_full, "a page in the midst has room");
    }
}

fn question(brain: &str, page_size: u32, oldest_first: bool) -> v1::ListSessionsRequest {
    v1::ListSessionsRequest {
        brain: brain.into(),
        page_size,
        oldest_first,
        ..Default::default()
    }
}

/// Each of them once and in order, whatever the page; how long it takes, in microseconds a session, in the largest.
async fn check_listed(client: &Client, brain: &str, count: u32) -> f64 {
    let mut told = format!("{count} sessions:");
    let mut largest = f64::MAX;
    for (page_size, oldest_first) in [(97, false), (1000, false), (MANY, true)] {
        let request = question(brain, page_size, oldest_first);
        let mut best = Duration::MAX;
        for _ in 0..5 {
            let (found, took) = list(client, &request).await;
            best = best.min(took);
            let mut ids: Vec<u32> = found.iter().map(|session| session.id).collect();
            if !oldest_first {
                ids.reverse();
            }
            let is_whole = ids.iter().copied().eq(1..=count);
            assert!(is_whole, "{page_size}: {} listed", ids.len());
            let keys: BTreeSet<&String> = found.iter().map(|session| &session.key).collect();
            assert_eq!(keys.len(), count as usize);
        }
        largest = best.as_secs_f64() * 1e6 / f64::from(count);
        let all = best.as_secs_f64() * 1e3;
        told += &format!(" by {page_size} {all:.1} ms, {largest:.2} µs each;");
    }
    println!("{told}");
    largest
}

#[tokio::test(flavor = "multi_thread")]
async fn ten_thousand_sessions_are_listed_in_order_each_once() {
    let folder = folder();
    let daemon = Daemon::start(folder.path());
    let client = daemon.client().await;
    for (brain, count) in [("few", MANY / 10), ("many", MANY)] {
        create_bare(&client, brain).await;
        open(&client, brain, count).await;
    }
    for place in ["the journal", "the base"] {
        println!("in {place}:");
        // Were the cost quadratic, a session of ten times as many would cost ten times as much. Others may be busy.
        let began = Instant::now();
        while check_listed(&client, "many", MANY).await
            > 6.0 * check_listed(&client, "few", MANY / 10).await
        {
            assert!(began.elapsed() < Duration::from_secs(60), "it is quadratic");
        }
        for brain in ["few", "many"] {
            let brain = brain.to_owned();
            let request = v1::CheckpointBrainRequest { brain };
            client.brains().checkpoint_brain(request).await.unwrap();
        }
    }
    // The last page is the last one, full or not; nothing but an empty page would come behind it.
    for page_size in [MANY, MANY / 10, MANY - 1] {
        let mut request = question("many", page_size, true);
        let mut pages = 0;
        loop {
            let page = client.queries().list_sessions(request.clone()).await;
            let page = page.unwrap().into_inner();
            assert!(!page.sessions.is_empty(), "an empty page by {page_size}");
            pages += 1;
            request.page_token = page.next_page_token;
            if request.page_token.is_empty() {
                break;
            }
        }
        assert_eq!(pages, MANY.div_ceil(page_size));
    }
    assert!(daemon.stop().success());
}

#[tokio::test(flavor = "multi_thread")]
async fn events_of_several_agents_in_one_session_are_replayed_in_commit_order() {
    const EACH: usize = 60;
    let folder = folder();
    let daemon = Daemon::start(folder.path());
    let client = daemon.client().await;
    create_bare(&client, "b").await;
    let mut agents = JoinSet::new();
    for agent in 0..8 {
        // A connection of its own, as another process has.
        let client = daemon.client().await;
        agents.spawn(async move {
            let options = Some(v1::WriteOptions {
                agent: format!("agent {agent}"),
                ..Default::default()
            });
            let open = v1::OpenSessionRequest {
                brain: "b".into(),
                key: "together".into(),
                options: options.clone(),
            };
            let opened = client
                .memory()
                .open_session(open)
                .await
                .unwrap()
                .into_inner();
            let mut said = Vec::new();
            for n in 0..EACH {
                // Another session in between is no part of it.
                for session_id in [opened.session_id, 0] {
                    let text = format!("agent {agent} says {n} in {session_id}");
                    let event = v1::NewEvent {
                        text: text.clone(),
                        session_id: Some(session_id),
                        ..Default::default()
                    };
                    let ingest = v1::IngestRequest {
                        brain: "b".into(),
                        events: vec![event],
                        options: options.clone(),
                        ..Default::default()
                    };
                    let done = client.memory().ingest(ingest).await.unwrap().into_inner();
                    if session_id > 0 {
                        said.push((done.commit.unwrap().lsn, text));
                    }
                }
            }
            (opened.session_id, said)
        });
    }
    let (mut said, mut sessions) = (Vec::new(), BTreeSet::new());
    while let Some(agent) = agents.join_next().await {
        let (session, of_agent) = agent.unwrap();
        sessions.insert(session);
        said.extend(of_agent);
    }
    assert_eq!(sessions.len(), 1, "one key is one session");
    said.sort_unstable();
    let turns = said
        .windows(2)
        .filter(|two| two[0].1[..7] != two[1].1[..7])
        .count();
    assert!(turns > 8, "they did not speak in turns: {turns}");
    let session_id = sessions.pop_first().unwrap();
    for is_in_base in [false, true] {
        let mut request = v1::PatternRequest {
            brain: "b".into(),
            selection: Some(v1::Selection {
                session_ids: vec![session_id],
                ..Default::default()
            }),
            order: v1::Order::Oldest.into(),
            page_size: 33,
            ..Default::default()
        };
        let mut replayed = Vec::new();
        loop {
            let page = client
                .queries()
                .pattern(request.clone())
                .await
                .unwrap()
                .into_inner();
            replayed.extend(page.events.into_iter().map(|event| event.text));
            request.page_token = page.next_page_token;
            if request.page_token.is_empty() {
                break;
            }
        }
        let expected: Vec<&String> = said.iter().map(|(_, text)| text).collect();
        assert!(replayed.iter().eq(expected), "{is_in_base}: {replayed:?}");
        let question = v1::GetSessionRequest {
            brain: "b".into(),
            session: Some(v1::get_session_request::Session::SessionId(session_id)),
            ..Default::default()
        };
        let shown = client
            .queries()
            .get_session(question)
            .await
            .unwrap()
            .into_inner();
        assert_eq!(shown.event_count, 8 * EACH as u64);
        let checkpoint = v1::CheckpointBrainRequest { brain: "b".into() };
        client.brains().checkpoint_brain(checkpoint).await.unwrap();
    }
    assert!(daemon.stop().success());
}
