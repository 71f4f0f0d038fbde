//! Vectors of the small model against the plain forward pass and against the reference's.

use std::fs;
use std::path::Path;

use amem_transformer::{ModelSettings, Pooling, SentenceModel, TextRole};
use serde::Deserialize;
use serde_json::json;

use crate::plain::{PlainActivation, PlainModel};
use crate::written::{Precision, TinyModel};

pub(crate) const TEXTS: [&str; 24] = [
    "",
    " \t\n",
    "the cat",
    "The CAT is in the house.",
    "what is the capital of france?",
    "Paris is the capital of France, and Berlin that of another.",
    "user likes rust and python",
    "She moved to Berlin... did she?",
    "über café naïve É",
    "東京 is a 字",
    "😀 hello 👍 world",
    "[MASK] the [SEP] cat [mask]",
    "unlikely cats are walking",
    "xyz123 a1b2c3 99%",
    "a\0b\u{200b}c\u{fffd}d\re",
    "fn main() { let x = [1, 2]; }",
    "“quoted” … text",
    "Ω ж ش",
    "a",
    ".",
    "the the the the the the the the the the the the the the the the the the the the the the the",
    "the the the the the the the the the the the the the the the the the the the the the the",
    "one word that is far longer: supercalifragilisticexpialidocious",
    "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx the",
];

const PRECISIONS: [Precision; 3] = [Precision::F32, Precision::F16, Precision::Bf16];

const ACTIVATIONS: [(&str, PlainActivation); 4] = [
    ("gelu", PlainActivation::Gelu),
    ("gelu_new", PlainActivation::GeluTanh),
    ("gelu_pytorch_tanh", PlainActivation::GeluTanh),
    ("relu", PlainActivation::Relu),
];

fn greatest_difference(found: &[f32], expected: &[f64]) -> f64 {
    assert_eq!(found.len(), expected.len());
    let differences = found.iter().zip(expected);
    differences.fold(0.0, |most: f64, (a, b)| most.max((f64::from(*a) - b).abs()))
}

#[test]
fn vectors_equal_a_plain_forward_pass_in_64_bits() {
    for precision in PRECISIONS {
        for (name, activation) in ACTIVATIONS {
            for (pooling, normalise) in [(Pooling::Mean, true), (Pooling::Cls, false)] {
                let mut tiny = TinyModel::new();
                tiny.precision = precision;
                tiny.set("config.json", "/hidden_act", json!(name));
                let settings = ModelSettings {
                    pooling: Some(pooling),
                    normalise: Some(normalise),
                    ..ModelSettings::default()
                };
                let folder = tiny.folder();
                let model = SentenceModel::open_with(folder.path(), &settings).expect("a model");
                let plain = PlainModel {
                    tensors: tiny.rounded(),
                    activation,
                    is_mean: pooling == Pooling::Mean,
                    normalise,
                };
                for role in [TextRole::Query, TextRole::Passage] {
                    for (text, vector) in TEXTS.iter().zip(model.embed(role, &TEXTS)) {
                        let expected = plain.embed(&model.tokens(role, text));
                        let off = greatest_difference(&vector, &expected);
                        assert!(
                            off < 5e-6,
                            "{precision:?} {name} {pooling:?} {text:?}: {off}"
                        );
                    }
                }
            }
        }
    }
}

#[derive(Deserialize)]
struct Recorded {
    rows: Vec<RecordedRow>,
}

#[derive(Deserialize)]
struct RecordedRow {
    text: String,
    passage_tokens: Vec<u32>,
    query_tokens: Vec<u32>,
    passage: Vec<f64>,
    query: Vec<f64>,
}

/// `.ci/models` records them: with `AMEM_WRITE_TINY` the test writes the model and its texts into that folder.
#[test]
fn vectors_equal_those_recorded_from_the_reference() {
    let tiny = TinyModel::new();
    if let Some(folder) = std::env::var_os("AMEM_WRITE_TINY") {
        let folder = Path::new(&folder);
        fs::create_dir_all(folder).expect("the folder of AMEM_WRITE_TINY");
        tiny.write(folder);
        fs::write(folder.join("texts.json"), json!(TEXTS).to_string()).expect("the texts");
        return;
    }
    let recorded: Recorded =
        serde_json::from_str(include_str!("recorded.json")).expect("recorded vectors");
    let folder = tiny.folder();
    let model = SentenceModel::open(folder.path()).expect("a model");
    assert_eq!(recorded.rows.len(), TEXTS.len());
    for (row, text) in recorded.rows.iter().zip(TEXTS) {
        assert_eq!(row.text, text);
        for (role, tokens, vector) in [
            (TextRole::Passage, &row.passage_tokens, &row.passage),
            (TextRole::Query, &row.query_tokens, &row.query),
        ] {
            assert_eq!(model.tokens(role, text), *tokens, "{role:?} {text:?}");
            let found = model.embed(role, &[text]).remove(0);
            let off = greatest_difference(&found, vector);
            assert!(off < 2e-6, "{role:?} {text:?}: {off}");
        }
    }
}

#[test]
fn a_vector_depends_on_its_text_alone() {
    let folder = TinyModel::new().folder();
    let open = |threads| {
        let settings = ModelSettings {
            threads: Some(threads),
            ..ModelSettings::default()
        };
        SentenceModel::open_with(folder.path(), &settings).expect("a model")
    };
    let alone = |text| open(1).embed(TextRole::Passage, &[text]).remove(0);
    let expected: Vec<_> = TEXTS.into_iter().map(alone).collect();
    for threads in [1, 2, 5] {
        let model = open(threads);
        let many: Vec<&str> = TEXTS.iter().cycle().take(200).copied().collect();
        let found = model.embed(TextRole::Passage, &many);
        for (found, expected) in found.iter().zip(expected.iter().cycle()) {
            assert_eq!(found, expected, "{threads} threads");
        }
        let reversed: Vec<&str> = TEXTS.iter().rev().copied().collect();
        let found = model.embed(TextRole::Passage, &reversed);
        assert!(found.iter().eq(expected.iter().rev()), "{threads} threads");
        assert!(model.embed(TextRole::Query, &[]).is_empty());
    }
}

#[test]
fn texts_are_cut_where_the_files_or_the_settings_say() {
    let long = "the cat ".repeat(100);
    let check = |tiny: &TinyModel, settings: Option<usize>, expected: usize| {
        let settings = ModelSettings {
            tokens_max: settings,
            ..ModelSettings::default()
        };
        let folder = tiny.folder();
        let model = SentenceModel::open_with(folder.path(), &settings).expect("a model");
        assert_eq!(model.tokens_max(), expected);
        let tokens = model.tokens(TextRole::Passage, &long);
        assert_eq!((tokens.len(), tokens.last()), (expected, Some(&3)));
        assert!(
            model.embed(TextRole::Query, &[&long])[0]
                .iter()
                .all(|x| x.is_finite())
        );
    };
    let mut tiny = TinyModel::new();
    check(&tiny, None, 24);
    check(&tiny, Some(3), 3);
    check(&tiny, Some(40), 40);
    tiny.set("sentence_bert_config.json", "/max_seq_length", json!(null));
    check(&tiny, None, 40);
    tiny.set("tokenizer_config.json", "/model_max_length", json!(30));
    check(&tiny, None, 30);
    tiny.set("tokenizer_config.json", "/model_max_length", json!(1e30));
    check(&tiny, None, 40);
    tiny.set("sentence_bert_config.json", "/max_seq_length", json!(512));
    check(&tiny, None, 40);
}

#[test]
fn both_forms_of_a_tokenizer_make_the_same_tokens() {
    let mut tiny = TinyModel::new();
    let lines = tiny.folder();
    tiny.add_tokenizer();
    let both = tiny.folder();
    fs::remove_file(both.path().join("vocab.txt")).expect("the vocabulary");
    let open = |folder: &Path| SentenceModel::open(folder).expect("a model");
    let (lines, both) = (open(lines.path()), open(both.path()));
    for text in TEXTS {
        let tokens = |model: &SentenceModel| model.tokens(TextRole::Query, text);
        assert_eq!(tokens(&lines), tokens(&both), "{text:?}");
    }
    assert_eq!(lines.space(), both.space());
}

#[test]
fn the_rules_of_the_tokenizer_are_those_of_its_files() {
    let check = |tiny: &TinyModel, text: &str, expected: &[&str]| {
        let folder = tiny.folder();
        let model = SentenceModel::open(folder.path()).unwrap_or_else(|e| panic!("{e}"));
        let tokens = model.tokens(TextRole::Passage, text);
        let pieces = tokens
            .iter()
            .map(|token| &*tiny.vocabulary[*token as usize]);
        assert_eq!(
            pieces.collect::<Vec<_>>()[1..tokens.len() - 1],
            *expected,
            "{text}"
        );
    };
    let mut tiny = TinyModel::new();
    check(&tiny, "The é 東京", &["the", "e", "東", "京"]);
    tiny.set("tokenizer_config.json", "/strip_accents", json!(false));
    check(&tiny, "The é", &["the", "é"]);
    tiny.set(
        "tokenizer_config.json",
        "/tokenize_chinese_chars",
        json!(false),
    );
    check(&tiny, "東京 東", &["[UNK]", "東"]);
    tiny.set("tokenizer_config.json", "/do_lower_case", json!(false));
    check(&tiny, "The the", &["[UNK]", "the"]);
    tiny.set("sentence_bert_config.json", "/do_lower_case", json!(true));
    check(&tiny, "The É", &["the", "é"]);
    // The tokenizer's own rules count for a general class only.
    let mut tiny = TinyModel::new();
    tiny.add_tokenizer();
    tiny.set("tokenizer.json", "/normalizer/lowercase", json!(false));
    check(&tiny, "The the", &["the", "the"]);
    let class = json!("PreTrainedTokenizerFast");
    tiny.set("tokenizer_config.json", "/tokenizer_class", class);
    check(&tiny, "The the", &["[UNK]", "the"]);
    tiny.set(
        "tokenizer.json",
        "/model/max_input_chars_per_word",
        json!(3),
    );
    check(&tiny, "cat cats", &["cat", "[UNK]"]);
}
