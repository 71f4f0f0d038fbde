//! Chat: every provider, every form, every accident.

use std::time::Duration;

use amem_memory::model::{Model, ModelRequest, ReplyForm};
use amem_scripted::{KEY, Protocol, Script, ServerRule, Step};

use crate::support::{call, line, model, request, runtime, server, settings};

const FACTS: &str = "{\"facts\":[\"User works at Acme Corp\"]}";

fn refuse(status: u16, message: &str, retry_after: Option<&str>) -> Step {
    Step::Refuse {
        status,
        message: message.into(),
        retry_after: retry_after.map(str::to_owned),
    }
}

/// What follows one step, for every provider: the line of the outcome has these words.
fn check(name: &str, step: &Step, expected: &str) {
    for protocol in Protocol::ALL {
        let server = server(protocol, Script::steps([step.clone()]));
        let mut own = settings(protocol, &server.url());
        own.call_secs = 2;
        own.answer_bytes_max = 1 << 20;
        let model = amem_models::LanguageModel::new(own, runtime()).unwrap();
        let found = line(&call(&model, ReplyForm::Schema));
        let provider = protocol.name();
        assert!(found.contains(expected), "{name}, {provider}: {found}");
        assert!(!found.contains(KEY), "{name}, {provider}: {found}");
        let again = line(&call(&model, ReplyForm::Schema));
        assert_eq!(
            again,
            format!("text {FACTS}"),
            "{name}, {provider}: after it"
        );
    }
}

#[test]
fn every_provider_answers_every_form_with_its_tokens() {
    for protocol in Protocol::ALL {
        let server = server(protocol, Script::default());
        let model = model(protocol, &server);
        for (form, expected) in [
            (ReplyForm::Schema, FACTS),
            (ReplyForm::JsonObject, FACTS),
            (ReplyForm::Demonstration, "Hello from the script."),
        ] {
            let reply = call(&model, form).unwrap();
            assert_eq!(reply.text, expected, "{protocol:?} {form:?}");
            assert_eq!(reply.tokens_in, 11, "{protocol:?} {form:?}");
            assert!((1..20).contains(&reply.tokens_out), "{protocol:?} {form:?}");
        }
        let usage = model.usage();
        assert_eq!(usage.calls, 3);
        assert!(usage.tokens > 33, "{usage:?}");
    }
}

#[test]
fn requests_have_the_shape_of_the_official_sdks() {
    for (protocol, path, pointer) in [
        (
            Protocol::Openai,
            "/v1/chat/completions",
            "/response_format/json_schema/strict",
        ),
        (
            Protocol::Azure,
            "/openai/deployments/scripted-1/chat/completions?api-version=2024-10-21",
            "/response_format/json_schema/schema/required/0",
        ),
        (
            Protocol::Anthropic,
            "/v1/messages",
            "/output_config/format/schema/required/0",
        ),
        (
            Protocol::Google,
            "/v1/models/scripted-1:generateContent",
            "/generationConfig/responseJsonSchema/required/0",
        ),
        (Protocol::Ollama, "/api/chat", "/format/required/0"),
    ] {
        let server = server(protocol, Script::default());
        call(&model(protocol, &server), ReplyForm::Schema).unwrap();
        let sent = server.requests().remove(0);
        assert_eq!(sent.target, path);
        assert!(sent.body.pointer(pointer).is_some(), "{}", sent.body);
        assert_eq!(sent.header("content-type"), Some("application/json"));
    }
    let server = server(Protocol::Anthropic, Script::default());
    call(&model(Protocol::Anthropic, &server), ReplyForm::JsonObject).unwrap();
    let body = server.requests().remove(0).body;
    assert_eq!(body["tool_choice"]["name"], body["tools"][0]["name"]);
    assert_eq!(body.get("temperature"), None, "its version has none");
}

#[test]
fn answers_in_other_shapes_are_read() {
    let parts = ["{\"facts\":", "[]}"].map(str::to_owned).to_vec();
    for (name, step, expected) in [
        ("parts", Step::Parts(parts), "text {\"facts\":[]}"),
        ("cut", Step::Cut("{\"fac".into()), "cut {\"fac"),
        (
            "stream",
            Step::Stream("{\"facts\":[\"ü\"]}".into()),
            "text {\"facts\":[\"ü\"]}",
        ),
        (
            "thoughts",
            Step::Text("<think>hm</think>[]".into()),
            "text <think>hm</think>[]",
        ),
        ("no text", Step::EmptyText, "text "),
        // Patterns take over: another time would bring the same.
        (
            "filter",
            refuse(400, "content_filter: the prompt is filtered", None),
            "text ",
        ),
        (
            "long",
            refuse(400, "this model's maximum context length is 8", None),
            "text ",
        ),
    ] {
        check(name, &step, expected);
    }
}

#[test]
fn every_accident_is_a_failure_that_says_what_happened() {
    for (name, step, expected) in [
        ("429", refuse(429, "slow down", None), "RateLimit(None)"),
        (
            "429 with a pause",
            refuse(429, "slow down", Some("7")),
            "RateLimit(Some(7s))",
        ),
        (
            "401",
            refuse(401, "bad key", None),
            "Refused(\"the server answered 401: bad key\")",
        ),
        (
            "403",
            refuse(403, "not you", None),
            "Refused(\"the server answered 403: not you\")",
        ),
        (
            "404",
            refuse(404, "no such model", None),
            "Refused(\"the server answered 404: no such model",
        ),
        (
            "400",
            refuse(400, "no", None),
            "Refused(\"the server answered 400: no\")",
        ),
        (
            "500",
            refuse(500, "oops", None),
            "Unreachable(\"the server answered 500: oops\")",
        ),
        (
            "503",
            refuse(503, "busy", None),
            "Unreachable(\"the server answered 503: busy\")",
        ),
        (
            "529",
            refuse(529, "overloaded", None),
            "Unreachable(\"the server answered 529: overloaded\")",
        ),
        (
            "400 of the form",
            refuse(400, "the schema is too deep", None),
            "FormRefused(",
        ),
        (
            "error with 200",
            Step::ErrorInside("upstream".into()),
            "Unreachable(\"the server answered with an error: upstream\")",
        ),
        (
            "slow",
            Step::Slow(Duration::from_secs(3)),
            "Unreachable(\"no answer within 2 s\")",
        ),
        (
            "cut body",
            Step::CutBody,
            "Unreachable(\"the connection broke",
        ),
        (
            "cut head",
            Step::CutHead,
            "Unreachable(\"the connection broke",
        ),
        (
            "empty body",
            Step::EmptyBody,
            "Unreachable(\"the answer is empty\")",
        ),
        (
            "malformed",
            Step::Malformed,
            "Unreachable(\"the answer is no JSON",
        ),
        (
            "compressed",
            Step::Compressed,
            "Unreachable(\"the answer is compressed (gzip)",
        ),
        (
            "page",
            Step::Page,
            "Unreachable(\"the server answered text/html",
        ),
        (
            "broken stream",
            Step::BrokenStream("{\"facts\":[]}".into()),
            "Unreachable(\"the stream ended before",
        ),
        (
            "huge",
            Step::Huge(5 << 20),
            "Unreachable(\"the answer is longer than 1048576 bytes",
        ),
        (
            "redirect",
            Step::Redirect("http://127.0.0.1:9/".into()),
            "redirects are not followed",
        ),
    ] {
        check(name, &step, expected);
    }
}

#[test]
fn a_form_that_a_server_refuses_is_a_refusal_of_the_form() {
    for protocol in Protocol::ALL {
        for status in [400, 422, 500] {
            let only_schema = server(protocol, Script::rules([ServerRule::NoSchema(status)]));
            let model_of = model(protocol, &only_schema);
            let found = line(&call(&model_of, ReplyForm::Schema));
            assert!(
                found.starts_with("FormRefused"),
                "{protocol:?} {status}: {found}"
            );
            let found = line(&call(&model_of, ReplyForm::JsonObject));
            assert_eq!(found, format!("text {FACTS}"), "{protocol:?} {status}");
            let any = server(protocol, Script::rules([ServerRule::NoJson(status)]));
            let model_of = model(protocol, &any);
            let found = line(&call(&model_of, ReplyForm::JsonObject));
            assert!(
                found.starts_with("FormRefused"),
                "{protocol:?} {status}: {found}"
            );
            let found = line(&call(&model_of, ReplyForm::Demonstration));
            assert_eq!(
                found, "text Hello from the script.",
                "{protocol:?} {status}"
            );
        }
    }
}

#[test]
fn parameters_that_a_server_refuses_are_dropped_once_and_for_all() {
    for protocol in Protocol::ALL {
        let rules = [
            ServerRule::NoTemperature,
            ServerRule::NoMaxTokens,
            ServerRule::NoSystem,
        ];
        // Anthropic wants max_tokens, and takes a system message.
        let refused = if protocol == Protocol::Anthropic {
            1
        } else {
            3
        };
        let server = server(protocol, Script::rules(rules.into_iter().take(refused)));
        let mut own = settings(protocol, &server.url());
        if protocol == Protocol::Anthropic {
            own.api_version = Some("2023-06-01".into());
        }
        let model = amem_models::LanguageModel::new(own, runtime()).unwrap();
        for _ in 0..2 {
            let found = line(&call(&model, ReplyForm::Schema));
            assert_eq!(found, format!("text {FACTS}"), "{protocol:?}");
        }
        let requests = server.requests();
        assert_eq!(requests.len(), refused + 2, "{protocol:?}");
        let last = requests[refused + 1].body.to_string();
        assert!(!last.contains("temperature"), "{last}");
        assert!(last.contains("Answer with one JSON object."), "{last}");
        let has_new_name = last.contains("max_completion_tokens");
        assert_eq!(
            has_new_name,
            matches!(protocol, Protocol::Openai | Protocol::Azure)
        );
    }
}

#[test]
fn a_wrong_key_is_refused_in_the_words_of_each_provider() {
    for protocol in Protocol::ALL {
        let server = server(protocol, Script::default());
        let mut own = settings(protocol, &server.url());
        own.key_file = None;
        own.key_command = Some(vec!["printf".into(), "sk-another-0123456789".into()]);
        let model = amem_models::LanguageModel::new(own, runtime()).unwrap();
        let found = line(&call(&model, ReplyForm::Schema));
        if protocol == Protocol::Ollama {
            assert!(found.starts_with("text"), "{found}");
        } else {
            assert!(
                found.starts_with("Refused(\"the server answered 40"),
                "{protocol:?}: {found}"
            );
            assert!(!found.contains("sk-another"), "{protocol:?}: {found}");
        }
    }
}

#[test]
fn a_model_without_a_key_is_called_without_one_on_this_machine() {
    for protocol in [Protocol::Ollama, Protocol::Openai] {
        let server = server(protocol, Script::default());
        let mut own = settings(protocol, &server.url());
        own.key_file = None;
        let model = amem_models::LanguageModel::new(own, runtime()).unwrap();
        _ = call(&model, ReplyForm::Schema);
        assert_eq!(server.requests()[0].header("authorization"), None);
    }
}

#[test]
fn the_deadline_ends_calls_and_pauses() {
    let steps = [Step::Slow(Duration::from_secs(5)), Step::Usual];
    let server = server(Protocol::Openai, Script::steps(steps));
    let mut own = settings(Protocol::Openai, &server.url());
    own.deadline_secs = 2;
    let model = amem_models::LanguageModel::new(own, runtime()).unwrap();
    let session = model.begin();
    assert!(
        !session.wait(Duration::from_secs(3)),
        "a pause beyond the deadline"
    );
    assert!(session.wait(Duration::from_millis(1)));
    let found = line(&session.call(&request(ReplyForm::Schema)));
    assert_eq!(
        found,
        "Unreachable(\"no answer before the deadline of 2 s\")"
    );
    let found = line(&session.call(&request(ReplyForm::Schema)));
    assert_eq!(found, "Unreachable(\"the deadline of 2 s has passed\")");
    assert_eq!(
        line(&call(&model, ReplyForm::Schema)),
        format!("text {FACTS}"),
        "the next add"
    );
}

#[test]
fn calls_at_once_and_calls_of_a_day_are_limited() {
    let slow = (0..6).map(|_| Step::Slow(Duration::from_millis(100)));
    let server = server(Protocol::Openai, Script::steps(slow));
    let mut own = settings(Protocol::Openai, &server.url());
    own.concurrency = 2;
    own.calls_per_day = 6;
    let model = amem_models::LanguageModel::new(own, runtime()).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| call(&model, ReplyForm::Schema).unwrap());
        }
    });
    assert_eq!(server.load_max(), 2);
    let found = line(&call(&model, ReplyForm::Schema));
    assert_eq!(
        found,
        "Budget(\"the budget of the day is spent: 6 of 6 calls\")"
    );
    assert_eq!(server.requests().len(), 6);
}

#[test]
fn a_repeated_question_is_answered_from_memory_if_the_settings_say_so() {
    for (cache_bytes, temperature, rules, calls) in [
        (0, 0.0, vec![], 2),
        (1 << 20, 0.0, vec![], 1),
        (1 << 20, 0.5, vec![], 2),
        // The answers of a model without a temperature differ: one call more for the refusal.
        (1 << 20, 0.0, vec![ServerRule::NoTemperature], 3),
    ] {
        let server = server(Protocol::Openai, Script::rules(rules));
        let mut own = settings(Protocol::Openai, &server.url());
        own.cache_bytes = cache_bytes;
        own.temperature = temperature;
        let model = amem_models::LanguageModel::new(own, runtime()).unwrap();
        let first = call(&model, ReplyForm::Schema).unwrap();
        let second = call(&model, ReplyForm::Schema).unwrap();
        assert_eq!(first.text, second.text);
        assert_eq!(
            server.requests().len(),
            calls,
            "{cache_bytes} {temperature}"
        );
        let other = ModelRequest {
            system: "Answer with one JSON object, please.".into(),
            ..request(ReplyForm::Schema)
        };
        model.begin().call(&other).unwrap();
        assert_eq!(server.requests().len(), calls + 1, "another question");
    }
}

#[test]
fn a_key_that_was_refused_is_read_again() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("key");
    std::fs::write(&path, "sk-of-yesterday-0123").unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
    for protocol in [Protocol::Openai, Protocol::Anthropic, Protocol::Google] {
        std::fs::write(&path, "sk-of-yesterday-0123").unwrap();
        let server = server(protocol, Script::default());
        let mut own = settings(protocol, &server.url());
        own.key_file = Some(path.clone());
        let model = amem_models::LanguageModel::new(own, runtime()).unwrap();
        let found = line(&call(&model, ReplyForm::Schema));
        assert!(found.starts_with("Refused"), "{protocol:?}: {found}");
        std::fs::write(&path, KEY).unwrap();
        assert_eq!(
            line(&call(&model, ReplyForm::Schema)),
            format!("text {FACTS}")
        );
    }
}

#[test]
fn the_header_of_the_key_and_more_headers_can_be_set() {
    let server = server(Protocol::Anthropic, Script::default());
    let mut own = settings(Protocol::Anthropic, &server.url());
    own.auth = Some(amem_models::AuthHeader::Bearer);
    own.headers.insert("X-Team".into(), "memory".into());
    let model = amem_models::LanguageModel::new(own, runtime()).unwrap();
    assert_eq!(
        line(&call(&model, ReplyForm::Schema)),
        format!("text {FACTS}")
    );
    let sent = server.requests().remove(0);
    assert_eq!(
        sent.header("authorization"),
        Some(format!("Bearer {KEY}").as_str())
    );
    assert_eq!(
        (sent.header("x-api-key"), sent.header("x-team")),
        (None, Some("memory"))
    );
    assert_eq!(sent.header("anthropic-version"), Some("2026-10-21"));
}

#[test]
fn an_own_runtime_ends_wherever_its_last_owner_is() {
    let server = server(Protocol::Openai, Script::default());
    let own = amem_models::ModelRuntime::start().unwrap();
    let model = amem_models::LanguageModel::new(settings(Protocol::Openai, &server.url()), &own);
    let model = model.unwrap();
    drop(own);
    assert_eq!(
        line(&call(&model, ReplyForm::Schema)),
        format!("text {FACTS}")
    );
    let tokio = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    // A runtime that is dropped by a task must not wait for its threads.
    tokio.block_on(async move { drop(model) });
}

#[test]
fn a_base_url_may_have_the_folder_that_follows_it() {
    for (protocol, folder) in [
        (Protocol::Openai, "/"),
        (Protocol::Azure, "/openai/"),
        (Protocol::Anthropic, "/v1"),
        (Protocol::Google, "/v1/"),
        (Protocol::Ollama, "/api"),
    ] {
        let server = server(protocol, Script::default());
        let plain = model(protocol, &server);
        let own = settings(protocol, &format!("{}{folder}", server.url()));
        let with_folder = amem_models::LanguageModel::new(own, runtime()).unwrap();
        for model in [plain, with_folder] {
            assert_eq!(
                line(&call(&model, ReplyForm::Schema)),
                format!("text {FACTS}")
            );
        }
        let requests = server.requests();
        assert_eq!(requests[0].target, requests[1].target);
    }
    let server = server(Protocol::Google, Script::default());
    let mut own = settings(Protocol::Google, &server.url());
    own.model = "models/tuned one".into();
    own.api_version = Some("v1beta".into());
    let model = amem_models::LanguageModel::new(own, runtime()).unwrap();
    call(&model, ReplyForm::Schema).unwrap();
    let target = &server.requests()[0].target;
    assert_eq!(target, "/v1beta/models/tuned%20one:generateContent");
}
