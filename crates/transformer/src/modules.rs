//! What a sentence-transformer adds to a model: pooling, scaling, prefixes and the length of texts.
//!
//! `modules.json` lists the steps and their folders; `config_sentence_transformers.json` has the prefixes.

use std::collections::BTreeMap;
use std::path::{Component, Path};

use serde::Deserialize;
use serde_json::Value;

use crate::error::{Error, Result};
use crate::files::ModelFolder;
use crate::limits::{SETTINGS_BYTES_MAX, TOKEN_BYTES_MAX};
use crate::settings::{ModelSettings, Pooling};

const MODULES: &str = "modules.json";
const PROMPTS: &str = "config_sentence_transformers.json";
const SENTENCES: &str = "sentence_bert_config.json";
const POOLING: &str = "config.json";

const OTHER_STEPS: &str =
    "choose a model of a transformer, pooling by the mean or the first token, and scaling";

/// The steps around the forward pass.
#[derive(Debug)]
pub(crate) struct SentenceSteps {
    /// The folder of the transformer: the model's folder, or one below it.
    pub(crate) transformer: ModelFolder,
    pub(crate) pooling: Pooling,
    pub(crate) normalise: bool,
    pub(crate) query_prefix: String,
    pub(crate) passage_prefix: String,
    /// Tokens of a text, if the files bound them.
    pub(crate) tokens_max: Option<usize>,
    /// Texts are in lower case, whatever the tokenizer says.
    pub(crate) lower_case: bool,
    /// Numbers of a vector, if the pooling says it, and its file.
    width: Option<(usize, std::path::PathBuf)>,
}

#[derive(Debug, Deserialize)]
struct ModuleEntry {
    path: String,
    #[serde(rename = "type")]
    kind: String,
}

#[derive(Debug, Default, Deserialize)]
struct PromptsFile {
    #[serde(default)]
    prompts: BTreeMap<String, String>,
    default_prompt_name: Option<String>,
}

impl PromptsFile {
    /// The first of the prompts that says something. Newer files have an empty one for "document" beside others. An
    /// empty one alone means no prefix; without any, the default one counts.
    fn of(&self, names: &[&str]) -> &str {
        let found = names.iter().filter_map(|name| self.prompts.get(*name));
        let default = self.default_prompt_name.iter();
        let default = default.filter_map(|name| self.prompts.get(name)).next();
        let chosen = match found.clone().find(|prompt| !prompt.is_empty()) {
            None if found.count() == 0 => default,
            chosen => chosen,
        };
        chosen.map_or("", |prompt| prompt)
    }
}

#[derive(Debug, Default, Deserialize)]
struct SentencesFile {
    max_seq_length: Option<u64>,
    do_lower_case: Option<bool>,
    transformer_task: Option<String>,
}

#[derive(Debug, Deserialize)]
struct PoolingFile {
    pooling_mode: Option<Value>,
    embedding_dimension: Option<usize>,
    word_embedding_dimension: Option<usize>,
    include_prompt: Option<bool>,
    /// The older form: a switch for each mode.
    #[serde(flatten)]
    rest: BTreeMap<String, Value>,
}

impl SentenceSteps {
    /// Reads a folder's files; settings go before them.
    pub(crate) fn read(folder: &ModelFolder, settings: &ModelSettings) -> Result<Self> {
        let modules: Option<Vec<ModuleEntry>> = folder.json(MODULES, SETTINGS_BYTES_MAX)?;
        let modules = modules.unwrap_or_default();
        let kinds = modules.iter().map(|module| {
            let name = module.kind.rsplit('.').next();
            name.unwrap_or_default().to_owned()
        });
        let kinds: Vec<String> = kinds.collect();
        let (pooling_at, normalise) = match kinds.iter().map(String::as_str).collect::<Vec<_>>()[..]
        {
            [] | ["Transformer"] => (None, false),
            ["Transformer", "Pooling"] => (Some(1), false),
            ["Transformer", "Pooling", "Normalize"] => (Some(1), true),
            _ => {
                let what = format!("the steps {}", kinds.join(", "));
                return Err(folder.unsupported(MODULES, what, OTHER_STEPS));
            }
        };
        let path = modules.first().map_or("", |module| &module.path);
        let transformer = below(folder, path)?;
        let (mut pooling, mut width, mut is_prefix_pooled) = (None, None, true);
        if let Some(module) = pooling_at.and_then(|at: usize| modules.get(at)) {
            let below = below(folder, &module.path)?;
            let remedy = "fetch the whole model: modules.json names this file";
            let file: Option<PoolingFile> = below.json(POOLING, SETTINGS_BYTES_MAX)?;
            let file = file.ok_or_else(|| below.missing(POOLING, "the file", remedy))?;
            if settings.pooling.is_none() {
                pooling = Some(file.pooling(&below)?);
            }
            let found = file.embedding_dimension.or(file.word_embedding_dimension);
            width = found.map(|width| (width, below.path(POOLING)));
            is_prefix_pooled = file.include_prompt != Some(false);
        }
        let remedy =
            "fetch it, or say in the settings how tokens are pooled; most models take their mean";
        let missing = || folder.missing(MODULES, "the file, or pooling in it,", remedy);
        let pooling = settings.pooling.or(pooling).ok_or_else(missing)?;
        let prompts: Option<PromptsFile> = folder.json(PROMPTS, SETTINGS_BYTES_MAX)?;
        let prompts = prompts.unwrap_or_default();
        let prefix = |own: &Option<String>, names: &[&str]| {
            let own = own.clone();
            own.unwrap_or_else(|| prompts.of(names).to_owned())
        };
        let sentences: Option<SentencesFile> = transformer.json(SENTENCES, SETTINGS_BYTES_MAX)?;
        let sentences = sentences.unwrap_or_default();
        if let Some(task) = sentences
            .transformer_task
            .filter(|t| t != "feature-extraction")
        {
            let what = format!("\"transformer_task\" {task:?}");
            return Err(transformer.unsupported(SENTENCES, what, OTHER_STEPS));
        }
        let steps = Self {
            pooling,
            normalise: settings.normalise.unwrap_or(normalise),
            query_prefix: prefix(&settings.query_prefix, &["query"]),
            passage_prefix: prefix(&settings.passage_prefix, &["document", "passage", "corpus"]),
            tokens_max: sentences.max_seq_length.map(|most| most as usize),
            lower_case: sentences.do_lower_case == Some(true),
            width,
            transformer,
        };
        for (name, prefix) in [
            ("query_prefix", &steps.query_prefix),
            ("passage_prefix", &steps.passage_prefix),
        ] {
            if prefix.len() > TOKEN_BYTES_MAX {
                return Err(Error::Setting {
                    name,
                    found: format!("{} bytes long", prefix.len()),
                    remedy: format!("a prefix has {TOKEN_BYTES_MAX} bytes at most"),
                });
            }
            if !prefix.is_empty() && !is_prefix_pooled && pooling == Pooling::Mean {
                let what = "pooling without the prefix (\"include_prompt\" false)";
                return Err(folder.unsupported(MODULES, what, OTHER_STEPS));
            }
        }
        Ok(steps)
    }

    /// Checks that the pooling is for vectors of a width.
    pub(crate) fn check_width(&self, expected: usize) -> Result<()> {
        match &self.width {
            Some((found, path)) if *found != expected => Err(Error::Mismatch {
                path: path.clone(),
                what: "the dimension of a vector".into(),
                found: found.to_string(),
                expected: format!("{expected}, the \"hidden_size\" of config.json"),
            }),
            _ => Ok(()),
        }
    }
}

/// A folder below another; a path that leads out of it is refused.
fn below(folder: &ModelFolder, path: &str) -> Result<ModelFolder> {
    let is_normal = |part: Component<'_>| matches!(part, Component::Normal(_));
    if !Path::new(path).components().all(is_normal) {
        let what = format!("the path {path:?} leads out of the folder");
        return Err(folder.damaged(MODULES, what));
    }
    ModelFolder::open(&folder.path(path))
}

impl PoolingFile {
    fn pooling(&self, folder: &ModelFolder) -> Result<Pooling> {
        let switches = self
            .rest
            .iter()
            .filter(|(key, on)| key.starts_with("pooling_mode_") && **on == Value::Bool(true));
        let modes: Vec<String> = match &self.pooling_mode {
            Some(Value::String(mode)) => vec![mode.clone()],
            Some(other) => vec![other.to_string()],
            None => switches.map(|(key, _)| key.clone()).collect(),
        };
        match modes.iter().map(String::as_str).collect::<Vec<_>>()[..] {
            ["mean" | "pooling_mode_mean_tokens"] => Ok(Pooling::Mean),
            ["cls" | "pooling_mode_cls_token"] => Ok(Pooling::Cls),
            [] => Err(folder.damaged(POOLING, "no mode of pooling is set")),
            _ => {
                let what = format!("the pooling {}", modes.join(" with "));
                Err(folder.unsupported(POOLING, what, OTHER_STEPS))
            }
        }
    }
}
