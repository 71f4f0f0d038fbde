//! Summaries of sessions by a model: what the session says of them is kept.

use amem_client::v1;
use amem_scripted::{Script, Step};

use crate::scripted::INVENTED;
use crate::world::{LARGE, SMALL, World};

/// Says things in a session, and compresses it: the episode's text.
async fn episode(world: &World, key: &str) -> String {
    for said in [
        "I live in Porto.",
        "We chose SQLite because it is one file.",
    ] {
        world.say(key, said).await;
    }
    let client = world.daemon().client().await;
    let open = v1::OpenSessionRequest {
        brain: "memories".into(),
        key: key.into(),
        ..v1::OpenSessionRequest::default()
    };
    let session = client.memory().open_session(open).await.unwrap();
    let compress = v1::CompressSessionRequest {
        brain: "memories".into(),
        session_id: session.into_inner().session_id,
        ..v1::CompressSessionRequest::default()
    };
    let made = client.memory().compress_session(compress).await.unwrap();
    let get = v1::GetEventsRequest {
        brain: "memories".into(),
        event_ids: vec![made.into_inner().event_id],
        ..v1::GetEventsRequest::default()
    };
    let found = client.queries().get_events(get).await.unwrap();
    found.into_inner().events.remove(0).text
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_model_summarises_a_session_and_what_it_invents_is_left_out() {
    for model in [LARGE, SMALL] {
        let world = World::with(model);
        let text = episode(&world, "1").await;
        for part in ["lives in Porto.", "SQLite is one file."] {
            assert!(text.contains(part), "{model:?}: {text}");
        }
        assert!(!INVENTED.iter().any(|one| text.contains(one)), "{text}");
        world.check_no_traces();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_is_summarised_without_the_model_while_it_is_away() {
    let world = World::with(LARGE);
    let server = world.server.as_ref().unwrap();
    let away = Step::Refuse {
        status: 401,
        message: "wrong key".into(),
        retry_after: None,
    };
    server.set_script(Script::steps(std::iter::repeat_n(away, 50)));
    let text = episode(&world, "1").await;
    assert!(
        text.contains("We chose SQLite because it is one file"),
        "{text}"
    );
}
