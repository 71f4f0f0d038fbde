//! Where each client keeps its memories.

use std::path::{Path, PathBuf};

use crate::kind::SourceKind;

/// A usual place that exists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientHome {
    /// What it holds.
    pub kind: SourceKind,
    /// A file or a folder.
    pub path: PathBuf,
}

/// The usual places of all clients that exist on this machine. `env` answers the environment variables that move them:
/// `CLAUDE_CONFIG_DIR`, `CODEX_HOME`, `GEMINI_CLI_HOME`, `COPILOT_HOME`, `XDG_DATA_HOME`, `XDG_CONFIG_HOME`,
/// `MEMORY_FILE_PATH`, `MEM0_DIR`, `BASIC_MEMORY_HOME`.
#[must_use]
pub fn homes(home: &Path, env: &dyn Fn(&str) -> Option<String>) -> Vec<ClientHome> {
    let set = |name: &str| {
        env(name)
            .filter(|value| !value.trim().is_empty())
            .map(PathBuf::from)
    };
    let at = |name: &str, usual: &str| set(name).unwrap_or_else(|| home.join(usual));
    let mut claude = vec![at("CLAUDE_CONFIG_DIR", ".claude")];
    // Newer versions follow XDG where the old folder is missing.
    claude.push(at("XDG_CONFIG_HOME", ".config").join("claude"));
    let data = at("XDG_DATA_HOME", ".local/share");
    let codex = at("CODEX_HOME", ".codex");
    let gemini = set("GEMINI_CLI_HOME")
        .unwrap_or_else(|| home.to_owned())
        .join(".gemini");
    let mut places = Vec::new();
    for folder in claude {
        places.push((SourceKind::ClaudeCode, folder.join("projects")));
        places.push((SourceKind::Markdown, folder.join("CLAUDE.md")));
    }
    places.extend([
        (SourceKind::Codex, codex.join("sessions")),
        (SourceKind::Codex, codex.join("archived_sessions")),
        (SourceKind::Markdown, codex.join("AGENTS.md")),
        (SourceKind::Gemini, gemini.join("tmp")),
        (SourceKind::Markdown, gemini.join("GEMINI.md")),
        (
            SourceKind::Copilot,
            at("COPILOT_HOME", ".copilot").join("session-state"),
        ),
        (SourceKind::Opencode, data.join("opencode/opencode.db")),
        (SourceKind::Mem0, at("MEM0_DIR", ".mem0").join("history.db")),
        (
            SourceKind::BasicMemory,
            at("BASIC_MEMORY_HOME", "basic-memory"),
        ),
    ]);
    places.extend(set("MEMORY_FILE_PATH").map(|path| (SourceKind::McpMemory, path)));
    let mut out: Vec<ClientHome> = Vec::new();
    for (kind, path) in places {
        if path.exists() && !out.iter().any(|known| known.path == path) {
            out.push(ClientHome { kind, path });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_move_the_homes_of_clients() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path();
        for path in [
            ".claude/projects",
            ".codex/sessions",
            "moved/sessions",
            ".gemini/tmp",
            ".copilot/session-state",
        ] {
            std::fs::create_dir_all(home.join(path)).unwrap();
        }
        let found = |env: &dyn Fn(&str) -> Option<String>| -> Vec<(SourceKind, PathBuf)> {
            homes(home, env)
                .into_iter()
                .map(|one| (one.kind, one.path))
                .collect()
        };
        let usual = [
            (SourceKind::ClaudeCode, home.join(".claude/projects")),
            (SourceKind::Codex, home.join(".codex/sessions")),
            (SourceKind::Gemini, home.join(".gemini/tmp")),
            (SourceKind::Copilot, home.join(".copilot/session-state")),
        ];
        assert_eq!(found(&|_| None), usual);
        let moved = home.join("moved").display().to_string();
        let with = found(&|name| (name == "CODEX_HOME").then(|| moved.clone()));
        assert_eq!(with[1], (SourceKind::Codex, home.join("moved/sessions")));
        assert_eq!(
            found(&|_| Some(" ".to_owned())),
            usual,
            "a blank variable is not set"
        );
    }
}
