//! Models that fail, and the table of providers by cases.

use std::time::Duration;

use amem_scripted::{Protocol, Script, ScriptedServer, Step};

use crate::scripted::Behaviour;
use crate::world::{LARGE, MODEL, ScriptedModel, World};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_provider_forms_facts_with_reasons_entities_and_its_count_of_calls() {
    for protocol in Protocol::ALL {
        let world = World::with(ScriptedModel(protocol, Behaviour::Exact));
        let added = world.say("1", "My sister Anna works at Equinor.").await;
        let texts = world.texts().await;
        assert_eq!(
            texts,
            ["User's sister Anna works at Equinor"],
            "{protocol:?}"
        );
        let result = &added.results[0];
        let relations: Vec<_> = result
            .relations
            .iter()
            .map(|one| one.relation.as_str())
            .collect();
        assert!(relations.contains(&"works_at"), "{protocol:?}: {result:?}");
        let usage = added.usage.unwrap();
        assert!(
            usage.calls >= 1 && usage.tokens_in > 0 && usage.tokens_out > 0,
            "{protocol:?}: {usage:?}"
        );
        assert!(added.pending.is_empty(), "{protocol:?}: {added:?}");
        world.check_no_traces();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_model_that_fails_loses_nothing() {
    let refuse = |status: u16, message: &str| Step::Refuse {
        status,
        message: message.into(),
        retry_after: None,
    };
    for (what, step, reason) in [
        (
            "a fault of the server",
            refuse(500, "out of memory"),
            "unreachable",
        ),
        ("a wrong key", refuse(401, "wrong key"), "refused"),
        ("no body", Step::EmptyBody, "unreachable"),
        ("a cut body", Step::CutBody, "unreachable"),
        ("a page", Step::Page, "unreachable"),
        ("five megabytes", Step::Huge(5 << 20), "unreachable"),
    ] {
        let world = World::with(LARGE);
        let server = world.server.as_ref().unwrap();
        server.set_script(Script::steps(std::iter::repeat_n(step, 8)));
        let added = world.say("1", "I live in Porto.").await;
        // The turn is stored, and its facts are formed later.
        assert_eq!(added.turn_ids.len(), 1, "{what}");
        let pending = added
            .pending
            .first()
            .unwrap_or_else(|| panic!("{what}: {added:?}"));
        assert_eq!(pending.reason, reason, "{what}: {pending:?}");
        assert!(!pending.detail.contains("sk-"), "{pending:?}");
        // Tried again once the model is back.
        server.set_script(Script {
            answer: crate::scripted::exact_answer(),
            ..Script::default()
        });
        let client = world.daemon().client().await;
        let retry = amem_client::v1::RetryPendingFactsRequest::default();
        let done = client
            .facts()
            .retry_pending_facts(retry)
            .await
            .unwrap()
            .into_inner();
        assert_eq!((done.done, done.pending.len()), (1, 0), "{what}: {done:?}");
        assert_eq!(world.texts().await, ["User lives in Porto"], "{what}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_cannot_be_read_leaves_the_patterns() {
    for step in [
        Step::EmptyText,
        Step::Text("I cannot do that.".into()),
        Step::Cut("[\"User li".into()),
    ] {
        let world = World::with(LARGE);
        let server = world.server.as_ref().unwrap();
        server.set_script(Script::steps(std::iter::repeat_n(step.clone(), 12)));
        world.say("1", "I live in Porto.").await;
        assert_eq!(world.texts().await, ["User lives in Porto"], "{step:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_slow_model_holds_up_nobody_else() {
    let world = World::with(LARGE);
    let server = world.server.as_ref().unwrap();
    server.set_script(Script::steps([Step::Slow(Duration::from_secs(3))]));
    let slow = world.say("1", "I live in Porto.");
    let asked = async {
        tokio::time::sleep(Duration::from_millis(300)).await;
        let began = std::time::Instant::now();
        world.texts().await;
        began.elapsed()
    };
    let (_, took) = tokio::join!(slow, asked);
    assert!(took < Duration::from_secs(2), "{took:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_budget_of_the_day_outlives_a_restart() {
    let mut world = World::new();
    let server = ScriptedServer::start(Protocol::Ollama, Script::default()).unwrap();
    let models = format!(
        "[language]\nprovider = \"ollama\"\nmodel = \"{MODEL}\"\nbase_url = \"{}\"\nproxy = \"none\"\ncalls_per_day = 2\n",
        server.url()
    );
    world.start(&models);
    world.say("1", "I live in Porto.").await;
    world.say("2", "I play the cello.").await;
    let before = server.requests().len();
    world.start(&models);
    let added = world.say("3", "I drink green tea.").await;
    assert_eq!(server.requests().len(), before, "the budget was spent");
    assert_eq!(added.pending[0].reason, "budget", "{added:?}");
    world.check_no_traces();
}
