//! Embedders of providers: new brains are of their space, questions and events get their vectors.

use amem_client::v1;
use amem_scripted::{Protocol, Script, ScriptedServer, Step};

use crate::world::{MODEL, World};

fn with_embedder(world: &mut World) -> ScriptedServer {
    let server = ScriptedServer::start(Protocol::Openai, Script::default()).unwrap();
    let text = format!(
        "[embedder]\nprovider = \"openai\"\nmodel = \"{MODEL}\"\nbase_url = \"{}\"\n{}proxy = \"none\"\n",
        server.url(),
        world.key_line(Protocol::Openai),
    );
    world.start(&text);
    server
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn new_brains_are_of_the_embedder_and_their_events_and_questions_have_vectors() {
    let mut world = World::new();
    let server = with_embedder(&mut world);
    world.say("1", "I live in Porto.").await;
    let client = world.daemon().client().await;
    let get = v1::GetBrainRequest {
        brain: "memories".into(),
    };
    let info = client
        .brains()
        .get_brain(get)
        .await
        .unwrap()
        .into_inner()
        .info
        .unwrap();
    assert_eq!(info.dimension, 8, "{info:?}");
    let search = v1::SearchFactsRequest {
        query: "where does she live".into(),
        scope: Some(v1::Scope {
            user: Some("ada".into()),
            ..v1::Scope::default()
        }),
        explain: true,
        ..v1::SearchFactsRequest::default()
    };
    let found = client
        .facts()
        .search_facts(search.clone())
        .await
        .unwrap()
        .into_inner();
    assert!(
        found.words_only.is_empty() && found.hits[0].parts.unwrap().meaning.is_some(),
        "{found:?}"
    );
    // Events that other calls bring have vectors too, and their questions.
    let ingest = v1::IngestRequest {
        brain: "memories".into(),
        events: vec![v1::NewEvent {
            r#type: v1::EventType::Fact.into(),
            text: "the deploy failed".into(),
            ..v1::NewEvent::default()
        }],
        ..v1::IngestRequest::default()
    };
    let id = client
        .memory()
        .ingest(ingest)
        .await
        .unwrap()
        .into_inner()
        .event_ids[0];
    let get = v1::GetEventsRequest {
        brain: "memories".into(),
        event_ids: vec![id],
        include_vectors: true,
        ..v1::GetEventsRequest::default()
    };
    let event = client
        .queries()
        .get_events(get)
        .await
        .unwrap()
        .into_inner()
        .events
        .remove(0);
    assert!(event.vector.is_some(), "{event:?}");
    let before = server.requests().len();
    let question = v1::SearchRequest {
        brain: "memories".into(),
        text: "what failed".into(),
        ..v1::SearchRequest::default()
    };
    let hits = client
        .queries()
        .search(question.clone())
        .await
        .unwrap()
        .into_inner()
        .hits;
    assert!(hits.iter().any(|hit| hit.vector_score > 0.0), "{hits:?}");
    assert_eq!(server.requests().len(), before + 1);
    // An embedder that is away leaves words, and that is said.
    let away = Step::Refuse {
        status: 503,
        message: "busy".into(),
        retry_after: None,
    };
    server.set_script(Script::steps(std::iter::repeat_n(away, 20)));
    let found = client
        .facts()
        .search_facts(search)
        .await
        .unwrap()
        .into_inner();
    assert!(
        !found.words_only.is_empty() && !found.hits.is_empty(),
        "{found:?}"
    );
    assert!(
        !client
            .queries()
            .search(question)
            .await
            .unwrap()
            .into_inner()
            .hits
            .is_empty()
    );
    world.check_no_traces();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_of_models_that_cannot_be_used_stops_the_start() {
    for (text, part) in [
        ("[language]\nprovider = \"openai\"\n", "model"),
        (
            "[embedder]\nprovider = \"local\"\nfolder = \"/nowhere\"\n",
            "/nowhere",
        ),
        ("[lang]\n", "lang"),
    ] {
        let world = World::new();
        let file = world.brains().join("../models.toml");
        std::fs::write(&file, text).unwrap();
        let mut command = crate::process::command(&world.brains(), &crate::process::new_socket());
        command
            .arg("--set")
            .arg(format!("models.file={}", file.display()))
            .arg("--check-config");
        let ran = command.output().unwrap();
        let said = String::from_utf8(ran.stderr).unwrap();
        assert!(
            !ran.status.success() && said.contains("models.file") && said.contains(part),
            "{text}: {said}"
        );
    }
}
