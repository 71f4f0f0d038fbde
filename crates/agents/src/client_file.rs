//! The files of each client, and what belongs into each.

use std::path::PathBuf;

use serde_json::json;

use crate::client::{AgentClient, ENTRY};
use crate::client_path::ClientPath;
use crate::entry::{Entry, EntryRole, EntrySlot};
use crate::hook;
use crate::locations::Locations;
use crate::program::Program;
use crate::whole;

/// The format of a file, with what belongs into it.
#[derive(Debug, Clone)]
pub(crate) enum Content {
    Json(Vec<Entry>),
    Toml(Vec<Entry>),
    /// The whole file is ours.
    Whole(String),
}

impl Content {
    pub(crate) fn entries(&self) -> &[Entry] {
        match self {
            Self::Json(entries) | Self::Toml(entries) => entries,
            Self::Whole(_) => &[],
        }
    }

    /// Adds entries to a file of entries.
    pub(crate) fn extend(&mut self, more: &[Entry]) {
        if let Self::Json(entries) | Self::Toml(entries) = self {
            entries.extend_from_slice(more);
        }
    }
}

/// A file of a client.
#[derive(Debug, Clone)]
pub(crate) struct ClientFile {
    pub(crate) path: PathBuf,
    pub(crate) content: Content,
}

impl AgentClient {
    /// Its files, with the entries that belong into each: the server's first.
    pub(crate) fn files(self, locations: &Locations, program: &Program) -> Vec<ClientFile> {
        let row = self.row();
        let project = locations.project();
        let program = program.command(row.has_path, project.is_some());
        let mut files = Vec::new();
        let Some(path) = self.file(locations, Some(&row.server.user), row.server.project) else {
            return files;
        };
        let mut server = self.server(&program, project.is_some());
        let mut hooks_file = None;
        if let Some(hooks) = &row.hooks {
            // A client that runs the hooks of this one is not it: they find out themselves which client runs them.
            let is_named = project.is_none() || !self.shares_project_hooks();
            let entries = self.hook_entries(&program, is_named);
            match self.file(locations, hooks.user.as_ref(), hooks.project) {
                Some(path) => {
                    hooks_file = Some(ClientFile {
                        path,
                        content: Content::Json(entries),
                    });
                }
                None => server.extend(entries),
            }
        }
        let path = beside(path, row.server.instead);
        let content = match path.extension().is_some_and(|ending| ending == "toml") {
            true => Content::Toml(server),
            false => Content::Json(server),
        };
        files.push(ClientFile { path, content });
        files.extend(hooks_file);
        for file in row.files {
            if let Some(path) = self.file(locations, file.user.as_ref(), file.project) {
                let content = Content::Whole(whole::with_program(file.text, &program));
                files.push(ClientFile { path, content });
            }
        }
        files
    }

    /// The file of the user, or that of the project.
    fn file(
        self,
        locations: &Locations,
        user: Option<&ClientPath>,
        of_project: Option<&str>,
    ) -> Option<PathBuf> {
        match locations.project() {
            Some(project) => of_project.map(|path| project.join(path)),
            None => user.map(|path| locations.resolve(path)),
        }
    }

    /// Whether another client runs the hooks that are in its file of a project.
    fn shares_project_hooks(self) -> bool {
        Self::ALL.iter().any(|other| {
            let hooks = other.row().hooks.as_ref();
            hooks.is_some_and(|hooks| hooks.runs_project_hooks_of == Some(self))
        })
    }

    fn server(self, program: &str, is_in_project: bool) -> Vec<Entry> {
        vec![Entry {
            path: vec![self.row().server.key],
            slot: EntrySlot::Member(ENTRY.to_owned()),
            value: self.server_value(program, is_in_project),
            role: EntryRole::Server,
        }]
    }

    fn hook_entries(self, program: &str, is_named: bool) -> Vec<Entry> {
        let mut entries = Vec::new();
        let version = self.row().hooks.as_ref().and_then(|hooks| hooks.version);
        if let Some(version) = version {
            entries.push(Entry {
                path: Vec::new(),
                slot: EntrySlot::Default(hook::VERSION.to_owned()),
                value: json!(version),
                role: EntryRole::Frame,
            });
        }
        let hooks = hook::hooks(self, program, is_named);
        entries.extend(hooks.into_iter().map(|(event, value)| Entry {
            path: vec!["hooks", event],
            slot: EntrySlot::Element,
            value,
            role: EntryRole::Hook,
        }));
        entries
    }
}

/// The file that is used instead, if it exists.
fn beside(path: PathBuf, instead: Option<&str>) -> PathBuf {
    let other = instead.map(|name| path.with_file_name(name));
    other.filter(|other| other.exists()).unwrap_or(path)
}
