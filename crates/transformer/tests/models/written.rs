//! A small model: its files in memory, to be changed and written.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use tempfile::TempDir;

/// The types of numbers in a file of tensors.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Precision {
    F32,
    F16,
    Bf16,
}

/// A tensor: its shape and its numbers.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Tensor {
    pub(crate) shape: Vec<usize>,
    pub(crate) numbers: Vec<f32>,
}

/// A model of two layers, 32 wide, with four heads of 8 numbers and a vocabulary of 200.
#[derive(Debug, Clone)]
pub(crate) struct TinyModel {
    pub(crate) tensors: BTreeMap<String, Tensor>,
    pub(crate) precision: Precision,
    /// JSON files by path.
    pub(crate) files: BTreeMap<String, Value>,
    pub(crate) vocabulary: Vec<String>,
}

pub(crate) const WIDTH: usize = 32;
pub(crate) const HEADS: usize = 4;
pub(crate) const INNER: usize = 56;
pub(crate) const LAYERS: usize = 2;
const POSITIONS: usize = 40;

const WORDS: &str = "the a an is are was of to and in that it for on with as at by from this he she they we you i not \
    have has had do does did will would can could what when where who how my your cat dog house tree book user \
    likes moved city paris berlin france capital rust python ##ing ##ed ##s ##er ##ly ##tion un re é über 東 京 字 😀 \
    “ ” … naive cafe hello world";

/// Numbers from a seed.
struct Numbers(u64);

impl Numbers {
    /// Between −scale and scale around a middle; exact in 32 bits.
    fn next(&mut self, middle: f32, scale: f32) -> f32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005);
        self.0 = self.0.wrapping_add(1_442_695_040_888_963_407);
        let bits = (self.0 >> 40) as f32;
        middle + scale * (bits / (1 << 23) as f32 - 1.0)
    }
}

impl TinyModel {
    pub(crate) fn new() -> Self {
        let mut vocabulary: Vec<String> = Vec::new();
        let mut add = |piece: String| {
            if !vocabulary.contains(&piece) && vocabulary.len() < 200 {
                vocabulary.push(piece);
            }
        };
        for piece in "[PAD] [UNK] [CLS] [SEP] [MASK]".split(' ') {
            add(piece.into());
        }
        for piece in WORDS.split_whitespace() {
            add(piece.into());
        }
        for c in ('a'..='z').chain('0'..='9') {
            add(c.into());
            add(format!("##{c}"));
        }
        for c in ('!'..='~').filter(char::is_ascii_punctuation) {
            add(c.into());
        }
        while vocabulary.len() < 200 {
            vocabulary.push(format!("[unused{}]", vocabulary.len()));
        }
        let mut model = Self {
            tensors: BTreeMap::new(),
            precision: Precision::F32,
            files: files(),
            vocabulary,
        };
        model.add_tensors();
        model
    }

    fn add_tensors(&mut self) {
        let mut numbers = Numbers(42);
        let mut add = |name: String, shape: &[usize], middle: f32, scale: f32| {
            let count = shape.iter().product();
            let numbers = (0..count).map(|_| numbers.next(middle, scale)).collect();
            let shape = shape.to_vec();
            self.tensors.insert(name, Tensor { shape, numbers });
        };
        let embeddings = [("word", 200), ("position", POSITIONS), ("token_type", 2)];
        for (name, count) in embeddings {
            let name = format!("embeddings.{name}_embeddings.weight");
            add(name, &[count, WIDTH], 0.0, 1.0);
        }
        add("embeddings.LayerNorm.weight".into(), &[WIDTH], 1.0, 0.3);
        add("embeddings.LayerNorm.bias".into(), &[WIDTH], 0.0, 0.3);
        for layer in 0..LAYERS {
            let front = format!("encoder.layer.{layer}");
            for (name, from, to) in [
                ("attention.self.query", WIDTH, WIDTH),
                ("attention.self.key", WIDTH, WIDTH),
                ("attention.self.value", WIDTH, WIDTH),
                ("attention.output.dense", WIDTH, WIDTH),
                ("intermediate.dense", WIDTH, INNER),
                ("output.dense", INNER, WIDTH),
            ] {
                add(format!("{front}.{name}.weight"), &[to, from], 0.0, 0.4);
                add(format!("{front}.{name}.bias"), &[to], 0.0, 0.2);
            }
            for name in ["attention.output", "output"] {
                add(
                    format!("{front}.{name}.LayerNorm.weight"),
                    &[WIDTH],
                    1.0,
                    0.3,
                );
                add(format!("{front}.{name}.LayerNorm.bias"), &[WIDTH], 0.0, 0.3);
            }
        }
        // Not read: most models have it.
        add("pooler.dense.weight".into(), &[WIDTH, WIDTH], 0.0, 0.4);
    }

    /// Changes a value in a file; a path of keys, numbers for lists.
    pub(crate) fn set(&mut self, file: &str, pointer: &str, value: Value) {
        let json = self
            .files
            .entry(file.to_owned())
            .or_insert_with(|| json!({}));
        if let Some(found) = json.pointer_mut(pointer) {
            *found = value;
            return;
        }
        let (parent, key) = pointer.rsplit_once('/').expect("a pointer");
        let parent = json.pointer_mut(parent).expect("the parent of the pointer");
        parent[key] = value;
    }

    /// Describes the vocabulary by `tokenizer.json` too.
    pub(crate) fn add_tokenizer(&mut self) {
        let tokens = self.vocabulary.iter().zip(0..);
        let vocabulary: serde_json::Map<_, _> = tokens
            .map(|(piece, token): (_, u32)| (piece.clone(), json!(token)))
            .collect();
        let added = |(content, id): (&String, u32)| {
            json!({
                "id": id, "content": content, "single_word": false, "lstrip": false, "rstrip": false,
                "normalized": false, "special": true,
            })
        };
        let added: Vec<_> = self.vocabulary.iter().take(5).zip(0..).map(added).collect();
        let special = |name: &str| json!({"SpecialToken": {"id": name, "type_id": 0}});
        let tokenizer = json!({
            "version": "1.0",
            "added_tokens": added,
            "normalizer": {
                "type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true,
                "strip_accents": null, "lowercase": true,
            },
            "pre_tokenizer": {"type": "BertPreTokenizer"},
            "post_processor": {
                "type": "TemplateProcessing",
                "single": [special("[CLS]"), {"Sequence": {"id": "A", "type_id": 0}}, special("[SEP]")],
            },
            "model": {
                "type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
                "max_input_chars_per_word": 100, "vocab": vocabulary,
            },
        });
        self.files.insert("tokenizer.json".into(), tokenizer);
    }

    /// The numbers as the file's precision holds them.
    pub(crate) fn rounded(&self) -> BTreeMap<String, Tensor> {
        let round = |(name, tensor): (&String, &Tensor)| {
            let numbers = tensor.numbers.iter().map(|x| match self.precision {
                Precision::F32 => *x,
                Precision::F16 => from_half(half(*x)),
                Precision::Bf16 => f32::from_bits(u32::from(bf16(*x)) << 16),
            });
            let shape = tensor.shape.clone();
            let numbers = numbers.collect();
            (name.clone(), Tensor { shape, numbers })
        };
        self.tensors.iter().map(round).collect()
    }

    /// The bytes of `model.safetensors`.
    pub(crate) fn weights(&self) -> Vec<u8> {
        let (mut header, mut data) = (serde_json::Map::new(), Vec::new());
        header.insert("__metadata__".into(), json!({"format": "pt"}));
        for (name, tensor) in &self.tensors {
            let start = data.len();
            for x in &tensor.numbers {
                match self.precision {
                    Precision::F32 => data.extend(x.to_le_bytes()),
                    Precision::F16 => data.extend(half(*x).to_le_bytes()),
                    Precision::Bf16 => data.extend(bf16(*x).to_le_bytes()),
                }
            }
            let dtype = match self.precision {
                Precision::F32 => "F32",
                Precision::F16 => "F16",
                Precision::Bf16 => "BF16",
            };
            let entry =
                json!({"dtype": dtype, "shape": tensor.shape, "data_offsets": [start, data.len()]});
            header.insert(name.clone(), entry);
        }
        file_of(&Value::Object(header).to_string(), &data)
    }

    /// Writes the model's files into a folder.
    pub(crate) fn write(&self, folder: &Path) {
        for (name, value) in &self.files {
            let path = folder.join(name);
            fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
            fs::write(path, value.to_string()).expect("a file");
        }
        let mut lines = self.vocabulary.join("\n");
        lines.push('\n');
        fs::write(folder.join("vocab.txt"), lines).expect("the vocabulary");
        fs::write(folder.join("model.safetensors"), self.weights()).expect("the weights");
    }

    /// The model in a folder of its own.
    pub(crate) fn folder(&self) -> TempDir {
        let folder = tempfile::tempdir().expect("a folder");
        self.write(folder.path());
        folder
    }
}

/// A file of tensors of a header and data.
pub(crate) fn file_of(header: &str, data: &[u8]) -> Vec<u8> {
    let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
    bytes.extend(header.as_bytes());
    bytes.extend(data);
    bytes
}

fn files() -> BTreeMap<String, Value> {
    let config = json!({
        "architectures": ["BertModel"],
        "model_type": "bert",
        "vocab_size": 200,
        "hidden_size": WIDTH,
        "num_hidden_layers": LAYERS,
        "num_attention_heads": HEADS,
        "intermediate_size": INNER,
        "hidden_act": "gelu",
        "max_position_embeddings": POSITIONS,
        "type_vocab_size": 2,
        "layer_norm_eps": 1e-12,
        "position_embedding_type": "absolute",
        "hidden_dropout_prob": 0.1,
    });
    let modules = json!([
        {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
        {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
        {"idx": 2, "name": "2", "path": "2_Normalize", "type": "sentence_transformers.models.Normalize"},
    ]);
    let pooling = json!({
        "word_embedding_dimension": WIDTH,
        "pooling_mode_cls_token": false,
        "pooling_mode_mean_tokens": true,
        "pooling_mode_max_tokens": false,
    });
    let tokenizer = json!({
        "do_lower_case": true, "strip_accents": null, "tokenize_chinese_chars": true,
        "tokenizer_class": "BertTokenizer", "model_max_length": 512,
    });
    let sentences = json!({"max_seq_length": 24, "do_lower_case": false});
    let prompts = json!({"prompts": {"query": "what is: "}, "default_prompt_name": null});
    [
        ("config.json", config),
        ("modules.json", modules),
        ("1_Pooling/config.json", pooling),
        ("tokenizer_config.json", tokenizer),
        ("sentence_bert_config.json", sentences),
        ("config_sentence_transformers.json", prompts),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .into()
}

/// The first 16 of 32 bits; the rest is cut off.
fn bf16(x: f32) -> u16 {
    (x.to_bits() >> 16) as u16
}

/// A number of 16 bits below a number of 1/8 to 8, in size; the tests have no others but small ones, which become 0.
fn half(x: f32) -> u16 {
    let sign = (x.to_bits() >> 16) as u16 & 0x8000;
    let exponent = (x.to_bits() >> 23 & 0xff) as i32 - 127;
    let digits = (x.to_bits() >> 13 & 0x3ff) as u16;
    match exponent {
        ..-14 => sign,
        _ => sign | ((exponent + 15) as u16) << 10 | digits,
    }
}

fn from_half(half: u16) -> f32 {
    let sign = if half & 0x8000 == 0 { 1.0 } else { -1.0 };
    let (exponent, digits) = (i32::from(half >> 10 & 31), f32::from(half & 0x3ff));
    match exponent {
        0 => sign * digits * 2f32.powi(-24),
        _ => sign * (1024.0 + digits) * 2f32.powi(exponent - 25),
    }
}
