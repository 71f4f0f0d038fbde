//! Embeddings: batches, checks, texts that fail by themselves.

use amem_memory::store::Embedder;
use amem_models::{ModelSettings, Provider, TextEmbedder};
use amem_scripted::{Protocol, Script, ServerRule, Step};

use crate::support::{embedder, runtime, server, settings};

const PROTOCOLS: [Protocol; 4] = [
    Protocol::Openai,
    Protocol::Azure,
    Protocol::Google,
    Protocol::Ollama,
];

fn sizes(results: &[Result<Option<Vec<f32>>, String>]) -> Vec<String> {
    let size = |result: &Result<Option<Vec<f32>>, String>| match result {
        Ok(Some(vector)) => vector.len().to_string(),
        Ok(None) => "none".into(),
        Err(why) => why.clone(),
    };
    results.iter().map(size).collect()
}

#[test]
fn texts_become_vectors_of_the_size_that_is_asked_for() {
    for protocol in PROTOCOLS {
        let server = server(protocol, Script::default());
        let mut own = settings(protocol, &server.url());
        own.dimensions = Some(5);
        own.batch_texts = 2;
        let embedder = embedder(own);
        let results = embedder.embed(&["a", "b", " ", "c", "a"]);
        assert_eq!(
            sizes(&results),
            ["5", "5", "none", "5", "5"],
            "{protocol:?}"
        );
        assert_eq!(results[0], results[4]);
        assert_ne!(results[0], results[1]);
        assert_eq!(server.requests().len(), 2, "two batches of two texts");
        assert!(embedder.embed(&[]).is_empty());
    }
}

#[test]
fn batches_are_limited_by_bytes_too() {
    let server = server(Protocol::Openai, Script::default());
    let mut own = settings(Protocol::Openai, &server.url());
    own.batch_bytes = 10;
    let texts = ["aaaa", "bbbb", "cccc", "ddddddddddddddddddd"];
    let results = embedder(own).embed(&texts);
    assert_eq!(sizes(&results), ["8"; 4]);
    let counts = server.requests();
    let counts: Vec<usize> = counts
        .iter()
        .map(|sent| sent.body["input"].as_array().map_or(0, Vec::len))
        .collect();
    assert_eq!(counts, [2, 1, 1]);
}

#[test]
fn one_bad_text_does_not_lose_the_others() {
    for protocol in PROTOCOLS {
        let server = server(protocol, Script::rules([ServerRule::BadText("bad".into())]));
        let results =
            embedder(settings(protocol, &server.url())).embed(&["a", "b", "bad", "c", "d"]);
        let sizes = sizes(&results);
        assert!(
            sizes[2].contains("too long for the context"),
            "{protocol:?}: {sizes:?}"
        );
        let others: Vec<&String> = sizes.iter().filter(|size| *size == "8").collect();
        assert_eq!(others.len(), 4, "{protocol:?}: {sizes:?}");
    }
}

#[test]
fn wrong_counts_sizes_and_numbers_are_refused() {
    for protocol in PROTOCOLS {
        let server = server(protocol, Script::default());
        let embedder = embedder(settings(protocol, &server.url()));
        for (step, expected) in [
            (Step::VectorNotNumber, ["no number", "8"]),
            // The halves are asked for again.
            (Step::VectorMissing, ["8", "8"]),
            (
                Step::VectorShort,
                ["has 7 values, not 8", "has 7 values, not 8"],
            ),
            (Step::Malformed, ["no JSON", "no JSON"]),
            (Step::EmptyBody, ["empty", "empty"]),
        ] {
            server.set_script(Script::steps([step.clone()]));
            let found = sizes(&embedder.embed(&["a", "b"]));
            for (found, expected) in found.iter().zip(expected) {
                assert!(found.contains(expected), "{protocol:?} {step:?}: {found}");
            }
            assert_eq!(sizes(&embedder.embed(&["c"])), ["8"]);
        }
        assert_eq!(embedder.dimensions(), Some(8));
    }
}

#[test]
fn a_refused_rate_is_waited_for_and_a_refused_key_is_not() {
    let refuse = |status, retry_after: Option<&str>| Step::Refuse {
        status,
        message: "no".into(),
        retry_after: retry_after.map(str::to_owned),
    };
    for protocol in PROTOCOLS {
        for (step, expected, calls) in [
            (refuse(429, Some("0")), "8", 2),
            (refuse(429, Some("9999")), "too many requests", 1),
            (refuse(401, None), "refused: the server answered 401: no", 1),
            (
                refuse(503, None),
                "unreachable: the server answered 503: no",
                1,
            ),
        ] {
            let server = server(protocol, Script::steps([step]));
            let mut own = settings(protocol, &server.url());
            own.batch_texts = 1;
            let found = sizes(&embedder(own).embed(&["a", "b"]));
            assert!(found[1].contains(expected), "{protocol:?}: {found:?}");
            let more = usize::from(expected == "8");
            assert_eq!(
                server.requests().len(),
                calls + more,
                "{protocol:?} {expected}"
            );
        }
    }
}

#[test]
fn a_server_without_dimensions_is_asked_without_them() {
    let server = server(Protocol::Openai, Script::rules([ServerRule::NoDimensions]));
    let mut own = settings(Protocol::Openai, &server.url());
    own.dimensions = Some(8);
    assert_eq!(sizes(&embedder(own.clone()).embed(&["a"])), ["8"]);
    own.dimensions = Some(9);
    let found = sizes(&embedder(own).embed(&["a"]));
    assert!(found[0].contains("has 8 values, not 9"), "{found:?}");
}

#[test]
fn a_space_is_of_the_model_and_its_dimensions() {
    let space = |provider: Provider, model: &str, dimensions: Option<usize>| {
        let mut settings = ModelSettings::new(provider, model);
        settings.base_url = Some("https://vectors.example".into());
        settings.dimensions = dimensions;
        TextEmbedder::new(settings, runtime()).unwrap().space()
    };
    let own = space(Provider::Openai, "m", None);
    assert_eq!(own, space(Provider::Azure, "m", None));
    assert_eq!(own.get_version_num(), 8);
    for other in [
        space(Provider::Openai, "m", Some(8)),
        space(Provider::Openai, "n", None),
        space(Provider::Google, "m", None),
        space(Provider::Ollama, "m", None),
    ] {
        assert_ne!(own, other);
    }
    let anthropic = ModelSettings::new(Provider::Anthropic, "m");
    let why = TextEmbedder::new(anthropic, runtime()).unwrap_err();
    assert!(why.to_string().contains("no embeddings"), "{why}");
}
