//! `config.json`: the shape of the model.

use serde::Deserialize;
use xxhash_rust::xxh3::Xxh3;

use crate::error::{Error, Result};
use crate::files::ModelFolder;
use crate::limits::{LAYERS_MAX, POSITIONS_MAX, SETTINGS_BYTES_MAX, VOCABULARY_MAX, WIDTH_MAX};

const FILE: &str = "config.json";

/// The function between the two halves of a layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Activation {
    Gelu,
    GeluTanh,
    Relu,
}

/// The shape of a BERT model.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct BertConfig {
    pub(crate) vocabulary: usize,
    pub(crate) width: usize,
    pub(crate) inner_width: usize,
    pub(crate) layers: usize,
    pub(crate) heads: usize,
    pub(crate) positions: usize,
    pub(crate) types: usize,
    pub(crate) epsilon: f32,
    pub(crate) activation: Activation,
}

/// The file. Keys that are absent have BERT's defaults.
#[derive(Debug, Deserialize)]
struct ConfigFile {
    model_type: Option<String>,
    vocab_size: Option<u64>,
    hidden_size: Option<u64>,
    intermediate_size: Option<u64>,
    num_hidden_layers: Option<u64>,
    num_attention_heads: Option<u64>,
    max_position_embeddings: Option<u64>,
    type_vocab_size: Option<u64>,
    layer_norm_eps: Option<f64>,
    hidden_act: Option<String>,
    position_embedding_type: Option<String>,
    is_decoder: Option<bool>,
}

const OTHER_MODEL: &str = "choose a sentence-transformer of the BERT family, such as all-MiniLM-L6-v2, \
     bge-small-en-v1.5 or e5-small-v2";

impl BertConfig {
    /// Reads and checks the file.
    pub(crate) fn read(folder: &ModelFolder) -> Result<Self> {
        let file: Option<ConfigFile> = folder.json(FILE, SETTINGS_BYTES_MAX)?;
        let remedy =
            "give the folder of a sentence-transformer, with config.json and model.safetensors";
        let file = file.ok_or_else(|| folder.missing(FILE, "the file", remedy))?;
        let unsupported = |what: String| Err(folder.unsupported(FILE, what, OTHER_MODEL));
        match file.model_type.as_deref() {
            Some("bert") => {}
            Some(other) => return unsupported(format!("the architecture {other:?}")),
            None => return unsupported("a model without \"model_type\"".into()),
        }
        if file.is_decoder == Some(true) {
            return unsupported("a decoder".into());
        }
        match file.position_embedding_type.as_deref() {
            None | Some("absolute") => {}
            Some(other) => return unsupported(format!("\"position_embedding_type\" {other:?}")),
        }
        let activation = match file.hidden_act.as_deref() {
            None | Some("gelu") => Activation::Gelu,
            Some("gelu_new" | "gelu_pytorch_tanh") => Activation::GeluTanh,
            Some("relu") => Activation::Relu,
            Some(other) => return unsupported(format!("\"hidden_act\" {other:?}")),
        };
        let number = |key: &str, value: Option<u64>, default: u64, most: u64| {
            let found = value.unwrap_or(default);
            if found == 0 {
                return Err(folder.damaged(FILE, format!("\"{key}\" is 0")));
            }
            if found > most {
                return Err(Error::Limit {
                    path: folder.path(FILE),
                    what: format!("\"{key}\""),
                    found,
                    most,
                });
            }
            Ok(found as usize)
        };
        let config = Self {
            vocabulary: number("vocab_size", file.vocab_size, 30522, VOCABULARY_MAX)?,
            width: number("hidden_size", file.hidden_size, 768, WIDTH_MAX)?,
            inner_width: number("intermediate_size", file.intermediate_size, 3072, WIDTH_MAX)?,
            layers: number("num_hidden_layers", file.num_hidden_layers, 12, LAYERS_MAX)?,
            heads: number(
                "num_attention_heads",
                file.num_attention_heads,
                12,
                WIDTH_MAX,
            )?,
            positions: number(
                "max_position_embeddings",
                file.max_position_embeddings,
                512,
                POSITIONS_MAX,
            )?,
            types: number("type_vocab_size", file.type_vocab_size, 2, WIDTH_MAX)?,
            epsilon: file.layer_norm_eps.unwrap_or(1e-12) as f32,
            activation,
        };
        if !(config.epsilon >= 0.0 && config.epsilon < 1.0) {
            let found = config.epsilon;
            return Err(folder.damaged(FILE, format!("\"layer_norm_eps\" is {found}")));
        }
        if !config.width.is_multiple_of(config.heads) {
            let (width, heads) = (config.width, config.heads);
            let what = format!("\"hidden_size\" {width} is no multiple of {heads} heads");
            return Err(folder.damaged(FILE, what));
        }
        if config.positions < 3 {
            return Err(folder.damaged(FILE, "\"max_position_embeddings\" leaves no token"));
        }
        Ok(config)
    }

    /// Adds all that decides about a vector to a hash.
    pub(crate) fn hash(&self, hash: &mut Xxh3) {
        let numbers = [
            self.vocabulary,
            self.width,
            self.inner_width,
            self.layers,
            self.heads,
            self.positions,
            self.types,
        ];
        for number in numbers {
            hash.update(&(number as u64).to_le_bytes());
        }
        hash.update(&self.epsilon.to_le_bytes());
        hash.update(match self.activation {
            Activation::Gelu => b"gelu",
            Activation::GeluTanh => b"tanh",
            Activation::Relu => b"relu",
        });
    }

    /// Numbers of a head.
    pub(crate) fn head_width(&self) -> usize {
        self.width / self.heads
    }
}
