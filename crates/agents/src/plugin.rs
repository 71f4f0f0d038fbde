//! Plugins of ours that a client has installed: they bring server and hooks themselves.

use serde_json::Value;

use crate::client::{AgentClient, ENTRY};
use crate::disk;
use crate::document::toml_value;
use crate::error::SettingsError;
use crate::jsonc::JsonText;
use crate::locations::Locations;

/// Whether the client has the plugin, enabled.
pub(crate) fn is_installed(
    client: AgentClient,
    locations: &Locations,
) -> Result<bool, SettingsError> {
    let folder = client.folder(locations);
    match client {
        AgentClient::ClaudeCode => {
            let mut files = vec![folder.join("settings.json")];
            if let Some(project) = locations.project() {
                files.push(project.join(".claude/settings.json"));
                files.push(project.join(".claude/settings.local.json"));
            }
            for path in files {
                let text = disk::read(&path)?.unwrap_or_default();
                let parsed = JsonText::parse(&text).map_err(|f| f.in_file(&path, &text))?;
                if is_enabled(&parsed.value()["enabledPlugins"]) {
                    return Ok(true);
                }
            }
            Ok(false)
        }
        AgentClient::Codex => {
            let path = folder.join("config.toml");
            let text = disk::read(&path)?.unwrap_or_default();
            Ok(is_enabled(&toml_value(&path, &text)?["plugins"]))
        }
        AgentClient::Copilot => {
            let path = folder.join("settings.json");
            let text = disk::read(&path)?.unwrap_or_default();
            let parsed = JsonText::parse(&text).map_err(|f| f.in_file(&path, &text))?;
            Ok(is_enabled(&parsed.value()["enabledPlugins"]))
        }
        AgentClient::Gemini => {
            let manifest = folder
                .join("extensions")
                .join(ENTRY)
                .join("gemini-extension.json");
            Ok(manifest.is_file())
        }
        _ => Ok(false),
    }
}

/// A map from `name@marketplace` to true, or to a table whose `enabled` is not false.
fn is_enabled(plugins: &Value) -> bool {
    let mut plugins = plugins.as_object().into_iter().flatten();
    plugins.any(|(name, value)| {
        let is_ours = name.split('@').next() == Some(ENTRY);
        is_ours && *value != false && value["enabled"] != false
    })
}
