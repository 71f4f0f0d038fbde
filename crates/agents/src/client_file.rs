//! The files of each client, and what belongs into each.

use std::path::{Path, PathBuf};

use serde_json::json;

use crate::client::{AgentClient, ENTRY};
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
        let is_shared = locations.project().is_some();
        let program = program.command(self.has_path(), is_shared);
        let server = self.server(&program);
        // Copilot runs the hooks of a project's Claude Code too: they find out themselves which client runs them.
        let is_named = !(self == Self::ClaudeCode && is_shared);
        let hooks = self.hook_entries(&program, is_named);
        let folder = self.folder(locations);
        let (at, hooks_at) = match locations.project() {
            Some(project) => self.project_files(project),
            None => self.user_files(locations, &folder),
        };
        let server_content = match self {
            Self::Codex => Content::Toml(server),
            // One file has both.
            Self::Gemini => Content::Json([server, hooks.clone()].concat()),
            // The file of Claude Code, which Copilot reads too.
            Self::Copilot if is_shared => Content::Json(Self::ClaudeCode.server(&program)),
            _ => Content::Json(server),
        };
        let mut files = vec![ClientFile {
            path: at,
            content: server_content,
        }];
        if let Some(path) = hooks_at {
            let content = match self {
                Self::Opencode => Content::Whole(whole::opencode_plugin(&program)),
                _ => Content::Json(hooks),
            };
            files.push(ClientFile { path, content });
        }
        // Rules of a user are in a database of Cursor.
        if let (Self::Cursor, Some(project)) = (self, locations.project()) {
            files.push(ClientFile {
                path: project.join(".cursor/rules/amem.mdc"),
                content: Content::Whole(whole::CURSOR_RULES.to_owned()),
            });
        }
        files
    }

    /// The user's file of the server, and that of the hooks where it is another.
    fn user_files(self, locations: &Locations, folder: &Path) -> (PathBuf, Option<PathBuf>) {
        match self {
            Self::ClaudeCode => {
                let state = match locations.variable("CLAUDE_CONFIG_DIR") {
                    Some(folder) => folder.join(".claude.json"),
                    None => locations.home(".claude.json"),
                };
                (state, Some(folder.join("settings.json")))
            }
            Self::Codex => (folder.join("config.toml"), Some(folder.join("hooks.json"))),
            Self::Gemini => (folder.join("settings.json"), None),
            Self::Copilot => (
                folder.join("mcp-config.json"),
                Some(folder.join("hooks/amem.json")),
            ),
            Self::Opencode => (
                opencode_settings(folder),
                Some(folder.join("plugins/amem.js")),
            ),
            Self::Cursor => (folder.join("mcp.json"), Some(folder.join("hooks.json"))),
            Self::Vscode => (folder.join("User/mcp.json"), None),
            Self::ClaudeDesktop => (folder.join("claude_desktop_config.json"), None),
            Self::Zed => (folder.join("settings.json"), None),
        }
    }

    /// The same of a project.
    fn project_files(self, project: &Path) -> (PathBuf, Option<PathBuf>) {
        let both = |server: &str, hooks: &str| (project.join(server), Some(project.join(hooks)));
        match self {
            Self::ClaudeCode => both(".mcp.json", ".claude/settings.json"),
            Self::Codex => both(".codex/config.toml", ".codex/hooks.json"),
            Self::Gemini => (project.join(".gemini/settings.json"), None),
            Self::Copilot => both(".mcp.json", ".github/hooks/amem.json"),
            Self::Opencode => (
                opencode_settings(project),
                Some(project.join(".opencode/plugins/amem.js")),
            ),
            Self::Cursor => both(".cursor/mcp.json", ".cursor/hooks.json"),
            Self::Vscode => (project.join(".vscode/mcp.json"), None),
            // It has none; the command line refuses it.
            Self::ClaudeDesktop => (project.join("claude_desktop_config.json"), None),
            Self::Zed => (project.join(".zed/settings.json"), None),
        }
    }

    fn server(self, program: &str) -> Vec<Entry> {
        let (path, value) = self.server_value(program);
        vec![Entry {
            path: vec![path],
            slot: EntrySlot::Member(ENTRY.to_owned()),
            value,
            role: EntryRole::Server,
        }]
    }

    fn hook_entries(self, program: &str, is_named: bool) -> Vec<Entry> {
        let mut entries = Vec::new();
        if matches!(self, Self::Copilot | Self::Cursor) {
            entries.push(Entry {
                path: Vec::new(),
                slot: EntrySlot::Default("version".to_owned()),
                value: json!(1),
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

/// The settings that are there, else those that opencode creates.
fn opencode_settings(folder: &Path) -> PathBuf {
    let names = ["opencode.jsonc", "opencode.json"];
    let found = names.map(|name| folder.join(name));
    let mut found = found.into_iter().filter(|path| path.exists());
    found.next().unwrap_or_else(|| folder.join("opencode.json"))
}
