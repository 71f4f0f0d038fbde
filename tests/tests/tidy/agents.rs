//! The plugins in deploy/agents: valid, of this version, and with the hooks that `amemctl connect` writes.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::tree::{File, file, files, none};

fn plugins() -> Vec<File> {
    let files = files();
    let ours = files.into_iter();
    // What is hidden is not among the files of the workspace.
    let hidden = [
        "marketplace/.claude-plugin/marketplace.json",
        "marketplace/amem/.claude-plugin/plugin.json",
        "marketplace/amem/.codex-plugin/plugin.json",
        "marketplace/amem/.mcp.json",
    ];
    let hidden = hidden.map(|path| file(&format!("deploy/agents/{path}")));
    let ours = ours.filter(|file| file.path.starts_with("deploy/agents/"));
    ours.chain(hidden).collect()
}

fn parsed(file: &File) -> Value {
    serde_json::from_str(&file.text).unwrap_or_else(|e| panic!("{}: {e}", file.path))
}

#[test]
fn plugins_have_the_version_of_the_workspace() {
    let version = env!("CARGO_PKG_VERSION");
    let (mut out, mut versions) = (Vec::new(), 0);
    for file in plugins().iter().filter(|file| file.path.ends_with(".json")) {
        let value = parsed(file);
        let listed = value["plugins"].as_array().into_iter().flatten();
        for found in listed
            .chain([&value])
            .filter_map(|of| of["version"].as_str())
        {
            versions += 1;
            if found != version {
                out.push(format!("{}: version {found}, not {version}", file.path));
            }
        }
    }
    none(out);
    assert_eq!(
        versions, 5,
        "plugins of Claude Code and Codex, marketplace, extension, bundle"
    );
}

#[test]
fn plugins_have_the_hooks_and_servers_that_connect_writes() {
    let (mut out, mut known) = (Vec::new(), BTreeSet::new());
    for (path, wanted) in amem_agents::deployed() {
        let path = format!("deploy/agents/{path}");
        let found = parsed(&file(&path));
        for (key, value) in wanted.as_object().expect("an object") {
            if found[key] != *value {
                out.push(format!("{path}: {key} should be {value:#}"));
            }
        }
        known.insert(path);
    }
    for file in plugins() {
        let has_hooks = file.path.ends_with(".json") && file.text.contains("amemctl");
        if has_hooks && !known.contains(&file.path) && !file.path.contains("/mcpb/") {
            out.push(format!("{}: nothing holds it", file.path));
        }
    }
    none(out);
}

#[test]
fn the_skill_and_the_bundle_name_the_tools_of_the_server() {
    let tools = ["recall", "remember", "correct", "why", "timeline", "forget"];
    let bundle = parsed(&file("deploy/agents/mcpb/manifest.json"));
    let named = bundle["tools"].as_array().expect("its tools");
    let named: Vec<_> = named
        .iter()
        .filter_map(|tool| tool["name"].as_str())
        .collect();
    assert_eq!(named, tools);
    let skill = file("deploy/agents/marketplace/amem/skills/memory/SKILL.md").text;
    for tool in tools {
        assert!(skill.contains(&format!("`{tool}`")), "SKILL.md: {tool}");
    }
}

#[test]
fn agents_md_has_a_row_for_each_client() {
    let page = file("docs/agents.md").text;
    for client in amem_agents::AgentClient::ALL {
        let row = format!("\n| `{}` |", client.name());
        assert!(page.contains(&row), "docs/agents.md: {}", client.name());
    }
    for variable in amem_agents::VARIABLES {
        let is_listed = page.contains(variable) || variable == "XDG_STATE_HOME";
        assert!(is_listed, "docs/agents.md: {variable}");
    }
}
