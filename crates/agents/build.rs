//! Makes `AgentClient` and its table of agents.toml, so that a fault in that file is a fault of the build.

use std::collections::BTreeMap;
use std::env;
use std::error::Error;
use std::fmt::Write;
use std::fs;
use std::path::PathBuf;

use serde::Deserialize;

const FILE: &str = "agents.toml";

/// What amemd reads beside the folders of clients.
const STATE_VARIABLE: &str = "XDG_STATE_HOME";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AgentsFile {
    client: Vec<Client>,
    fields: BTreeMap<String, Vec<String>>,
    input: Vec<InputRule>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Client {
    name: String,
    title: String,
    programs: Vec<String>,
    #[serde(default)]
    has_path: bool,
    folder: String,
    mac: Option<String>,
    server: Server,
    hooks: Option<Hooks>,
    events: Option<Events>,
    answer: Option<AnswerForm>,
    #[serde(default)]
    file: Vec<WholeFile>,
    plugin: Option<Plugin>,
    #[serde(default)]
    memories: Vec<Memories>,
    transcript: Option<String>,
    #[serde(default)]
    deployed: Vec<DeployedFile>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Server {
    key: String,
    entry: String,
    project_entry: Option<String>,
    user: String,
    project: Option<String>,
    instead: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Hooks {
    entry: String,
    user: Option<String>,
    project: Option<String>,
    version: Option<u32>,
    #[serde(default)]
    joins_server_file: bool,
    runs_project_hooks_of: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Events {
    start: Vec<String>,
    prompt: Vec<String>,
    compaction: Vec<String>,
    answer: Vec<String>,
    end: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AnswerForm {
    json: String,
    moments: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WholeFile {
    from: String,
    user: Option<String>,
    project: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Plugin {
    file: String,
    #[serde(default)]
    project_files: Vec<String>,
    key: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Memories {
    kind: String,
    path: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DeployedFile {
    file: String,
    server: Option<String>,
    hooks: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct InputRule {
    client: String,
    #[serde(default)]
    has: Vec<String>,
    transcript: Option<String>,
    has_transcript: Option<bool>,
}

type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn main() -> Result<()> {
    println!("cargo:rerun-if-changed={FILE}");
    println!("cargo:rerun-if-changed=build.rs");
    let text = fs::read_to_string(FILE)?;
    let file: AgentsFile = toml::from_str(&text).map_err(|e| format!("{FILE}: {e}"))?;
    let mut out = String::new();
    file.write_enum(&mut out)?;
    file.write_rows(&mut out)?;
    file.write_values(&mut out)?;
    file.write_input(&mut out)?;
    let folder = PathBuf::from(env::var_os("OUT_DIR").ok_or("cargo sets OUT_DIR")?);
    fs::write(folder.join("clients.rs"), out)?;
    Ok(())
}

/// `claude-code` as `ClaudeCode`.
fn variant(name: &str) -> String {
    let words = name.split('-').map(|word| {
        let (first, rest) = word.split_at(1.min(word.len()));
        first.to_uppercase() + rest
    });
    words.collect()
}

/// A value of JSON as an expression, with the strings of `values` replaced by expressions.
fn expression(json: &str, values: &[(&str, &str)]) -> String {
    let replaced = values.iter().fold(json.to_owned(), |text, (name, value)| {
        text.replace(&format!("\"{name}\""), value)
    });
    format!("serde_json::json!({replaced})")
}

/// A path of agents.toml as an expression, and its variable.
fn path(client: &Client, text: &str) -> Result<(String, Option<String>)> {
    let (text, mac) = match text.starts_with(['~', '$']) {
        true => (text.to_owned(), None),
        // Below the folder of the client, which another system may have elsewhere.
        false => {
            let below = |folder: &str| format!("{folder}/{text}").trim_end_matches('/').to_owned();
            (below(&client.folder), client.mac.as_deref().map(below))
        }
    };
    let (variable, home, below) = match text.strip_prefix("${") {
        Some(rest) => {
            let fault = || format!("{FILE}: {text:?} is not ${{VARIABLE:-~/folder}}/path");
            let (variable, rest) = rest.split_once(":-~").ok_or_else(fault)?;
            let (home, below) = rest.split_once('}').ok_or_else(fault)?;
            (Some(variable.to_owned()), home.to_owned(), below.to_owned())
        }
        None => (None, String::new(), text.trim_start_matches('~').to_owned()),
    };
    let (home, below) = (home.trim_start_matches('/'), below.trim_start_matches('/'));
    let code = format!(
        "ClientPath {{ variable: {variable:?}, home: {home:?}, below: {below:?}, mac: {mac:?} }}"
    );
    Ok((code, variable))
}

/// `Some(…)` of a path, or `None`.
fn optional_path(client: &Client, text: Option<&str>) -> Result<String> {
    match text {
        Some(text) => Ok(format!("Some({})", path(client, text)?.0)),
        None => Ok("None".to_owned()),
    }
}

fn moment(name: &str) -> Result<&'static str> {
    Ok(match name {
        "start" => "HookMoment::Start",
        "prompt" => "HookMoment::Prompt",
        "compaction" => "HookMoment::Compaction",
        "answer" => "HookMoment::Answer",
        "end" => "HookMoment::End",
        other => {
            let all = "start, prompt, compaction, answer or end";
            return Err(format!("{FILE}: unknown moment {other:?}: use {all}").into());
        }
    })
}

impl AgentsFile {
    fn client(&self, name: &str) -> Result<String> {
        if self.client.iter().any(|client| client.name == name) {
            return Ok(format!("AgentClient::{}", variant(name)));
        }
        let names: Vec<_> = self.client.iter().map(|c| c.name.as_str()).collect();
        let names = names.join(", ");
        Err(format!("{FILE}: unknown client {name:?}: use one of {names}").into())
    }

    fn write_enum(&self, out: &mut String) -> Result<()> {
        let mut variables = vec![STATE_VARIABLE.to_owned()];
        out.push_str("/// An agent, or an editor with one: a row of agents.toml.\n");
        out.push_str("#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]\n");
        out.push_str("pub enum AgentClient {\n");
        for client in &self.client {
            writeln!(out, "/// {}.\n{},", client.title, variant(&client.name))?;
            variables.extend(path(client, &client.folder)?.1);
        }
        variables.sort();
        variables.dedup();
        let names = self.client.iter().map(|client| variant(&client.name));
        let all: Vec<_> = names.map(|name| format!("Self::{name}")).collect();
        let (count, all) = (all.len(), all.join(", "));
        writeln!(out, "}}\nimpl AgentClient {{")?;
        writeln!(out, "/// Every client, in the order of agents.toml.")?;
        writeln!(out, "pub const ALL: [Self; {count}] = [{all}];\n}}")?;
        let count = variables.len();
        writeln!(out, "/// The variables that move a client's folder.")?;
        writeln!(out, "pub const VARIABLES: [&str; {count}] = {variables:?};")?;
        Ok(())
    }

    fn write_rows(&self, out: &mut String) -> Result<()> {
        let count = self.client.len();
        writeln!(out, "pub(crate) static ROWS: [ClientRow; {count}] = [")?;
        for client in &self.client {
            let (folder, _) = path(client, &client.folder)?;
            // The mac folder is that of the folder itself.
            let folder = folder.replace("mac: None", &format!("mac: {:?}", client.mac));
            writeln!(
                out,
                "ClientRow {{ name: {:?}, title: {:?}, programs: &{:?}, has_path: {:?}, folder: {folder},",
                client.name, client.title, client.programs, client.has_path
            )?;
            let server = &client.server;
            writeln!(
                out,
                "server: ServerRow {{ key: {:?}, user: {}, project: {:?}, instead: {:?} }},",
                server.key,
                path(client, &server.user)?.0,
                server.project,
                server.instead
            )?;
            writeln!(out, "hooks: {},", self.hooks(client)?)?;
            writeln!(out, "events: &[{}],", events(client)?)?;
            let moments = client.answer.iter().flat_map(|answer| &answer.moments);
            let moments: Result<Vec<_>> = moments.map(|name| moment(name)).collect();
            writeln!(out, "context_at: &[{}],", moments?.join(", "))?;
            write_files(client, out)?;
            writeln!(out, "transcript: {:?}, }},", client.transcript)?;
        }
        out.push_str("];\n");
        Ok(())
    }

    fn hooks(&self, client: &Client) -> Result<String> {
        let Some(hooks) = &client.hooks else {
            return Ok("None".to_owned());
        };
        let joined = match &hooks.runs_project_hooks_of {
            Some(name) => format!("Some({})", self.client(name)?),
            None => "None".to_owned(),
        };
        Ok(format!(
            "Some(HookRow {{ user: {}, project: {:?}, version: {:?}, joins_server_file: {:?}, \
             runs_project_hooks_of: {joined} }})",
            optional_path(client, hooks.user.as_deref())?,
            hooks.project,
            hooks.version,
            hooks.joins_server_file
        ))
    }

    /// The values that clients' files and answers have.
    fn write_values(&self, out: &mut String) -> Result<()> {
        let program = [("$PROGRAM", "program")];
        out.push_str(
            "impl AgentClient {\n/// The entry of our server; in a project it may differ.\n",
        );
        out.push_str("pub(crate) fn server_value(self, program: &str, is_in_project: bool) -> serde_json::Value {\n");
        out.push_str("match (self, is_in_project) {\n");
        for client in &self.client {
            let name = variant(&client.name);
            if let Some(entry) = &client.server.project_entry {
                writeln!(
                    out,
                    "(Self::{name}, true) => {},",
                    expression(entry, &program)
                )?;
            }
            let entry = expression(&client.server.entry, &program);
            writeln!(out, "(Self::{name}, _) => {entry},")?;
        }
        out.push_str("}\n}\n/// What its settings have for a hook.\n");
        out.push_str("pub(crate) fn hook_value(self, command: &str, name: &str, secs: u32) -> Option<serde_json::Value> {\n");
        out.push_str("match self {\n");
        let hook = [
            ("$COMMAND", "command"),
            ("$NAME", "name"),
            ("$SECONDS", "secs"),
            ("$MILLIS", "secs * 1_000"),
        ];
        for client in &self.client {
            if let Some(hooks) = &client.hooks {
                let value = expression(&hooks.entry, &hook);
                writeln!(out, "Self::{} => Some({value}),", variant(&client.name))?;
            }
        }
        out.push_str(
            "_ => None,\n}\n}\n/// What a hook prints; `None` for a client without hooks.\n",
        );
        out.push_str("#[must_use]\npub fn answer(self, event: &str, context: &str) -> Option<serde_json::Value> {\n");
        out.push_str("match self {\n");
        for client in &self.client {
            if let Some(answer) = &client.answer {
                let value = expression(
                    &answer.json,
                    &[("$EVENT", "event"), ("$CONTEXT", "context")],
                );
                writeln!(out, "Self::{} => Some({value}),", variant(&client.name))?;
            }
        }
        out.push_str("_ => None,\n}\n}\n}\n");
        Ok(())
    }

    fn write_input(&self, out: &mut String) -> Result<()> {
        out.push_str("/// The names of the fields that hooks are sent, in all clients; the usual one first.\n");
        out.push_str("pub mod fields {\n");
        for (name, known) in &self.fields {
            writeln!(out, "/// Of `{name}`.")?;
            writeln!(
                out,
                "pub const {}: &[&str] = &{known:?};",
                name.to_uppercase()
            )?;
        }
        out.push_str("}\npub(crate) static INPUT_RULES: &[InputRule] = &[\n");
        for rule in &self.input {
            writeln!(
                out,
                "InputRule {{ client: {}, has: &{:?}, transcript: {:?}, has_transcript: {:?} }},",
                self.client(&rule.client)?,
                rule.has,
                rule.transcript,
                rule.has_transcript
            )?;
        }
        out.push_str("];\n");
        Ok(())
    }
}

/// The events of a client, the one that connect writes first.
fn events(client: &Client) -> Result<String> {
    let mut out = String::new();
    let Some(events) = &client.events else {
        return Ok(out);
    };
    for (name, events) in [
        ("start", &events.start),
        ("prompt", &events.prompt),
        ("compaction", &events.compaction),
        ("answer", &events.answer),
        ("end", &events.end),
    ] {
        for event in events {
            write!(out, "({}, {event:?}), ", moment(name)?)?;
        }
    }
    Ok(out)
}

/// Files that are ours, plugins, sources of memories, and files of deploy/agents.
fn write_files(client: &Client, out: &mut String) -> Result<()> {
    out.push_str("files: &[");
    for file in &client.file {
        let text = format!("/../../deploy/agents/{}", file.from);
        write!(
            out,
            "WholeFile {{ text: include_str!(concat!(env!(\"CARGO_MANIFEST_DIR\"), {text:?})), user: {}, project: {:?} }}, ",
            optional_path(client, file.user.as_deref())?,
            file.project
        )?;
    }
    out.push_str("],\nplugin: ");
    match &client.plugin {
        Some(plugin) => write!(
            out,
            "Some(PluginRow {{ file: {:?}, project_files: &{:?}, key: {:?} }})",
            plugin.file, plugin.project_files, plugin.key
        )?,
        None => out.push_str("None"),
    }
    out.push_str(",\nmemories: &[");
    for memories in &client.memories {
        let (path, _) = path(client, &memories.path)?;
        write!(out, "({:?}, {path}), ", memories.kind)?;
    }
    out.push_str("],\ndeployed: &[");
    for deployed in &client.deployed {
        let what = match (&deployed.server, deployed.hooks.as_deref()) {
            (Some(name), None) => format!("DeployedPart::Server {{ name: {name:?} }}"),
            (None, Some("named")) => "DeployedPart::Hooks { is_named: true }".to_owned(),
            (None, Some("unnamed")) => "DeployedPart::Hooks { is_named: false }".to_owned(),
            _ => {
                let file = &deployed.file;
                return Err(format!(
                    "{FILE}: {file:?} needs server = NAME, or hooks = \"named\" or \"unnamed\""
                )
                .into());
            }
        };
        write!(out, "({:?}, {what}), ", deployed.file)?;
    }
    out.push_str("],\n");
    Ok(())
}
