//! What names a vector space, and prefixes.

use std::collections::BTreeMap;

use amem_transformer::{ModelSettings, Pooling, SentenceModel, TextRole};
use serde_json::json;
use uuid::Uuid;

use crate::written::{Precision, TinyModel};

fn space(tiny: &TinyModel, settings: &ModelSettings) -> Uuid {
    let folder = tiny.folder();
    let model = SentenceModel::open_with(folder.path(), settings);
    model.unwrap_or_else(|e| panic!("{e}")).space()
}

#[test]
fn equal_folders_in_other_places_have_one_space() {
    let tiny = TinyModel::new();
    let usual = ModelSettings::default();
    let expected = space(&tiny, &usual);
    assert_eq!(space(&tiny, &usual), expected);
    // What files say can be said by settings, and threads and unread tensors change no vector.
    let mut other = tiny.clone();
    other.tensors.remove("pooler.dense.weight");
    other.set("config.json", "/hidden_dropout_prob", json!(0.5));
    let settings = ModelSettings {
        query_prefix: Some("what is: ".into()),
        passage_prefix: Some(String::new()),
        pooling: Some(Pooling::Mean),
        normalise: Some(true),
        tokens_max: Some(24),
        threads: Some(1),
    };
    assert_eq!(space(&other, &settings), expected);
    // Stored in brains: another computation needs another name, this one keeps its own.
    assert_eq!(expected.to_string(), "24fd80da-77b8-51ea-b3b7-c9b4939b1fea");
}

#[test]
fn whatever_changes_a_vector_changes_the_space() {
    let mut spaces = BTreeMap::new();
    let mut add = |name: &str, change: &dyn Fn(&mut TinyModel, &mut ModelSettings)| {
        let (mut tiny, mut settings) = (TinyModel::new(), ModelSettings::default());
        change(&mut tiny, &mut settings);
        let other = spaces.insert(space(&tiny, &settings), name.to_owned());
        assert_eq!(other, None, "{name} has the space of another");
    };
    add("the model", &|_, _| {});
    add("a query prefix", &|_, s| s.query_prefix = Some("q".into()));
    add("a passage prefix", &|_, s| {
        s.passage_prefix = Some("what is: ".into())
    });
    add("prefixes exchanged", &|_, s| {
        s.query_prefix = Some(String::new());
        s.passage_prefix = Some("what is: ".into());
    });
    add("other pooling", &|_, s| s.pooling = Some(Pooling::Cls));
    add("no scaling", &|_, s| s.normalise = Some(false));
    add("another length", &|_, s| s.tokens_max = Some(25));
    add("another precision", &|t, _| t.precision = Precision::Bf16);
    for at in [0, 1000] {
        add(&format!("another number at {at}"), &|t, _| {
            let name = "embeddings.word_embeddings.weight";
            let tensor = t.tensors.get_mut(name).expect("the words");
            tensor.numbers[at] += 0.25;
        });
    }
    add("another activation", &|t, _| {
        t.set("config.json", "/hidden_act", json!("relu"))
    });
    add("other heads", &|t, _| {
        t.set("config.json", "/num_attention_heads", json!(2))
    });
    add("another epsilon", &|t, _| {
        t.set("config.json", "/layer_norm_eps", json!(1e-5))
    });
    let cased = json!(false);
    add("cased", &|t, _| {
        t.set("tokenizer_config.json", "/do_lower_case", cased.clone())
    });
    add("accents", &|t, _| {
        t.set("tokenizer_config.json", "/strip_accents", json!(false))
    });
    add("another word", &|t, _| {
        t.vocabulary[70] = "otherwise".into()
    });
    add("words exchanged", &|t, _| t.vocabulary.swap(30, 31));
}

#[test]
fn queries_and_passages_have_their_prefixes() {
    let check = |prompts: serde_json::Value, settings: [Option<&str>; 2], expected: [&str; 2]| {
        let mut tiny = TinyModel::new();
        let what = format!("{prompts} {settings:?}");
        tiny.files
            .insert("config_sentence_transformers.json".into(), prompts);
        let settings = ModelSettings {
            query_prefix: settings[0].map(str::to_owned),
            passage_prefix: settings[1].map(str::to_owned),
            ..ModelSettings::default()
        };
        let folder = tiny.folder();
        let model = SentenceModel::open_with(folder.path(), &settings).expect("a model");
        let none = ModelSettings {
            query_prefix: Some(String::new()),
            passage_prefix: Some(String::new()),
            ..ModelSettings::default()
        };
        let plain = SentenceModel::open_with(folder.path(), &none).expect("a model");
        for (role, prefix) in [TextRole::Query, TextRole::Passage]
            .into_iter()
            .zip(expected)
        {
            let text = format!("{prefix}the cat");
            let tokens = plain.tokens(role, &text);
            assert_eq!(model.tokens(role, "the cat"), tokens, "{what} {role:?}");
            let expected = plain.embed(role, &[&text]);
            assert_eq!(model.embed(role, &["the cat"]), expected, "{what} {role:?}");
        }
    };
    let e5 = json!({"prompts": {"query": "query: ", "passage": "passage: "}});
    check(json!({}), [None, None], ["", ""]);
    check(e5.clone(), [None, None], ["query: ", "passage: "]);
    check(e5.clone(), [Some("q "), None], ["q ", "passage: "]);
    check(e5, [Some(""), Some("")], ["", ""]);
    check(
        json!({}),
        [Some("query: "), Some("passage: ")],
        ["query: ", "passage: "],
    );
    let newer = json!({"prompts": {"query": "q ", "document": "", "passage": "p "}});
    check(newer, [None, None], ["q ", "p "]);
    let default = json!({"prompts": {"all": "all "}, "default_prompt_name": "all"});
    check(default, [None, None], ["all ", "all "]);
    let empty = json!({"prompts": {"all": "all ", "query": ""}, "default_prompt_name": "all"});
    check(empty, [None, None], ["", "all "]);
}
