//! The models of a file: a language model, an embedder, or both.
//!
//! Promises: opening the file calls nobody and reads no key; a sentence-transformer in a folder needs no network.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use amem_host::files::{FileKind, read_text};
use amem_host::trust::OthersMay;
use amem_memory::Calibration;
use amem_memory::model::{Model, ModelSource};
use amem_memory::store::Embedder;
use amem_transformer::{Pooling, SentenceModel, TransformerEmbedder};

use crate::budget::DayUsage;
use crate::check::CheckReport;
use crate::embedder::TextEmbedder;
use crate::error::{Error, Result};
use crate::limits::MODELS_FILE_BYTES_MAX;
use crate::model::LanguageModel;
use crate::provider::Provider;
use crate::runtime::ModelRuntime;
use crate::settings::{ModelSettings, document};

/// A sentence-transformer in a folder of this machine.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct LocalSettings {
    #[serde(rename = "provider")]
    _provider: LocalProvider,
    folder: PathBuf,
    query_prefix: Option<String>,
    passage_prefix: Option<String>,
    pooling: Option<PoolingName>,
    normalise: Option<bool>,
    tokens_max: Option<usize>,
    threads: Option<usize>,
    score_middle: Option<f32>,
    score_slope: Option<f32>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum LocalProvider {
    Local,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum PoolingName {
    Mean,
    Cls,
}

/// Which of the two an embedder is.
#[derive(Deserialize)]
struct ProviderName {
    provider: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LanguageTable {
    language: Option<ModelSettings>,
    #[serde(default)]
    embedder: Option<toml::Table>,
}

#[derive(Deserialize)]
struct EmbedderTable<T> {
    embedder: T,
}

/// The models of a file, each of which may be missing.
pub struct ModelHost {
    language: Option<LanguageModel>,
    embedder: Option<HostEmbedder>,
}

/// An embedder of the file.
#[derive(Clone)]
enum HostEmbedder {
    Local(Arc<TransformerEmbedder>, String),
    Remote(Arc<TextEmbedder>),
}

impl fmt::Debug for ModelHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.names()).finish()
    }
}

impl ModelHost {
    /// Opens the models of a file: the tables `language` and `embedder`, of which each may be missing.
    ///
    /// ```toml
    /// [language]
    /// provider = "openai"
    /// model = "qwen3-8b"
    /// base_url = "http://127.0.0.1:8080/v1"
    ///
    /// [embedder]
    /// provider = "local"
    /// folder = "/usr/share/models/all-MiniLM-L6-v2"
    /// ```
    ///
    /// # Errors
    /// If the file cannot be read, is another user's or others may write it, has unknown settings, or its embedder's
    /// folder is no sentence-transformer.
    pub fn open(path: &Path) -> Result<Self> {
        Self::from_toml(&text_of(path)?)
    }

    /// The same from the text of the file.
    ///
    /// # Errors
    /// As `open`.
    pub fn from_toml(text: &str) -> Result<Self> {
        let tables: LanguageTable = document(text)?;
        // The tables first: what names no model needs no thread.
        let runtime = ModelRuntime::start()?;
        let language = match tables.language {
            Some(settings) => {
                settings.check()?;
                Some(LanguageModel::new(settings, &runtime)?)
            }
            None => None,
        };
        let embedder = match &tables.embedder {
            Some(_) => Some(embedder(text, &runtime)?),
            None => None,
        };
        Ok(Self { language, embedder })
    }

    /// Providers, models and servers, for people.
    pub fn names(&self) -> Vec<String> {
        let language = self.language.iter().map(LanguageModel::name);
        let embedder = self.embedder.iter().map(HostEmbedder::name);
        language.chain(embedder).collect()
    }

    /// The language model, for what is no add.
    pub fn language_model(&self) -> Option<&LanguageModel> {
        self.language.as_ref()
    }

    /// One tiny call of each model.
    pub fn check(&self) -> Vec<CheckReport> {
        let language = self.language.iter().map(LanguageModel::check);
        let embedder = self.embedder.iter().map(HostEmbedder::check);
        language.chain(embedder).collect()
    }
}

impl ModelHost {
    /// The embedder, if it is a provider's.
    fn remote(&self) -> Option<&TextEmbedder> {
        match self.embedder.as_ref()? {
            HostEmbedder::Local(..) => None,
            HostEmbedder::Remote(embedder) => Some(embedder.as_ref()),
        }
    }
}

fn embedder(text: &str, runtime: &ModelRuntime) -> Result<HostEmbedder> {
    let named: EmbedderTable<ProviderName> = document(text)?;
    if named.embedder.provider != "local" {
        let of_provider: EmbedderTable<ModelSettings> = document(text)?;
        of_provider.embedder.check()?;
        let embedder = TextEmbedder::new(of_provider.embedder, runtime)?;
        return Ok(HostEmbedder::Remote(Arc::new(embedder)));
    }
    let local: EmbedderTable<LocalSettings> = document(text)?;
    let local = local.embedder;
    let folder = local.folder.display().to_string();
    let settings = amem_transformer::ModelSettings {
        query_prefix: local.query_prefix,
        passage_prefix: local.passage_prefix,
        pooling: local.pooling.map(|pooling| match pooling {
            PoolingName::Mean => Pooling::Mean,
            PoolingName::Cls => Pooling::Cls,
        }),
        normalise: local.normalise,
        tokens_max: local.tokens_max,
        threads: local.threads,
    };
    let model = SentenceModel::open_with(&local.folder, &settings).map_err(|e| Error::Folder {
        folder: folder.clone(),
        why: e.to_string(),
    })?;
    let usual = Calibration::SENTENCES;
    let calibration = Calibration {
        middle: local.score_middle.unwrap_or(usual.middle),
        slope: local.score_slope.unwrap_or(usual.slope),
    };
    let embedder = TransformerEmbedder::with_calibration(Arc::new(model), calibration);
    Ok(HostEmbedder::Local(Arc::new(embedder), folder))
}

impl HostEmbedder {
    fn name(&self) -> String {
        match self {
            Self::Local(_, folder) => format!("local {folder}"),
            Self::Remote(embedder) => embedder.name(),
        }
    }

    fn check(&self) -> CheckReport {
        match self {
            Self::Remote(embedder) => embedder.check(),
            Self::Local(embedder, _) => CheckReport::of(self.name(), || {
                let vector = embedder.embed_query("yes")?;
                let dimensions = vector.map_or(0, |vector| vector.len());
                Ok(format!("it answers ({dimensions} dimensions)"))
            }),
        }
    }
}

/// The variables in which a daemon with this file of models looks for keys: a program that starts the daemon hands
/// these on, and no keys beside.
///
/// # Errors
/// If the file cannot be read, is another user's, or others may write it.
pub fn key_variables(path: &Path) -> Result<Vec<String>> {
    let tables: BTreeMap<String, toml::Table> = document(&text_of(path)?)?;
    let mut out = Vec::new();
    for table in tables.values() {
        if table.contains_key("key_file") || table.contains_key("key_command") {
            continue;
        }
        let named = table.get("key_env").and_then(toml::Value::as_str);
        let provider = table.get("provider").cloned();
        match (named, provider.map(Provider::deserialize)) {
            (Some(name), _) => out.push(name.to_owned()),
            (None, Some(Ok(provider))) => {
                let usual = provider.key_variables().iter();
                out.extend(usual.map(|name| (*name).to_owned()));
            }
            // A local embedder has no key.
            (None, _) => {}
        }
    }
    Ok(out)
}

/// The text of a file of models. It may name a command that prints a key: what others may write is not run.
fn text_of(path: &Path) -> Result<String> {
    let failed = |why: String| Error::File {
        path: path.display().to_string(),
        why,
    };
    let kind = FileKind::Settings(OthersMay::Read);
    let text = read_text(path, kind, MODELS_FILE_BYTES_MAX).map_err(|e| failed(e.why()))?;
    text.ok_or_else(|| failed("there is no such file".to_owned()))
}

/// Opens the models of a file for a program that knows only the port; an error says why it cannot.
///
/// # Errors
/// As `ModelHost::open`, in words.
pub fn open(path: &Path) -> std::result::Result<Arc<dyn ModelSource>, String> {
    let host = ModelHost::open(path).map_err(|error| error.to_string())?;
    Ok(Arc::new(host))
}

impl ModelSource for ModelHost {
    fn language(&self) -> Option<Box<dyn Model>> {
        let language = self.language.as_ref()?;
        Some(Box::new(language.begin()))
    }

    fn embedder(&self) -> Option<Arc<dyn Embedder + Send + Sync>> {
        Some(match self.embedder.as_ref()? {
            HostEmbedder::Local(embedder, _) => embedder.clone(),
            HostEmbedder::Remote(embedder) => embedder.clone(),
        })
    }

    fn usage(&self) -> Option<String> {
        let remote = self.remote();
        if self.language.is_none() && remote.is_none() {
            return None;
        }
        let usage = HostUsage {
            language: self.language.as_ref().map(LanguageModel::usage),
            embedder: remote.map(|embedder| embedder.usage()),
        };
        serde_json::to_string(&usage).ok()
    }

    fn restore(&self, usage: &str) -> std::result::Result<(), String> {
        let before: HostUsage = serde_json::from_str(usage).map_err(|e| e.to_string())?;
        if let (Some(model), Some(usage)) = (&self.language, before.language) {
            model.restore(usage);
        }
        if let (Some(embedder), Some(usage)) = (self.remote(), before.embedder) {
            embedder.restore(usage);
        }
        Ok(())
    }
}

/// What was used of the budgets of a day.
#[derive(Serialize, Deserialize)]
struct HostUsage {
    #[serde(default)]
    language: Option<DayUsage>,
    #[serde(default)]
    embedder: Option<DayUsage>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(text: &str) -> String {
        let host = ModelHost::from_toml(text);
        host.map_or_else(|error| error.to_string(), |host| format!("{host:?}"))
    }

    #[test]
    fn a_file_names_a_language_model_an_embedder_or_both() {
        let both = "[language]\nprovider = \"ollama\"\nmodel = \"small\"\n[embedder]\nprovider = \"ollama\"\nmodel = \"e\"\n";
        let host = ModelHost::from_toml(both).unwrap();
        assert!(host.language().is_some() && host.embedder().is_some());
        assert_eq!(host.names().len(), 2);
        let none = ModelHost::from_toml("").unwrap();
        assert!(none.language().is_none() && none.embedder().is_none() && none.check().is_empty());
    }

    #[test]
    fn a_file_that_others_may_write_or_that_is_a_pipe_is_refused_and_runs_nothing() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let (path, marker) = (folder.path().join("models.toml"), folder.path().join("ran"));
        let command = format!("[\"touch\", {:?}]", marker.to_str().unwrap());
        let text = format!(
            "[language]\nprovider = \"openai\"\nmodel = \"m\"\nbase_url = \"http://127.0.0.1:1/v1\"\nkey_command = {command}\n"
        );
        std::fs::write(&path, text).unwrap();
        for (mode, is_taken) in [(0o600, true), (0o644, true), (0o646, false), (0o666, false)] {
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
            let opened = ModelHost::open(&path);
            assert_eq!(opened.is_ok(), is_taken, "{mode:o}");
            let why = opened.err().map(|error| error.to_string());
            assert!(why.is_none_or(|why| why.contains("chmod go-w")), "{mode:o}");
        }
        assert!(!marker.exists());
        let pipe = folder.path().join("pipe");
        let made = std::process::Command::new("mkfifo")
            .arg(&pipe)
            .status()
            .unwrap();
        assert!(made.success());
        let why = ModelHost::open(&pipe).unwrap_err().to_string();
        assert!(why.contains("not a regular file"), "{why}");
    }

    #[test]
    fn the_variables_of_keys_are_those_that_the_file_names() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("models.toml");
        let model = |more: &str| format!("provider = \"openai\"\nmodel = \"m\"\n{more}\n");
        for (text, variables) in [
            (String::new(), vec![]),
            (format!("[language]\n{}", model("")), vec!["OPENAI_API_KEY"]),
            (
                format!(
                    "[language]\n{}[embedder]\nprovider = \"google\"\nmodel = \"e\"\n",
                    model("key_env = \"LAN_KEY\"")
                ),
                vec!["GOOGLE_API_KEY", "GEMINI_API_KEY", "LAN_KEY"],
            ),
            (
                format!("[language]\n{}", model("key_file = \"/k\"")),
                vec![],
            ),
            (
                format!("[language]\n{}", model("key_command = [\"k\"]")),
                vec![],
            ),
            (
                "[embedder]\nprovider = \"local\"\nfolder = \"/m\"\n".to_owned(),
                vec![],
            ),
        ] {
            std::fs::write(&path, &text).unwrap();
            assert_eq!(key_variables(&path).unwrap(), variables, "{text}");
        }
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o666)).unwrap();
        assert!(key_variables(&path).is_err());
    }

    #[test]
    fn what_is_wrong_is_said_without_repeating_the_file() {
        for (text, part) in [
            ("[langage]\n", "langage"),
            ("[language]\nprovider = \"openai\"\n", "model"),
            (
                "[language]\nprovider = \"ollama\"\nmodel = \"m\"\nkey = \"sk-secret\"\n",
                "key",
            ),
            (
                "[embedder]\nprovider = \"local\"\nfolder = \"/nowhere\"\n",
                "/nowhere",
            ),
            ("[embedder]\nprovider = \"local\"\n", "folder"),
            ("[embedder]\nmodel = \"e\"\n", "provider"),
            ("embedder = 3\n", "line 1"),
        ] {
            let said = refusal(text);
            assert!(
                said.contains(part) && !said.contains("sk-secret"),
                "{text}: {said}"
            );
        }
    }
}
