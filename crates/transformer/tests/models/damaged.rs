//! Folders that are damaged, of other models, or hostile: each is a typed error that says what, where and what to do.

use std::fs;
use std::path::Path;

use amem_transformer::{Error, ModelSettings, Pooling, SentenceModel, TextRole};
use serde_json::{Value, json};

use crate::written::{TinyModel, WIDTH, file_of};

/// Holds that a changed model is refused with all of the words.
fn check(words: &[&str], change: impl FnOnce(&mut TinyModel)) {
    let mut tiny = TinyModel::new();
    change(&mut tiny);
    let folder = tiny.folder();
    refused(folder.path(), words);
}

fn refused(folder: &Path, words: &[&str]) {
    let Err(error) = SentenceModel::open(folder) else {
        panic!("it is opened; {words:?} is expected");
    };
    let message = error.to_string();
    for word in words {
        assert!(message.contains(word), "{message:?} does not say {word:?}");
    }
}

/// Holds that a folder with other weights is refused.
fn check_weights(words: &[&str], bytes: &[u8]) {
    let folder = TinyModel::new().folder();
    fs::write(folder.path().join("model.safetensors"), bytes).expect("the weights");
    refused(folder.path(), words);
}

#[test]
fn missing_files_are_named_with_what_to_do() {
    let check = |file: &str, words: &[&str]| {
        let folder = TinyModel::new().folder();
        fs::remove_file(folder.path().join(file)).expect("a file");
        refused(folder.path(), words);
        folder
    };
    check(
        "config.json",
        &["config.json", "missing", "give the folder"],
    );
    check("vocab.txt", &["tokenizer.json or vocab.txt", "fetch one"]);
    check(
        "1_Pooling/config.json",
        &["1_Pooling", "fetch the whole model"],
    );
    check("modules.json", &["modules.json", "say in the settings"]);
    let file = "model.safetensors";
    let folder = check(file, &[file, "missing", "give the folder"]);
    fs::write(folder.path().join("pytorch_model.bin"), "").expect("a file");
    refused(
        folder.path(),
        &["holds programs", "save the model as safetensors"],
    );
    let path = folder.path().join("model.safetensors.index.json");
    fs::write(path, "{}").expect("a file");
    refused(folder.path(), &["several files are not supported"]);
    refused(&folder.path().join("nowhere"), &["cannot open", "nowhere"]);
    refused(
        &folder.path().join("vocab.txt"),
        &["cannot open", "vocab.txt"],
    );
    fs::create_dir(folder.path().join(file)).expect("a folder");
    refused(folder.path(), &["cannot open", file, "not a regular file"]);
}

#[test]
fn other_models_are_named_with_what_to_choose() {
    let set = |file: &'static str, pointer: &'static str, value: Value| {
        move |tiny: &mut TinyModel| tiny.set(file, pointer, value)
    };
    let config = |pointer, value| set("config.json", pointer, value);
    let choose = "choose a sentence-transformer of the BERT family";
    let other = config("/model_type", json!("xlm-roberta"));
    check(
        &["config.json", "\"xlm-roberta\" is not supported", choose],
        other,
    );
    check(&["model_type", choose], config("/model_type", json!(null)));
    check(
        &["\"swish\"", choose],
        config("/hidden_act", json!("swish")),
    );
    check(&["a decoder", choose], config("/is_decoder", json!(true)));
    let relative = json!("relative_key");
    check(
        &["relative_key", choose],
        config("/position_embedding_type", relative),
    );
    check(&["modules.json", "Pooling, Dense", "choose"], |tiny| {
        tiny.set(
            "modules.json",
            "/2/type",
            json!("sentence_transformers.models.Dense"),
        );
    });
    let pooling = |pointer, value| set("1_Pooling/config.json", pointer, value);
    check(
        &["with pooling_mode_mean_tokens"],
        pooling("/pooling_mode_cls_token", json!(true)),
    );
    check(&["the pooling max"], pooling("/pooling_mode", json!("max")));
    check(
        &["no mode"],
        pooling("/pooling_mode_mean_tokens", json!(false)),
    );
    check(
        &["include_prompt"],
        pooling("/include_prompt", json!(false)),
    );
    let task = set(
        "sentence_bert_config.json",
        "/transformer_task",
        json!("fill-mask"),
    );
    check(&["sentence_bert_config.json", "fill-mask"], task);
}

#[test]
fn other_tokenizers_are_named_with_what_to_choose() {
    let check_tokenizer = |words: &[&str], pointer: &str, value: Value| {
        check(words, |tiny| {
            tiny.add_tokenizer();
            let class = json!("PreTrainedTokenizerFast");
            tiny.set("tokenizer_config.json", "/tokenizer_class", class);
            tiny.set("tokenizer.json", pointer, value);
        });
    };
    let unigram = json!({"type": "Unigram", "unk_id": 0, "vocab": [["<s>", 0.0]]});
    let words = ["tokenizer.json", "Unigram", "WordPiece", "SentencePiece"];
    check_tokenizer(&words, "/model", unigram);
    let bpe = json!({"type": "BPE", "vocab": {}, "merges": []});
    check_tokenizer(&["the model \"BPE\""], "/model", bpe);
    check_tokenizer(
        &["the normalizer \"NFC\""],
        "/normalizer/type",
        json!("NFC"),
    );
    check_tokenizer(&["pre-tokenizer \"none\""], "/pre_tokenizer", json!(null));
    check_tokenizer(
        &["post_processor", "[CLS] text [SEP]"],
        "/post_processor",
        json!(null),
    );
    check_tokenizer(
        &["post_processor"],
        "/post_processor/single/0",
        json!({"Sequence": {}}),
    );
    check_tokenizer(
        &["\"[PAD]\"", "single_word"],
        "/added_tokens/0/single_word",
        json!(true),
    );
    check_tokenizer(
        &["added token 0 has 0 bytes"],
        "/added_tokens/0/content",
        json!(""),
    );
    check_tokenizer(
        &["tokenizer.json is damaged", "`-1`"],
        "/model/vocab/cat",
        json!(-1),
    );
    check_tokenizer(&["\"vocab\" is no object"], "/model/vocab", json!([]));
    check_tokenizer(
        &["tokenizer.json is damaged", "\"yes\", expected a boolean"],
        "/normalizer/lowercase",
        json!("yes"),
    );
    check_tokenizer(
        &["the token of \"[MASK]\" is 200"],
        "/added_tokens/4/id",
        json!(200),
    );
    check_tokenizer(
        &["the token of \"cat\" is 999", "less than 200"],
        "/model/vocab/cat",
        json!(999),
    );
    check(&["vocab.txt", "the token \"[CLS]\" is missing"], |tiny| {
        tiny.vocabulary[2] = "other".into();
    });
    check(
        &[
            "vocab.txt",
            "the token of \"more\" is 200",
            "different models",
        ],
        |tiny| {
            tiny.vocabulary.push("more".into());
        },
    );
    check(&["tokenizer_config.json", "the token \"x\""], |tiny| {
        let added = json!({"x": {"content": "[X]"}});
        tiny.set("tokenizer_config.json", "/added_tokens_decoder", added);
    });
}

#[test]
fn contradictions_between_files_are_named() {
    let set = |pointer: &'static str, value: Value| {
        move |tiny: &mut TinyModel| tiny.set("config.json", pointer, value)
    };
    let shape = ["model.safetensors", "shape", "different models"];
    check(&shape, set("/vocab_size", json!(201)));
    check(&shape, set("/intermediate_size", json!(57)));
    check(&shape, set("/max_position_embeddings", json!(41)));
    check(&shape, set("/type_vocab_size", json!(1)));
    let missing = "the tensor \"encoder.layer.2.attention.self.query.weight\" is missing";
    check(
        &["model.safetensors", missing],
        set("/num_hidden_layers", json!(3)),
    );
    check(
        &["1_Pooling", "is 32, expected 64"],
        set("/hidden_size", json!(64)),
    );
    for (pointer, value, word) in [
        ("/hidden_size", json!(0), "\"hidden_size\" is 0"),
        ("/num_attention_heads", json!(5), "no multiple of 5 heads"),
        ("/layer_norm_eps", json!(-1.0), "\"layer_norm_eps\" is -1"),
        ("/layer_norm_eps", json!(1e300), "\"layer_norm_eps\" is inf"),
        ("/max_position_embeddings", json!(2), "leaves no token"),
        ("/vocab_size", json!("many"), "line 1 column"),
        ("/vocab_size", json!(-1), "line 1 column"),
    ] {
        check(&["config.json is damaged", word], set(pointer, value));
    }
    for key in [
        "hidden_size",
        "num_hidden_layers",
        "vocab_size",
        "max_position_embeddings",
    ] {
        check(&[key, "18446744073709551615, the limit is"], |tiny| {
            tiny.set("config.json", &format!("/{key}"), json!(u64::MAX));
        });
    }
    check(
        &["the tensor \"embeddings.word_embeddings.weight\" is missing"],
        |tiny| {
            tiny.tensors.clear();
        },
    );
    check(&["modules.json", "leads out of the folder"], |tiny| {
        tiny.set("modules.json", "/1/path", json!("../1_Pooling"));
    });
    check(&["modules.json", "leads out of the folder"], |tiny| {
        tiny.set("modules.json", "/0/path", json!("/etc"));
    });
}

#[test]
fn settings_that_do_not_fit_the_model_are_named() {
    let folder = TinyModel::new().folder();
    let check = |words: &[&str], settings: ModelSettings| {
        let error = SentenceModel::open_with(folder.path(), &settings);
        let error = error.expect_err("a refusal");
        assert!(matches!(error, Error::Setting { .. }), "{error:?}");
        let message = error.to_string();
        assert!(words.iter().all(|word| message.contains(word)), "{message}");
    };
    let usual = ModelSettings::default;
    for tokens in [0, 2, 41] {
        let tokens_max = Some(tokens);
        let words = ["tokens_max", "3 to 40 tokens"];
        check(
            &words,
            ModelSettings {
                tokens_max,
                ..usual()
            },
        );
    }
    let threads = Some(0);
    check(&["threads is 0"], ModelSettings { threads, ..usual() });
    let query_prefix = Some("x".repeat(2000));
    check(
        &["query_prefix", "1024"],
        ModelSettings {
            query_prefix,
            ..usual()
        },
    );
    // What a folder does not say, settings can.
    fs::remove_file(folder.path().join("modules.json")).expect("a file");
    let pooling = Some(Pooling::Cls);
    let settings = ModelSettings { pooling, ..usual() };
    SentenceModel::open_with(folder.path(), &settings).expect("a model");
}

#[test]
fn damaged_headers_of_tensors_are_named() {
    let file = "model.safetensors";
    check_weights(&[file, "it ends inside the length of its header"], &[0; 7]);
    check_weights(
        &[file, "inside its header"],
        &[9, 0, 0, 0, 0, 0, 0, 0, b'{'],
    );
    check_weights(
        &["header's length in bytes is 18446744073709551615"],
        &[255; 40],
    );
    check_weights(&["its header: "], &file_of("[1, 2]", &[]));
    check_weights(&["its header: "], &file_of("{\"a\": \u{1}}", &[]));
    check_weights(
        &["tensor \"a\"", "missing field"],
        &file_of("{\"a\": {\"dtype\": \"F32\"}}", &[]),
    );
    let same = "{\"dtype\": \"F32\", \"shape\": [1], \"data_offsets\": [0, 4]}";
    let twice = format!("{{\"a\": {same}, \"a\": {same}}}");
    check_weights(&["two tensors \"a\""], &file_of(&twice, &[0; 4]));
    let deep = "[".repeat(100_000);
    check_weights(&["its header: "], &file_of(&deep, &[]));
    let entry = |shape: &str, offsets: &str| {
        format!("{{\"dtype\": \"F32\", \"shape\": {shape}, \"data_offsets\": {offsets}}}")
    };
    let of = |a: &str, b: &str| format!("{{\"a\": {a}, \"b\": {b}}}");
    let rows: [(&str, &str, &str, &[&str]); 9] = [
        (
            "[1]",
            "[0, 4]",
            "[2, 6]",
            &["\"b\" overlaps the one before", "byte 2, not 4"],
        ),
        ("[1]", "[0, 4]", "[5, 9]", &["bytes 4 to 5", "no tensor's"]),
        (
            "[1]",
            "[0, 4]",
            "[4, 4096]",
            &["\"b\" is at bytes 4 to 4096 of 12"],
        ),
        (
            "[1]",
            "[0, 4]",
            "[8, 4]",
            &["\"b\" is at bytes 8 to 4 of 12"],
        ),
        (
            "[2]",
            "[0, 4]",
            "[4, 8]",
            &["\"a\" has 4 bytes, which is not its shape [2] of F32"],
        ),
        (
            "[1]",
            "[0, 4]",
            "[4, 8]",
            &["bytes 8 to 12 at its end are no tensor's"],
        ),
        (
            "[4294967296, 4294967296, 2]",
            "[0, 4]",
            "[4, 8]",
            &["not its shape"],
        ),
        (
            "[-1]",
            "[0, 4]",
            "[4, 8]",
            &["tensor \"a\"", "invalid value"],
        ),
        (
            "[1]",
            "[0, 18446744073709551616]",
            "[4, 8]",
            &["tensor \"a\""],
        ),
    ];
    for (shape, a, b, words) in rows {
        let header = of(&entry(shape, a), &entry("[1]", b));
        check_weights(words, &file_of(&header, &[0; 12]));
    }
    let long = u32::MAX.to_le_bytes();
    let bytes = [&long[..], &[0; 100]].concat();
    check_weights(
        &["header's length in bytes is 4294967295, the limit is"],
        &bytes,
    );
    let folder = TinyModel::new().folder();
    let path = folder.path().join(file);
    let mut bytes = fs::read(&path).expect("the weights");
    let header = String::from_utf8_lossy(&bytes);
    let at = header.find("\"F32\"").expect("a type") + 1;
    bytes[at..at + 3].copy_from_slice(b"I32");
    check_weights(
        &["the type \"I32\" of the tensor", "F32, F16 or BF16"],
        &bytes,
    );
}

#[test]
fn no_changed_byte_of_a_header_causes_a_panic() {
    let folder = TinyModel::new().folder();
    let path = folder.path().join("model.safetensors");
    let bytes = fs::read(&path).expect("the weights");
    let header = u64::from_le_bytes(bytes[..8].try_into().expect("eight")) as usize;
    let mut opened = 0;
    for at in (0..8 + header).step_by(3) {
        for flip in [1, 0x10] {
            let mut changed = bytes.clone();
            changed[at] ^= flip;
            fs::write(&path, &changed).expect("the weights");
            if let Ok(model) = SentenceModel::open(folder.path()) {
                opened += 1;
                let vector = model.embed(TextRole::Passage, &["the cat"]).remove(0);
                assert_eq!(vector.len(), WIDTH);
            }
        }
    }
    // The metadata, and the tensor that is not read.
    assert!(
        opened < header / 20,
        "{opened} changed headers were accepted"
    );
    for len in (0..bytes.len()).step_by(997) {
        fs::write(&path, &bytes[..len]).expect("the weights");
        SentenceModel::open(folder.path()).expect_err("a cut file");
    }
}

#[test]
fn no_changed_value_of_a_settings_file_causes_a_panic() {
    let mut tiny = TinyModel::new();
    tiny.add_tokenizer();
    let class = json!("PreTrainedTokenizerFast");
    tiny.set("tokenizer_config.json", "/tokenizer_class", class);
    let values = [
        json!(null),
        json!(-1),
        json!(0),
        json!(1e300),
        json!(u64::MAX),
        json!(""),
        json!("x"),
        json!([]),
        json!({}),
        json!(true),
    ];
    let folder = tiny.folder();
    for (file, content) in &tiny.files {
        let path = folder.path().join(file);
        for pointer in pointers(content) {
            if pointer.starts_with("/model/vocab/") && !pointer.ends_with('t') {
                continue;
            }
            for value in &values {
                let mut changed = content.clone();
                *changed.pointer_mut(&pointer).expect("a value") = value.clone();
                fs::write(&path, changed.to_string()).expect("a file");
                if let Ok(model) = SentenceModel::open(folder.path()) {
                    model.embed(TextRole::Query, &["The cat [MASK]"]);
                }
            }
        }
        fs::write(&path, "[[[").expect("a file");
        refused(folder.path(), &[file, "is damaged", "fetch"]);
        fs::write(&path, [0xff, 0xfe]).expect("a file");
        refused(folder.path(), &[file, "byte 0 is no UTF-8"]);
        fs::write(&path, content.to_string()).expect("a file");
    }
    SentenceModel::open(folder.path()).expect("the model as it was");
}

/// The places of all values in a JSON document.
fn pointers(value: &Value) -> Vec<String> {
    let mut out = vec![String::new()];
    let mut add = |key: &str, value: &Value| {
        let key = key.replace('~', "~0").replace('/', "~1");
        out.extend(
            pointers(value)
                .into_iter()
                .map(|rest| format!("/{key}{rest}")),
        );
    };
    match value {
        Value::Object(map) => map.iter().for_each(|(key, value)| add(key, value)),
        Value::Array(list) => {
            for (at, value) in list.iter().enumerate() {
                add(&at.to_string(), value);
            }
        }
        _ => {}
    }
    out
}

#[test]
fn files_past_their_limits_are_refused_unread() {
    let folder = TinyModel::new().folder();
    let config = fs::File::create(folder.path().join("config.json")).expect("a file");
    config.set_len(1 << 40).expect("a sparse file");
    refused(
        folder.path(),
        &["config.json", "1099511627776, the limit is 1048576"],
    );
    let folder = TinyModel::new().folder();
    let weights = fs::File::create(folder.path().join("model.safetensors")).expect("a file");
    weights.set_len(1 << 40).expect("a sparse file");
    refused(
        folder.path(),
        &["model.safetensors", "the limit is 8589934592"],
    );
}
