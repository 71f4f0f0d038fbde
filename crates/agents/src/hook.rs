//! The hooks: which event of which agent runs `amemctl hook`. The plugins in deploy/agents have the same.
//!
//! A hook exits with 0 and prints nothing where amemctl is not installed.

use serde_json::{Map, Value, json};

use crate::client::{AgentClient, DeployedPart};
use crate::moment::HookMoment;
use crate::program::{PROGRAM, quoted};

/// The member that some clients require of a file with hooks.
pub(crate) const VERSION: &str = "version";

/// One moment of an agent.
#[derive(Debug)]
struct Hook {
    moment: HookMoment,
    /// Seconds after which the client ends the hook. Codex allows 3 at the end of a session.
    timeout_secs: u32,
    /// For clients that name their hooks.
    name: &'static str,
}

const fn hook(moment: HookMoment, timeout_secs: u32, name: &'static str) -> Hook {
    Hook {
        moment,
        timeout_secs,
        name,
    }
}

/// In the order of a session.
const HOOKS: [Hook; 5] = [
    hook(HookMoment::Start, 5, "amem-start"),
    hook(HookMoment::Prompt, 5, "amem-prompt"),
    hook(HookMoment::Compaction, 5, "amem-compaction"),
    hook(HookMoment::Answer, 5, "amem-answer"),
    hook(HookMoment::End, 3, "amem-end"),
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
        let mut events = client.row().events.iter();
        let (_, event) = events.find(|(moment, _)| *moment == hook.moment)?;
        let command = command(client, program, is_named, event);
        let value = client.hook_value(&command, hook.name, hook.timeout_secs)?;
        Some((*event, value))
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
    let of_part = |client: AgentClient, part: &DeployedPart| match part {
        DeployedPart::Server { name } => {
            let value = client.server_value(PROGRAM, false);
            json!({client.row().server.key: {*name: value}})
        }
        DeployedPart::Hooks { is_named } => {
            let hooks = hooks(client, PROGRAM, *is_named).into_iter();
            let events = hooks.map(|(event, value)| (event.to_owned(), Value::from(vec![value])));
            let mut file = Map::new();
            let version = client.row().hooks.as_ref().and_then(|hooks| hooks.version);
            file.extend(version.map(|version| (VERSION.to_owned(), json!(version))));
            file.insert("hooks".to_owned(), Value::Object(events.collect()));
            Value::Object(file)
        }
    };
    let files = AgentClient::ALL.into_iter().flat_map(|client| {
        let deployed = client.row().deployed.iter();
        deployed.map(move |(file, part)| (*file, of_part(client, part)))
    });
    files.collect()
}
