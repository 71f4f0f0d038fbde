//! Plugins of ours that a client has installed: they bring server and hooks themselves.

use serde_json::Value;

use crate::client::{Client, ENTRY};
use crate::disk;
use crate::document::toml_value;
use crate::error::ConnectError;
use crate::jsonc::JsonText;
use crate::places::Places;

/// Whether the client has the plugin, enabled.
pub(crate) fn is_installed(client: Client, places: &Places) -> Result<bool, ConnectError> {
    let folder = client.folder(places);
    match client {
        Client::ClaudeCode => {
            let mut files = vec![folder.join("settings.json")];
            if let Some(project) = places.project() {
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
        Client::Codex => {
            let path = folder.join("config.toml");
            let text = disk::read(&path)?.unwrap_or_default();
            Ok(is_enabled(&toml_value(&path, &text)?["plugins"]))
        }
        Client::Copilot => {
            let path = folder.join("settings.json");
            let text = disk::read(&path)?.unwrap_or_default();
            let parsed = JsonText::parse(&text).map_err(|f| f.in_file(&path, &text))?;
            Ok(is_enabled(&parsed.value()["enabledPlugins"]))
        }
        Client::Gemini => {
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
