//! The clients: their names, their files, and what belongs into each.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::entry::{Entry, Role, Slot};
use crate::hook;
use crate::places::Places;
use crate::program::Program;
use crate::whole;

/// The name of the entry.
pub(crate) const ENTRY: &str = "amem";

/// An agent, or an editor with one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Client {
    /// Claude Code.
    ClaudeCode,
    /// Codex.
    Codex,
    /// Gemini CLI.
    Gemini,
    /// GitHub Copilot CLI.
    Copilot,
    /// opencode.
    Opencode,
    /// Cursor.
    Cursor,
    /// Visual Studio Code.
    Vscode,
    /// Claude Desktop.
    ClaudeDesktop,
    /// Zed.
    Zed,
}

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

impl Client {
    /// Every client.
    pub const ALL: [Self; 9] = [
        Self::ClaudeCode,
        Self::Codex,
        Self::Gemini,
        Self::Copilot,
        Self::Opencode,
        Self::Cursor,
        Self::Vscode,
        Self::ClaudeDesktop,
        Self::Zed,
    ];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::Copilot => "copilot",
            Self::Opencode => "opencode",
            Self::Cursor => "cursor",
            Self::Vscode => "vscode",
            Self::ClaudeDesktop => "claude-desktop",
            Self::Zed => "zed",
        }
    }

    /// Whether it has settings of a project.
    pub fn has_project(self) -> bool {
        self != Self::ClaudeDesktop
    }

    /// Whether it is started from a shell, and passes PATH on.
    fn has_path(self) -> bool {
        matches!(
            self,
            Self::ClaudeCode | Self::Codex | Self::Gemini | Self::Copilot | Self::Opencode
        )
    }

    /// Its folder of settings.
    pub(crate) fn folder(self, places: &Places) -> PathBuf {
        let config = || places.folder("XDG_CONFIG_HOME", ".config");
        let of_app = |name: &str| {
            if places.is_mac() {
                places.home("Library/Application Support").join(name)
            } else {
                config().join(name)
            }
        };
        match self {
            Self::ClaudeCode => places.folder("CLAUDE_CONFIG_DIR", ".claude"),
            Self::Codex => places.folder("CODEX_HOME", ".codex"),
            // The variable replaces the home folder.
            Self::Gemini => match places.variable("GEMINI_CLI_HOME") {
                Some(home) => home.join(".gemini"),
                None => places.home(".gemini"),
            },
            Self::Copilot => places.folder("COPILOT_HOME", ".copilot"),
            Self::Opencode => config().join("opencode"),
            Self::Cursor => places.home(".cursor"),
            Self::Vscode => of_app("Code"),
            Self::ClaudeDesktop => of_app("Claude"),
            Self::Zed => config().join("zed"),
        }
    }

    /// A folder of settings that the client does not use while a variable names another.
    pub(crate) fn unused_folder(self, places: &Places) -> Option<(&'static str, PathBuf)> {
        let (variable, below) = match self {
            Self::ClaudeCode => ("CLAUDE_CONFIG_DIR", ".claude"),
            Self::Codex => ("CODEX_HOME", ".codex"),
            Self::Copilot => ("COPILOT_HOME", ".copilot"),
            Self::Gemini => ("GEMINI_CLI_HOME", ".gemini"),
            _ => return None,
        };
        places.variable(variable)?;
        let unused = places.home(below);
        (unused != self.folder(places) && unused.is_dir()).then_some((variable, unused))
    }

    /// Whether the client seems to be installed: its folder, or its program.
    pub fn is_installed(self, places: &Places) -> bool {
        let programs: &[&str] = match self {
            Self::ClaudeCode => &["claude"],
            Self::Codex => &["codex"],
            Self::Gemini => &["gemini"],
            Self::Copilot => &["copilot"],
            Self::Opencode => &["opencode"],
            Self::Cursor => &["cursor", "cursor-agent"],
            Self::Vscode => &["code"],
            Self::ClaudeDesktop => &["claude-desktop"],
            Self::Zed => &["zed", "zeditor"],
        };
        self.folder(places).is_dir() || places.has_program(programs)
    }

    /// Its files, with the entries that belong into each.
    pub(crate) fn files(self, places: &Places, program: &Program) -> Vec<ClientFile> {
        let is_shared = places.project().is_some();
        let program = program.command(self.has_path(), is_shared);
        let server = self.server(&program);
        // Copilot runs the hooks of a project's Claude Code too: they find out themselves which client runs them.
        let is_named = !(self == Self::ClaudeCode && is_shared);
        let hooks = self.hook_entries(&program, is_named);
        let json = |path: PathBuf, entries: Vec<Entry>| ClientFile {
            path,
            content: Content::Json(entries),
        };
        let folder = self.folder(places);
        let project = places.project();
        match self {
            Self::ClaudeCode => match project {
                Some(project) => vec![
                    json(project.join(".mcp.json"), server),
                    json(project.join(".claude/settings.json"), hooks),
                ],
                None => {
                    let state = match places.variable("CLAUDE_CONFIG_DIR") {
                        Some(folder) => folder.join(".claude.json"),
                        None => places.home(".claude.json"),
                    };
                    vec![
                        json(state, server),
                        json(folder.join("settings.json"), hooks),
                    ]
                }
            },
            Self::Codex => {
                let folder = project.map_or(folder, |project| project.join(".codex"));
                let mut files = vec![ClientFile {
                    path: folder.join("config.toml"),
                    content: Content::Toml(server),
                }];
                files.push(json(folder.join("hooks.json"), hooks));
                files
            }
            Self::Gemini => {
                let folder = project.map_or(folder, |project| project.join(".gemini"));
                let entries = [server, hooks].concat();
                vec![json(folder.join("settings.json"), entries)]
            }
            Self::Copilot => match project {
                Some(project) => vec![
                    // The file of Claude Code, which Copilot reads too.
                    json(project.join(".mcp.json"), Self::ClaudeCode.server(&program)),
                    json(project.join(".github/hooks/amem.json"), hooks),
                ],
                None => vec![
                    json(folder.join("mcp-config.json"), server),
                    json(folder.join("hooks/amem.json"), hooks),
                ],
            },
            Self::Opencode => {
                let (settings, plugins) = match project {
                    Some(project) => (project.to_owned(), project.join(".opencode/plugins")),
                    None => (folder.clone(), folder.join("plugins")),
                };
                let names = ["opencode.jsonc", "opencode.json"];
                let found = names.map(|name| settings.join(name));
                let found = found.into_iter().find(|path| path.exists());
                let settings = found.unwrap_or_else(|| settings.join("opencode.json"));
                let plugin = ClientFile {
                    path: plugins.join("amem.js"),
                    content: Content::Whole(whole::opencode_plugin(&program)),
                };
                vec![json(settings, server), plugin]
            }
            Self::Cursor => {
                let folder = project.map_or(folder, |project| project.join(".cursor"));
                let mut files = vec![
                    json(folder.join("mcp.json"), server),
                    json(folder.join("hooks.json"), hooks),
                ];
                // Rules of a user are in a database of Cursor.
                if project.is_some() {
                    files.push(ClientFile {
                        path: folder.join("rules/amem.mdc"),
                        content: Content::Whole(whole::CURSOR_RULES.to_owned()),
                    });
                }
                files
            }
            Self::Vscode => {
                let path = match project {
                    Some(project) => project.join(".vscode/mcp.json"),
                    None => folder.join("User/mcp.json"),
                };
                vec![json(path, server)]
            }
            Self::ClaudeDesktop => vec![json(folder.join("claude_desktop_config.json"), server)],
            Self::Zed => {
                let folder = project.map_or(folder, |project| project.join(".zed"));
                vec![json(folder.join("settings.json"), server)]
            }
        }
    }

    fn server(self, program: &str) -> Vec<Entry> {
        let (path, value) = self.server_value(program);
        vec![Entry {
            path: vec![path],
            slot: Slot::Member(ENTRY.to_owned()),
            value,
            role: Role::Server,
        }]
    }

    /// The key of the servers, and the entry of ours.
    pub(crate) fn server_value(self, program: &str) -> (&'static str, Value) {
        let plain = json!({"command": program, "args": ["mcp"]});
        let typed = |kind: &str| json!({"type": kind, "command": program, "args": ["mcp"]});
        match self {
            Self::ClaudeCode => ("mcpServers", typed("stdio")),
            Self::Codex => ("mcp_servers", plain),
            Self::Gemini | Self::ClaudeDesktop | Self::Cursor => ("mcpServers", plain),
            Self::Copilot => (
                "mcpServers",
                json!({"type": "local", "command": program, "args": ["mcp"], "tools": ["*"]}),
            ),
            Self::Opencode => (
                "mcp",
                json!({"type": "local", "command": [program, "mcp"], "enabled": true}),
            ),
            Self::Vscode => ("servers", typed("stdio")),
            Self::Zed => ("context_servers", plain),
        }
    }

    fn hook_entries(self, program: &str, is_named: bool) -> Vec<Entry> {
        let mut entries = Vec::new();
        if matches!(self, Self::Copilot | Self::Cursor) {
            entries.push(Entry {
                path: Vec::new(),
                slot: Slot::Default("version".to_owned()),
                value: json!(1),
                role: Role::Frame,
            });
        }
        let hooks = hook::hooks(self, program, is_named);
        entries.extend(hooks.into_iter().map(|(event, value)| Entry {
            path: vec!["hooks", event],
            slot: Slot::Element,
            value,
            role: Role::Hook,
        }));
        entries
    }
}
