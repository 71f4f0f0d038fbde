//! The hooks: which event of which agent runs `amemctl hook`. The plugins in deploy/agents have the same.
//!
//! A hook exits with 0 and prints nothing where amemctl is not installed.

use serde_json::{Map, Value, json};

use crate::client::{AgentClient, ENTRY};
use crate::program::{PROGRAM, quoted};

/// One moment of an agent, with its name in each client.
#[derive(Debug)]
pub(crate) struct Hook {
    /// Seconds after which the client ends the hook. Codex allows 3 at the end of a session.
    timeout_secs: u32,
    /// The moment, for clients that name their hooks.
    name: &'static str,
    claude: &'static str,
    gemini: &'static str,
    cursor: &'static str,
}

/// In the order of a session: its start, each prompt, before a compaction, after each answer, its end.
const HOOKS: [Hook; 5] = [
    Hook {
        timeout_secs: 5,
        name: "amem-start",
        claude: "SessionStart",
        gemini: "SessionStart",
        cursor: "sessionStart",
    },
    Hook {
        timeout_secs: 5,
        name: "amem-prompt",
        claude: "UserPromptSubmit",
        gemini: "BeforeAgent",
        cursor: "beforeSubmitPrompt",
    },
    Hook {
        timeout_secs: 5,
        name: "amem-compaction",
        claude: "PreCompact",
        gemini: "PreCompress",
        cursor: "preCompact",
    },
    Hook {
        timeout_secs: 5,
        name: "amem-answer",
        claude: "Stop",
        gemini: "AfterAgent",
        cursor: "stop",
    },
    Hook {
        timeout_secs: 3,
        name: "amem-end",
        claude: "SessionEnd",
        gemini: "SessionEnd",
        cursor: "sessionEnd",
    },
];

/// The events of a client with what its settings have for each. Without hooks for clients that have none.
///
/// `is_named` is false in a plugin that several clients load: amemctl then finds out which one runs it.
pub(crate) fn hooks(
    client: AgentClient,
    program: &str,
    is_named: bool,
) -> Vec<(&'static str, Value)> {
    let of_one = |hook: &Hook| {
        let event = match client {
            // Copilot has names of its own, and sends the same fields as Claude Code to those of Claude Code.
            AgentClient::ClaudeCode | AgentClient::Codex | AgentClient::Copilot => hook.claude,
            AgentClient::Gemini => hook.gemini,
            AgentClient::Cursor => hook.cursor,
            _ => return None,
        };
        let command = command(client, program, is_named, event);
        let secs = hook.timeout_secs;
        let value = match client {
            AgentClient::Copilot => json!({"type": "command", "bash": command, "timeoutSec": secs}),
            AgentClient::Cursor => json!({"command": command, "timeout": secs}),
            // Gemini counts milliseconds.
            AgentClient::Gemini => json!({"hooks": [
                {"type": "command", "name": hook.name, "command": command, "timeout": secs * 1000}
            ]}),
            _ => json!({"hooks": [{"type": "command", "command": command, "timeout": secs}]}),
        };
        Some((event, value))
    };
    HOOKS.iter().filter_map(of_one).collect()
}

fn command(client: AgentClient, program: &str, is_named: bool, event: &str) -> String {
    let program = quoted(program);
    let client = if is_named {
        format!("--client {} ", client.name())
    } else {
        String::new()
    };
    format!("command -v {program} >/dev/null 2>&1 && {program} hook {client}{event} || true")
}

/// What the plugins in `deploy/agents` have in common with connect: files below it, and keys with their values.
pub fn deployed() -> Vec<(&'static str, Value)> {
    let events = |client: AgentClient, is_named: bool| {
        let mut events = Map::new();
        for (event, value) in hooks(client, PROGRAM, is_named) {
            events.insert(event.to_owned(), Value::from(vec![value]));
        }
        Value::Object(events)
    };
    let server = |client: AgentClient, name: &str| {
        let (key, value) = client.server_value(PROGRAM);
        json!({key: {name: value}})
    };
    vec![
        (
            "marketplace/amem/hooks/hooks.json",
            json!({"hooks": events(AgentClient::ClaudeCode, false)}),
        ),
        // The name of the plugin is part of the server's name already. All three clients take an entry without a type.
        (
            "marketplace/amem/.mcp.json",
            server(AgentClient::Cursor, "memory"),
        ),
        (
            "gemini/hooks/hooks.json",
            json!({"hooks": events(AgentClient::Gemini, true)}),
        ),
        (
            "gemini/gemini-extension.json",
            server(AgentClient::Gemini, ENTRY),
        ),
        (
            "cursor/hooks.json",
            json!({"version": 1, "hooks": events(AgentClient::Cursor, true)}),
        ),
        ("cursor/mcp.json", server(AgentClient::Cursor, ENTRY)),
    ]
}
