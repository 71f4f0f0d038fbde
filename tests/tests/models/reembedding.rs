//! A brain gets the vectors of another embedder: beside its writer, over failures and restarts, and back.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use amem_client::{Client, v1};
use amem_doctor::verify;
use amem_scripted::{Protocol, Script, ScriptedServer, ServerRule, Step};
use tonic::Code;

use crate::process::files_with;
use crate::world::{MODEL, World};

const EVENTS: u64 = 1_500;
const BUILTIN: u32 = 128;
const SCRIPTED: u32 = 8;

fn text(n: u64) -> String {
    format!("the {n}th pump was looked after on Monday")
}

/// Adds events; returns their ids.
async fn ingest(client: &Client, texts: impl IntoIterator<Item = String>) -> Vec<u64> {
    let events = texts.into_iter().map(|text| v1::NewEvent {
        r#type: v1::EventType::Fact.into(),
        text,
        ..v1::NewEvent::default()
    });
    let request = v1::IngestRequest {
        brain: "b".into(),
        events: events.collect(),
        ..v1::IngestRequest::default()
    };
    let answer = client.memory().ingest(request).await.unwrap();
    answer.into_inner().event_ids
}

/// Texts and vectors of all events.
async fn vectors(client: &Client, count: u64) -> BTreeMap<u64, (String, Vec<f32>)> {
    let mut out = BTreeMap::new();
    for first in (0..count).step_by(500) {
        let request = v1::GetEventsRequest {
            brain: "b".into(),
            event_ids: (first..count.min(first + 500)).collect(),
            include_vectors: true,
            ..v1::GetEventsRequest::default()
        };
        let found = client.queries().get_events(request).await.unwrap();
        for event in found.into_inner().events {
            let values = event.vector.map(|vector| vector.values);
            out.insert(event.id, (event.text, values.unwrap_or_default()));
        }
    }
    out
}

async fn step(
    client: &Client,
    embedder: v1::Embedder,
) -> Result<v1::ReembedBrainResponse, tonic::Status> {
    let request = v1::ReembedBrainRequest {
        brain: "b".into(),
        embedder: embedder.into(),
    };
    let answer = client.brains().reembed_brain(request).await?;
    Ok(answer.into_inner())
}

async fn reembed(client: &Client, embedder: v1::Embedder) -> v1::ReembedBrainResponse {
    loop {
        let answer = step(client, embedder).await.unwrap();
        if answer.done {
            return answer;
        }
        assert!(answer.embedded < answer.events, "{answer:?}");
    }
}

/// How many texts a server was asked for.
fn asked(server: &ScriptedServer) -> usize {
    let inputs = server.requests().into_iter().map(|request| {
        let input = &request.body["input"];
        input.as_array().map_or(1, Vec::len)
    });
    inputs.sum()
}

fn away() -> Step {
    Step::Refuse {
        status: 400,
        message: "this text cannot be embedded".into(),
        retry_after: None,
    }
}

/// A brain of the built-in embedder, and then a daemon whose file of models has another.
async fn world() -> (World, ScriptedServer, Client) {
    let mut world = World::new();
    world.start("");
    let client = world.daemon().client().await;
    let create = v1::CreateBrainRequest {
        brain: "b".into(),
        ..v1::CreateBrainRequest::default()
    };
    client.brains().create_brain(create).await.unwrap();
    ingest(&client, (0..EVENTS).map(text)).await;
    drop(client);
    let server = ScriptedServer::start(Protocol::Openai, Script::default()).unwrap();
    world.start(&models(&world, &server));
    let client = world.daemon().client().await;
    (world, server, client)
}

fn models(world: &World, server: &ScriptedServer) -> String {
    format!(
        "[embedder]\nprovider = \"openai\"\nmodel = \"{MODEL}\"\nbase_url = \"{}\"\n{}proxy = \"none\"\n",
        server.url(),
        world.key_line(Protocol::Openai),
    )
}

/// Every event has the vector of its text, and the file is whole.
async fn check(world: &World, client: &Client, dimension: u32) {
    let get = v1::GetBrainRequest { brain: "b".into() };
    let info = client.brains().get_brain(get).await.unwrap().into_inner();
    assert_eq!(info.info.unwrap().dimension, dimension);
    let fold = v1::CheckpointBrainRequest { brain: "b".into() };
    client.brains().checkpoint_brain(fold).await.unwrap();
    let report = verify::file(world.brains().join("b.amem")).unwrap();
    assert!(report.is_whole(), "{report:?}");
    // Events that are added now have the same vectors as those of the same texts that were there.
    let again = ingest(client, (0..EVENTS).step_by(100).map(text)).await;
    // Those that were on their way while the generation was put in place get theirs a moment later.
    let until = Instant::now() + Duration::from_secs(20);
    let all = loop {
        let all = vectors(client, again.last().unwrap() + 1).await;
        let mut without = all.iter().filter(|(_, (_, values))| values.is_empty());
        let first = without.next();
        if first.is_none() {
            break all;
        }
        assert!(Instant::now() < until, "{first:?}");
        tokio::time::sleep(Duration::from_millis(100)).await;
    };
    for (id, (text, values)) in &all {
        assert_eq!(values.len(), dimension as usize, "event {id}: {text}");
    }
    for (n, id) in (0..EVENTS).step_by(100).zip(&again) {
        assert_eq!(all[&n], all[id]);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_brain_is_embedded_again_beside_its_writer_and_searched_all_the_time() {
    let (world, server, client) = world().await;
    let is_done = Arc::new(AtomicBool::new(false));
    let writing = tokio::spawn({
        let (client, is_done) = (client.clone(), is_done.clone());
        async move {
            let mut written = 0;
            while !is_done.load(Ordering::Relaxed) {
                written += ingest(&client, [text(written % EVENTS)]).await.len() as u64;
            }
            written
        }
    });
    let searching = tokio::spawn({
        let (client, is_done) = (client.clone(), is_done.clone());
        async move {
            let mut looks = 0;
            while !is_done.load(Ordering::Relaxed) {
                // A question in words meets either generation, and the brain between them.
                let question = v1::SearchRequest {
                    brain: "b".into(),
                    text: format!("the {}th pump", looks % EVENTS),
                    ..v1::SearchRequest::default()
                };
                let found = client.queries().search(question).await.unwrap();
                assert_eq!(found.into_inner().hits.len(), 10, "look {looks}");
                let request = v1::SimilarRequest {
                    brain: "b".into(),
                    like: Some(v1::similar_request::Like::EventId(looks % EVENTS)),
                    ..v1::SimilarRequest::default()
                };
                let found = client.queries().similar(request).await.unwrap();
                assert_eq!(found.into_inner().hits.len(), 10, "look {looks}");
                looks += 1;
            }
            looks
        }
    });
    let answer = reembed(&client, v1::Embedder::Unspecified).await;
    assert_eq!(answer.dimension, SCRIPTED, "{answer:?}");
    is_done.store(true, Ordering::Relaxed);
    let (written, looks) = (writing.await.unwrap(), searching.await.unwrap());
    assert!(written > 0 && looks > 0, "{written} {looks}");
    check(&world, &client, SCRIPTED).await;
    assert!(!world.brains().join(".amemd/b.vectors").exists());
    world.check_no_traces();
    // And back, without a call.
    let before = server.requests().len();
    let answer = reembed(&client, v1::Embedder::Builtin).await;
    assert_eq!(answer.dimension, BUILTIN);
    check(&world, &client, BUILTIN).await;
    assert_eq!(server.requests().len(), before);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_embedded_is_kept_over_failures_and_restarts() {
    let (mut world, server, client) = world().await;
    // The length, and four portions; then the embedder refuses.
    let steps = std::iter::repeat_n(Step::Usual, 5).chain(std::iter::repeat_n(away(), 100));
    server.set_script(Script::steps(steps));
    let refused = step(&client, v1::Embedder::Model).await.unwrap_err();
    assert_eq!(refused.code(), Code::Unavailable, "{refused:?}");
    assert!(refused.message().contains("goes on where it stopped"));
    let kept = std::fs::metadata(world.brains().join(".amemd/b.vectors")).unwrap();
    assert!(kept.len() > 64 * 4 * u64::from(SCRIPTED), "{kept:?}");
    // The brain has the vectors that it had.
    assert!(
        vectors(&client, EVENTS)
            .await
            .values()
            .all(|(_, values)| values.len() == BUILTIN as usize)
    );
    drop(client);
    let before = asked(&server);
    world.start(&models(&world, &server));
    server.set_script(Script::default());
    let client = world.daemon().client().await;
    reembed(&client, v1::Embedder::Model).await;
    let more = asked(&server) - before;
    assert!(
        more <= EVENTS as usize - 256 + 10,
        "{more} texts were embedded after the restart"
    );
    check(&world, &client, SCRIPTED).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_text_that_is_refused_for_good_holds_up_no_other() {
    let (world, server, client) = world().await;
    let bad = ingest(&client, ["this one is refused".to_owned()]).await[0];
    ingest(&client, ["this one is not".to_owned()]).await;
    let refusal = ServerRule::BadText("this one is refused".into());
    server.set_script(Script::rules([refusal]));
    reembed(&client, v1::Embedder::Model).await;
    let all = vectors(&client, bad + 2).await;
    let without = all.iter().filter(|(_, (_, values))| values.is_empty());
    assert_eq!(without.map(|(id, _)| *id).collect::<Vec<_>>(), [bad]);
    let report = verify::file(world.brains().join("b.amem")).unwrap();
    assert!(report.is_whole(), "{report:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn vectors_of_the_brains_own_space_stay() {
    let (_world, server, client) = world().await;
    reembed(&client, v1::Embedder::Model).await;
    let bare = {
        server.set_script(Script::steps(std::iter::repeat_n(away(), 3)));
        ingest(&client, ["the embedder was away".to_owned()]).await[0]
    };
    // It stops while it embeds that event: the others have rows.
    step(&client, v1::Embedder::Model).await.unwrap_err();
    let values = vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0];
    let set = v1::SetVectorRequest {
        brain: "b".into(),
        event_id: 3,
        vector: Some(v1::Vector {
            values: values.clone(),
            ..v1::Vector::default()
        }),
        ..v1::SetVectorRequest::default()
    };
    client.memory().set_vector(set).await.unwrap();
    server.set_script(Script::default());
    reembed(&client, v1::Embedder::Model).await;
    let all = vectors(&client, bare + 1).await;
    assert_eq!(all[&3].1, values);
    assert_eq!(all[&bare].1.len(), SCRIPTED as usize);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_erase_removes_the_vectors_that_were_being_made() {
    let (world, server, client) = world().await;
    let steps = std::iter::repeat_n(Step::Usual, 5).chain(std::iter::repeat_n(away(), 100));
    server.set_script(Script::steps(steps));
    step(&client, v1::Embedder::Model).await.unwrap_err();
    let rows = world.brains().join(".amemd/b.vectors");
    let held = std::fs::read(&rows).unwrap();
    let length = 4 * SCRIPTED as usize;
    let row = held[64 + 7 * (length + 12)..][..length].to_vec();
    assert_eq!(
        files_with(&world.brains(), &row),
        std::slice::from_ref(&rows)
    );
    let erase = v1::EraseRequest {
        brain: "b".into(),
        event_ids: vec![7],
        ..v1::EraseRequest::default()
    };
    client.memory().erase(erase).await.unwrap();
    assert!(!rows.exists());
    // Neither the text nor the row that it had is in any file.
    for content in [text(7).into_bytes(), row] {
        let files = files_with(&world.brains(), &content);
        assert!(files.is_empty(), "{files:?}");
    }
    server.set_script(Script::default());
    reembed(&client, v1::Embedder::Model).await;
    let all = vectors(&client, EVENTS).await;
    let without: Vec<u64> = all
        .iter()
        .filter(|(_, (_, values))| values.len() != SCRIPTED as usize)
        .map(|(id, _)| *id)
        .collect();
    assert_eq!(without, [7]);
    let report = verify::file(world.brains().join("b.amem")).unwrap();
    assert!(report.is_whole(), "{report:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn events_that_were_stored_before_a_restart_without_vectors_get_theirs() {
    let (mut world, server, client) = world().await;
    reembed(&client, v1::Embedder::Model).await;
    server.set_script(Script::steps(std::iter::repeat_n(away(), 20)));
    let bare = ingest(&client, ["the embedder was away".to_owned()]).await[0];
    let of = |all: &BTreeMap<u64, (String, Vec<f32>)>| all[&bare].1.len();
    assert_eq!(of(&vectors(&client, bare + 1).await), 0);
    drop(client);
    world.start(&models(&world, &server));
    let client = world.daemon().client().await;
    server.set_script(Script::default());
    let before = asked(&server);
    reembed(&client, v1::Embedder::Model).await;
    assert_eq!(of(&vectors(&client, bare + 1).await), SCRIPTED as usize);
    // The others keep what they have: one text for the length, and that of the event.
    assert_eq!(asked(&server) - before, 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn events_get_their_vectors_once_the_embedder_is_back() {
    let (_world, server, client) = world().await;
    reembed(&client, v1::Embedder::Model).await;
    server.set_script(Script::steps([away()]));
    let bare = ingest(&client, ["the embedder was away".to_owned()]).await[0];
    let until = Instant::now() + Duration::from_secs(20);
    while vectors(&client, bare + 1).await[&bare].1.is_empty() {
        assert!(Instant::now() < until);
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_model_only_the_built_in_embedder_is_there() {
    let mut world = World::new();
    world.start("");
    let client = world.daemon().client().await;
    let create = v1::CreateBrainRequest {
        brain: "b".into(),
        ..v1::CreateBrainRequest::default()
    };
    client.brains().create_brain(create).await.unwrap();
    ingest(&client, (0..3).map(text)).await;
    let refused = step(&client, v1::Embedder::Model).await.unwrap_err();
    assert_eq!(refused.code(), Code::FailedPrecondition);
    assert!(refused.message().contains("models.file"), "{refused:?}");
    let answer = reembed(&client, v1::Embedder::Unspecified).await;
    assert_eq!((answer.dimension, answer.events), (BUILTIN, 3));
}
