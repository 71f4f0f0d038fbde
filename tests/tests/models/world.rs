//! A folder of brains, its daemon, and the model that the daemon is set up with.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use amem_client::v1;
use amem_scripted::{KEY, Protocol, ScriptedServer};
use tempfile::TempDir;

use crate::process::{Daemon, folder};
use crate::scripted::{Behaviour, server};

/// The name of the scripted models: no word of it may be in a brain.
pub(crate) const MODEL: &str = "quixotic-large-9000";

/// A provider, and how its model behaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ScriptedModel(pub(crate) Protocol, pub(crate) Behaviour);

/// The two of the paper: a large one in the cloud, a small one on this machine; and a third.
pub(crate) const LARGE: ScriptedModel = ScriptedModel(Protocol::Openai, Behaviour::Exact);
pub(crate) const SMALL: ScriptedModel = ScriptedModel(Protocol::Ollama, Behaviour::Loose);
pub(crate) const THIRD: ScriptedModel = ScriptedModel(Protocol::Anthropic, Behaviour::Exact);

pub(crate) struct World {
    folder: TempDir,
    daemon: Option<Daemon>,
    pub(crate) server: Option<ScriptedServer>,
}

fn whose() -> Option<v1::Scope> {
    Some(v1::Scope {
        user: Some("ada".into()),
        ..v1::Scope::default()
    })
}

impl World {
    /// A daemon without a model.
    pub(crate) fn new() -> Self {
        let folder = folder();
        fs::create_dir(folder.path().join("brains")).unwrap();
        Self {
            folder,
            daemon: None,
            server: None,
        }
    }

    pub(crate) fn with(model: ScriptedModel) -> Self {
        let mut world = Self::new();
        world.switch(model);
        world
    }

    pub(crate) fn brains(&self) -> PathBuf {
        self.folder.path().join("brains")
    }

    fn models_file(&self) -> PathBuf {
        self.folder.path().join("models.toml")
    }

    pub(crate) fn daemon(&self) -> &Daemon {
        self.daemon.as_ref().unwrap()
    }

    /// Another model from now on: the daemon starts again.
    pub(crate) fn switch(&mut self, model: ScriptedModel) {
        let server = server(model.0, model.1);
        let text = format!(
            "[language]\nprovider = \"{}\"\nmodel = \"{MODEL}\"\nbase_url = \"{}\"\n{}proxy = \"none\"\n",
            model.0.name(),
            server.url(),
            self.key_line(model.0),
        );
        self.start(&text);
        self.server = Some(server);
    }

    /// Where the key is: a file that only its owner reads.
    pub(crate) fn key_line(&self, protocol: Protocol) -> String {
        if protocol == Protocol::Ollama {
            return String::new();
        }
        let file = self.folder.path().join("key");
        fs::write(&file, KEY).unwrap();
        Command::new("chmod")
            .arg("600")
            .arg(&file)
            .status()
            .unwrap();
        format!("key_file = \"{}\"\n", file.display())
    }

    /// The daemon again, with this file of models.
    pub(crate) fn start(&mut self, models: &str) {
        if let Some(daemon) = self.daemon.take() {
            assert!(daemon.stop().success());
        }
        fs::write(self.models_file(), models).unwrap();
        let setting = format!("models.file={}", self.models_file().display());
        self.daemon = Some(Daemon::start_with(&self.brains(), &["--set", &setting]));
    }

    /// Says something in a session of its own.
    pub(crate) async fn say(&self, session: &str, said: &str) -> v1::AddFactsResponse {
        let client = self.daemon().client().await;
        let list = v1::ListFactsRequest {
            scope: whose(),
            ..v1::ListFactsRequest::default()
        };
        client.facts().list_facts(list).await.unwrap();
        let open = v1::OpenSessionRequest {
            brain: "memories".into(),
            key: session.into(),
            ..v1::OpenSessionRequest::default()
        };
        let opened = client.memory().open_session(open).await.unwrap();
        let request = v1::AddFactsRequest {
            messages: vec![v1::FactMessage {
                text: said.into(),
                ..v1::FactMessage::default()
            }],
            scope: whose(),
            session_id: opened.into_inner().session_id,
            ..v1::AddFactsRequest::default()
        };
        client
            .facts()
            .add_facts(request)
            .await
            .unwrap()
            .into_inner()
    }

    pub(crate) async fn memories(&self) -> Vec<v1::Fact> {
        let client = self.daemon().client().await;
        let list = v1::ListFactsRequest {
            scope: whose(),
            page_size: 1_000,
            ..v1::ListFactsRequest::default()
        };
        client
            .facts()
            .list_facts(list)
            .await
            .unwrap()
            .into_inner()
            .facts
    }

    pub(crate) async fn texts(&self) -> Vec<String> {
        let mut texts: Vec<String> = self
            .memories()
            .await
            .into_iter()
            .map(|fact| fact.memory)
            .collect();
        texts.sort();
        texts
    }

    /// What the model that is set up now answers with what it is given from memory.
    pub(crate) fn ask(&self, question: &str) -> String {
        let ran = Command::new(env!("CARGO_BIN_EXE_amem-tested-ctl"))
            .env_clear()
            .args(["chat", question, "--user", "ada", "--json", "--models"])
            .arg(self.models_file())
            .arg("--socket")
            .arg(&self.daemon().socket)
            .output()
            .unwrap();
        assert!(ran.status.success(), "{ran:?}");
        let turn: serde_json::Value = serde_json::from_slice(&ran.stdout).unwrap();
        assert!(turn["memoryError"].is_null(), "{turn}");
        turn["answer"].as_str().unwrap().to_owned()
    }

    /// No file of brains has a word of a model, its provider or its key.
    pub(crate) fn check_no_traces(&self) {
        for word in [
            "openai",
            "ollama",
            "anthropic",
            "google",
            "azure",
            MODEL,
            KEY,
            "gpt",
            "127.0.0.1",
        ] {
            for form in [word.to_owned(), word.to_uppercase()] {
                let found = crate::process::files_with(&self.brains(), form.as_bytes());
                assert_eq!(found, Vec::<PathBuf>::new(), "{form}");
            }
        }
    }
}
