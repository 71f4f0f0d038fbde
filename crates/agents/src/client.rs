//! The clients: their names, and their folders.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::locations::Locations;

/// The name of the entry.
pub(crate) const ENTRY: &str = "amem";

/// An agent, or an editor with one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum AgentClient {
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

impl AgentClient {
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
    pub(crate) fn has_path(self) -> bool {
        matches!(
            self,
            Self::ClaudeCode | Self::Codex | Self::Gemini | Self::Copilot | Self::Opencode
        )
    }

    /// Its folder of settings.
    pub(crate) fn folder(self, locations: &Locations) -> PathBuf {
        let config = || locations.folder("XDG_CONFIG_HOME", ".config");
        let of_app = |name: &str| {
            if locations.is_mac() {
                locations.home("Library/Application Support").join(name)
            } else {
                config().join(name)
            }
        };
        match self {
            Self::ClaudeCode => locations.folder("CLAUDE_CONFIG_DIR", ".claude"),
            Self::Codex => locations.folder("CODEX_HOME", ".codex"),
            // The variable replaces the home folder.
            Self::Gemini => match locations.variable("GEMINI_CLI_HOME") {
                Some(home) => home.join(".gemini"),
                None => locations.home(".gemini"),
            },
            Self::Copilot => locations.folder("COPILOT_HOME", ".copilot"),
            Self::Opencode => config().join("opencode"),
            Self::Cursor => locations.home(".cursor"),
            Self::Vscode => of_app("Code"),
            Self::ClaudeDesktop => of_app("Claude"),
            Self::Zed => config().join("zed"),
        }
    }

    /// A folder of settings that the client does not use while a variable names another.
    pub(crate) fn unused_folder(self, locations: &Locations) -> Option<(&'static str, PathBuf)> {
        let (variable, below) = match self {
            Self::ClaudeCode => ("CLAUDE_CONFIG_DIR", ".claude"),
            Self::Codex => ("CODEX_HOME", ".codex"),
            Self::Copilot => ("COPILOT_HOME", ".copilot"),
            Self::Gemini => ("GEMINI_CLI_HOME", ".gemini"),
            _ => return None,
        };
        locations.variable(variable)?;
        let unused = locations.home(below);
        (unused != self.folder(locations) && unused.is_dir()).then_some((variable, unused))
    }

    /// Whether the client seems to be installed: its folder, or its program.
    pub fn is_installed(self, locations: &Locations) -> bool {
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
        self.folder(locations).is_dir() || locations.has_program(programs)
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
}
