//! Where each client keeps its memories.

use std::path::{Path, PathBuf};

use amem_agents::AgentClient;

use crate::kind::SourceKind;

/// A usual place that exists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientHome {
    /// What it holds.
    pub kind: SourceKind,
    /// A file or a folder.
    pub path: PathBuf,
}

/// The usual places of all clients and memory stores that exist on this machine. `env` answers the environment
/// variables that move them: those of agents.toml, `MEMORY_FILE_PATH`, `MEM0_DIR`, `BASIC_MEMORY_HOME`.
#[must_use]
pub fn homes(home: &Path, env: &dyn Fn(&str) -> Option<String>) -> Vec<ClientHome> {
    let set = |name: &str| {
        env(name)
            .filter(|value| !value.trim().is_empty())
            .map(PathBuf::from)
    };
    let clients = AgentClient::ALL.into_iter();
    let of_clients = clients.flat_map(|client| client.memories(home, &set));
    let mut places: Vec<(SourceKind, PathBuf)> = of_clients
        .filter_map(|(kind, path)| Some((SourceKind::named(kind)?, path)))
        .collect();
    let at = |name: &str, usual: &str| set(name).unwrap_or_else(|| home.join(usual));
    places.extend([
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
    fn each_kind_of_source_of_a_client_has_a_reader() {
        for client in AgentClient::ALL {
            let memories = client.memories(Path::new("/h"), &|_| None);
            let kinds = memories
                .map(|(kind, _)| kind)
                .chain(client.transcript_kind());
            for kind in kinds {
                assert!(SourceKind::named(kind).is_some(), "{client}: {kind}");
            }
        }
    }

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
