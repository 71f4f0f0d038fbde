//! Clients that run hooks.

use serde_json::{Map, Value};

/// A client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum HookClient {
    /// Claude Code.
    ClaudeCode,
    /// Codex CLI.
    Codex,
    /// Copilot CLI.
    Copilot,
    /// Gemini CLI.
    Gemini,
    /// opencode, by a plugin.
    Opencode,
    /// Cursor.
    Cursor,
}

const NAMES: [(HookClient, &str); 6] = [
    (HookClient::ClaudeCode, "claude-code"),
    (HookClient::Codex, "codex"),
    (HookClient::Copilot, "copilot"),
    (HookClient::Gemini, "gemini"),
    (HookClient::Opencode, "opencode"),
    (HookClient::Cursor, "cursor"),
];

impl HookClient {
    /// Its name in commands and commits.
    #[must_use]
    pub fn name(self) -> &'static str {
        let named = NAMES.iter().find(|(client, _)| *client == self);
        named.map_or("", |(_, name)| name)
    }

    /// The client of a name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let named = NAMES.iter().find(|(_, known)| *known == name);
        named.map(|(client, _)| *client)
    }

    /// All names.
    pub fn names() -> impl Iterator<Item = &'static str> {
        NAMES.iter().map(|(_, name)| *name)
    }

    /// The client that sends this input, for a plugin that several clients load: by its transcript, else by what only
    /// it sends.
    pub(crate) fn of(input: &Map<String, Value>) -> Self {
        let transcript = input.get("transcript_path").and_then(Value::as_str);
        let transcript = transcript.unwrap_or_default().replace('\\', "/");
        let has = |key: &str| input.get(key).is_some();
        if has("conversation_id") && has("workspace_roots") {
            return Self::Cursor;
        }
        for (mark, client) in [
            ("/session-state/", Self::Copilot),
            ("/rollout-", Self::Codex),
            ("/.gemini/", Self::Gemini),
            ("/projects/", Self::ClaudeCode),
        ] {
            if transcript.contains(mark) {
                return client;
            }
        }
        // Copilot has no transcript before the first answer, and says when.
        if has("sessionId") || has("timestamp") && transcript.is_empty() {
            return Self::Copilot;
        }
        match has("turn_id") || has("model") {
            true => Self::Codex,
            false => Self::ClaudeCode,
        }
    }
}
