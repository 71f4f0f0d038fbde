//! Adds, probes and checks with a provider behind the port.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use amem_memory::model::ReplyForm;
use amem_models::probe;
use amem_scripted::{Protocol, Script, ServerRule, Step};

use crate::support::{embedder, model, server, settings};

/// A model that repeats the newest turn as a fact, in the form that is asked for.
fn repeating(is_schema: bool) -> Script {
    let answer = move |body: &Value| {
        let messages = body["messages"].as_array().cloned().unwrap_or_default();
        let last = messages.last().map(|message| message["content"].clone());
        let text = last
            .and_then(|text| text.as_str().map(str::to_owned))
            .unwrap_or_default();
        let said = text.rsplit("User: ").next().unwrap_or_default().to_owned();
        let fact = said.replace("I'm", "User is").replace("My", "User's");
        match (is_schema, body["response_format"].is_null()) {
            (true, false) => serde_json::json!({"facts": [{
                "text": fact, "turns": [0], "kind": "fact", "because": [], "about": "User",
            }]})
            .to_string(),
            (false, false) => "I can't do that.".into(),
            _ => serde_json::json!([fact]).to_string(),
        }
    };
    Script {
        answer: Arc::new(answer),
        ..Script::default()
    }
}

#[test]
fn a_probe_finds_the_strictest_form_that_works() {
    for (is_schema, rules, expected, tried, calls) in [
        (true, vec![], ReplyForm::Schema, 1, 8),
        (
            true,
            vec![ServerRule::NoSchema(400)],
            ReplyForm::JsonObject,
            2,
            9,
        ),
        (false, vec![], ReplyForm::Demonstration, 3, 24),
        (
            false,
            vec![ServerRule::NoJson(500)],
            ReplyForm::Demonstration,
            3,
            10,
        ),
    ] {
        let script = Script {
            rules,
            ..repeating(is_schema)
        };
        let server = server(Protocol::Openai, script);
        let session = model(Protocol::Openai, &server).begin_within(Duration::from_secs(600));
        let report = probe(&session).unwrap();
        assert_eq!(report.form, Some(expected), "{report:?}");
        assert_eq!(report.tried.len(), tried, "{report:?}");
        let sum: usize = report.tried.iter().map(|form| form.calls).sum();
        assert_eq!((sum, server.requests().len()), (calls, calls), "{report:?}");
        let last = report.tried.last().unwrap();
        assert_eq!((last.readable, last.facts), (8, 8), "{last:?}");
        assert!(last.found >= 5, "{last:?}");
    }
}

#[test]
fn a_probe_of_a_model_that_makes_things_up_finds_no_form() {
    let mut script = repeating(true);
    script.answer = Arc::new(|_: &Value| "[\"User owns a castle in Bohemia\"]".into());
    let server = server(Protocol::Openai, script);
    let report = probe(&model(Protocol::Openai, &server).begin()).unwrap();
    assert_eq!(report.form, None);
    assert!(
        report
            .tried
            .iter()
            .all(|form| form.grounded == 0 && form.readable == 8)
    );
}

#[test]
fn a_probe_waits_for_a_rate_and_ends_with_a_refused_key() {
    let refuse = |status, retry_after: Option<&str>| Step::Refuse {
        status,
        message: "no".into(),
        retry_after: retry_after.map(str::to_owned),
    };
    let script = Script {
        steps: vec![refuse(429, Some("0"))],
        ..repeating(true)
    };
    let server = server(Protocol::Openai, script);
    let model = model(Protocol::Openai, &server);
    assert_eq!(probe(&model.begin()).unwrap().tried[0].calls, 9);
    server.set_script(Script::steps([refuse(401, None)]));
    let why = probe(&model.begin()).unwrap_err();
    assert_eq!(why, "refused: the server answered 401: no");
}

#[test]
fn a_check_says_whether_models_and_embedders_answer() {
    for protocol in Protocol::ALL {
        let server = server(protocol, Script::default());
        let of_model = model(protocol, &server).check();
        assert!(
            of_model.verdict.unwrap().starts_with("it answers"),
            "{protocol:?}"
        );
        assert!(
            of_model.name.starts_with(protocol.name()),
            "{}",
            of_model.name
        );
        if protocol != Protocol::Anthropic {
            let of_embedder = embedder(settings(protocol, &server.url())).check();
            let verdict = of_embedder.verdict.unwrap();
            assert_eq!(verdict, "it answers (vectors of 8 values)", "{protocol:?}");
        }
        server.set_script(Script::steps([Step::Page, Step::Page]));
        let why = model(protocol, &server).check().verdict.unwrap_err();
        assert!(why.contains("text/html"), "{protocol:?}: {why}");
    }
    let gone = server(Protocol::Openai, Script::default()).url();
    let model = amem_models::LanguageModel::new(
        settings(Protocol::Openai, &gone),
        crate::support::runtime(),
    );
    let why = model.unwrap().check().verdict.unwrap_err();
    assert!(why.starts_with("unreachable: "), "{why}");
}
