//! A home folder of its own, with what connect does to it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use amem_agents::{
    AgentClient, ClientStatus, ConnectPlan, Locations, Program, SettingsError, status,
};
use tempfile::TempDir;

pub(crate) struct Rig {
    folder: TempDir,
}

impl Rig {
    pub(crate) fn new() -> Self {
        Self {
            folder: TempDir::new().unwrap(),
        }
    }

    pub(crate) fn home(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn locations(&self) -> Locations {
        Locations::new(self.home()).unwrap().with_mac_layout(false)
    }

    pub(crate) fn program(&self) -> Program {
        Program::new("/opt/amem/bin/amemctl", true)
    }

    pub(crate) fn plan(&self, client: AgentClient) -> ConnectPlan {
        ConnectPlan::connect(&self.locations(), &[client], &self.program()).unwrap()
    }

    pub(crate) fn connect(&self, client: AgentClient) {
        self.plan(client).write().unwrap();
    }

    pub(crate) fn connect_with(&self, client: AgentClient, program: &str) {
        let program = Program::new(program, false);
        let plan = ConnectPlan::connect(&self.locations(), &[client], &program).unwrap();
        plan.write().unwrap();
    }

    pub(crate) fn connect_error(&self, client: AgentClient) -> SettingsError {
        ConnectPlan::connect(&self.locations(), &[client], &self.program()).unwrap_err()
    }

    pub(crate) fn disconnect(&self, client: AgentClient) {
        let plan = ConnectPlan::disconnect(&self.locations(), &[client], &self.program());
        plan.unwrap().write().unwrap();
    }

    pub(crate) fn status(&self, client: AgentClient) -> ClientStatus {
        status(&self.locations(), client, &self.program()).unwrap()
    }

    /// Connects twice and disconnects twice; returns the text between.
    pub(crate) fn round_trip(&self, client: AgentClient, file: &str) -> String {
        let before = self.tree();
        self.connect(client);
        let status = self.status(client);
        assert_eq!(status.server, "yes", "{}", self.read(file));
        assert!(
            ["yes", "none"].contains(&status.hooks),
            "{}",
            self.read(file)
        );
        let connected = self.tree();
        assert!(self.plan(client).changes().is_empty());
        self.connect(client);
        assert_eq!(self.tree(), connected);
        let text = self.read(file);
        self.disconnect(client);
        assert_eq!(self.tree(), before, "{text}");
        self.disconnect(client);
        assert_eq!(self.tree(), before);
        text
    }

    pub(crate) fn write(&self, file: &str, text: &str) {
        self.write_bytes(file, text.as_bytes());
    }

    pub(crate) fn write_bytes(&self, file: &str, bytes: &[u8]) {
        let path = self.home().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    pub(crate) fn read(&self, file: &str) -> String {
        let path = self.home().join(file);
        fs::read_to_string(&path).unwrap_or_else(|e| panic!("{file}: {e}"))
    }

    pub(crate) fn remove(&self, file: &str) {
        fs::remove_file(self.home().join(file)).unwrap();
    }

    pub(crate) fn exists(&self, file: &str) -> bool {
        self.home().join(file).exists()
    }

    /// What a JSON text says, without comments and without what is empty.
    pub(crate) fn values(&self, file: &str, text: &str) -> serde_json::Value {
        let text = text.trim_start_matches('\u{feff}');
        let mut bare = String::new();
        for line in text.lines() {
            let line = if line.contains("://") {
                line
            } else {
                line.split("//").next().unwrap()
            };
            let mut rest = line;
            while let Some((front, back)) = rest.split_once("/*") {
                bare.push_str(front);
                rest = back.split_once("*/").unwrap_or_default().1;
            }
            bare.push_str(rest);
        }
        let bare: String = bare.split_whitespace().collect::<Vec<_>>().join(" ");
        let bare = bare
            .replace(", }", "}")
            .replace(",}", "}")
            .replace(",]", "]")
            .replace("1e400", "1");
        if bare.is_empty() {
            return serde_json::json!({});
        }
        let value = serde_json::from_str(&bare).unwrap_or_else(|e| panic!("{file}: {e}: {bare}"));
        without_empty(value)
    }

    /// Every file with its bytes, but the record.
    pub(crate) fn tree(&self) -> BTreeMap<String, Vec<u8>> {
        let files = self.files().into_iter();
        let bytes = files.map(|file| (file.clone(), fs::read(self.home().join(&file)).unwrap()));
        bytes.collect()
    }

    pub(crate) fn files(&self) -> Vec<String> {
        self.below(|path| path.is_file())
    }

    pub(crate) fn folders(&self) -> Vec<String> {
        self.below(Path::is_dir)
    }

    fn below(&self, wanted: impl Fn(&Path) -> bool) -> Vec<String> {
        let (mut out, mut next) = (Vec::new(), vec![self.home().to_owned()]);
        while let Some(folder) = next.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path: PathBuf = entry.unwrap().path();
                if wanted(&path) {
                    let name = path.strip_prefix(self.home()).unwrap();
                    out.push(name.to_string_lossy().into_owned());
                }
                if path.is_dir() {
                    next.push(path);
                }
            }
        }
        out.sort();
        out
    }
}

/// Objects and arrays that are empty say as much as none.
fn without_empty(value: serde_json::Value) -> serde_json::Value {
    use serde_json::Value;
    match value {
        Value::Object(members) => {
            let members = members.into_iter().map(|(k, v)| (k, without_empty(v)));
            let is_empty = |v: &Value| {
                v.as_object().is_some_and(serde_json::Map::is_empty)
                    || v.as_array().is_some_and(Vec::is_empty)
            };
            Value::Object(members.filter(|(_, v)| !is_empty(v)).collect())
        }
        other => other,
    }
}
