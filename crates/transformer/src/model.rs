//! A sentence-transformer from a folder.

use std::num::NonZero;
use std::path::Path;
use std::thread::available_parallelism;

use amem_query::embed::vector_space;
use uuid::Uuid;
use xxhash_rust::xxh3::Xxh3;

use crate::batches;
use crate::config::BertConfig;
use crate::encoder::Encoder;
use crate::error::{Error, Result};
use crate::files::ModelFolder;
use crate::limits::THREADS_MAX;
use crate::modules::SentenceSteps;
use crate::safetensors::TensorFile;
use crate::settings::{ModelSettings, Pooling};
use crate::tokenizer::{Tokenizer, TokenizerParts};
use crate::weights::BertWeights;
use amem_kernels::Kernels;

/// The name of this computation. Another result for the same model needs another name.
const SPACE_NAME: &str = "amem-transformer-1";
/// Tokens of the shortest text that says anything: the first, one, the last.
const TOKENS_MIN: usize = 3;

/// What a text is to a search. Some models embed the two differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextRole {
    /// What is asked.
    Query,
    /// What is found.
    Passage,
}

/// A sentence-transformer, ready to embed.
///
/// Vectors of one text are the same in any batch and with any number of threads, to the bit.
#[derive(Debug)]
pub struct SentenceModel {
    encoder: Encoder,
    tokenizer: Tokenizer,
    query_prefix: String,
    passage_prefix: String,
    tokens_max: usize,
    threads: usize,
    space: Uuid,
}

impl SentenceModel {
    /// Opens a model as its files say.
    pub fn open(folder: impl AsRef<Path>) -> Result<Self> {
        Self::open_with(folder, &ModelSettings::default())
    }

    /// Opens a model with settings.
    pub fn open_with(folder: impl AsRef<Path>, settings: &ModelSettings) -> Result<Self> {
        let folder = ModelFolder::open(folder.as_ref())?;
        let threads = threads(settings)?;
        let steps = SentenceSteps::read(&folder, settings)?;
        let config = BertConfig::read(&steps.transformer)?;
        steps.check_width(config.width)?;
        let TokenizerParts {
            tokenizer,
            tokens_max,
        } = Tokenizer::read(&steps.transformer, config.vocabulary, steps.lower_case)?;
        // Older models say the length in their own file, newer ones in the tokenizer's.
        let of_files = steps.tokens_max.or(tokens_max).unwrap_or(config.positions);
        let of_files = of_files.clamp(TOKENS_MIN, config.positions);
        let tokens_max = settings.tokens_max.unwrap_or(of_files);
        if !(TOKENS_MIN..=config.positions).contains(&tokens_max) {
            let most = config.positions;
            return Err(Error::Setting {
                name: "tokens_max",
                found: tokens_max.to_string(),
                remedy: format!("this model takes {TOKENS_MIN} to {most} tokens"),
            });
        }
        let mut file = TensorFile::open(&steps.transformer)?;
        let weights = BertWeights::read(&config, &mut file)?;
        let mut hash = Xxh3::new();
        hash.update(&file.hash().to_le_bytes());
        config.hash(&mut hash);
        hash.update(match steps.pooling {
            Pooling::Mean => b"mean",
            Pooling::Cls => b"cls ",
        });
        hash.update(&[u8::from(steps.normalise)]);
        hash.update(&(tokens_max as u64).to_le_bytes());
        for prefix in [&steps.query_prefix, &steps.passage_prefix] {
            hash.update(&(prefix.len() as u64).to_le_bytes());
            hash.update(prefix.as_bytes());
        }
        tokenizer.hash(&mut hash);
        let name = format!("{SPACE_NAME}:{:032x}", hash.digest128());
        let space = vector_space(&name, config.width as u32);
        let encoder = Encoder {
            config,
            weights,
            pooling: steps.pooling,
            normalise: steps.normalise,
            kernels: Kernels::best(),
        };
        Ok(Self {
            encoder,
            tokenizer,
            query_prefix: steps.query_prefix,
            passage_prefix: steps.passage_prefix,
            tokens_max,
            threads,
            space,
        })
    }

    /// The vector space: a hash of the weights and of every setting that changes a vector. It names no model and does
    /// not depend on where the folder is.
    pub fn space(&self) -> Uuid {
        self.space
    }

    /// Numbers of a vector.
    pub fn dimension(&self) -> usize {
        self.encoder.config.width
    }

    /// Tokens of a text; the rest of a longer one is cut off.
    pub fn tokens_max(&self) -> usize {
        self.tokens_max
    }

    /// The tokens of a text with its prefix, with the first and the last one.
    pub fn tokens(&self, role: TextRole, text: &str) -> Vec<u32> {
        match self.prefix(role) {
            "" => self.tokenizer.encode(text, self.tokens_max),
            prefix => {
                let text = [prefix, text].concat();
                self.tokenizer.encode(&text, self.tokens_max)
            }
        }
    }

    /// True if a text has tokens of its own, apart from its prefix.
    pub fn has_tokens(&self, text: &str) -> bool {
        self.tokenizer.has_tokens(text)
    }

    /// One vector for each text, in order; an empty text has one too.
    pub fn embed(&self, role: TextRole, texts: &[&str]) -> Vec<Vec<f32>> {
        let tokens: Vec<_> = texts.iter().map(|text| self.tokens(role, text)).collect();
        batches::embed(&self.encoder, &tokens, self.threads)
    }

    fn prefix(&self, role: TextRole) -> &str {
        match role {
            TextRole::Query => &self.query_prefix,
            TextRole::Passage => &self.passage_prefix,
        }
    }
}

fn threads(settings: &ModelSettings) -> Result<usize> {
    match settings.threads {
        None => Ok(available_parallelism()
            .map_or(1, NonZero::get)
            .min(THREADS_MAX)),
        Some(threads @ 1..=THREADS_MAX) => Ok(threads),
        Some(other) => Err(Error::Setting {
            name: "threads",
            found: other.to_string(),
            remedy: format!("set 1 to {THREADS_MAX}"),
        }),
    }
}
