//! Plugins of ours that a client has installed: they bring server and hooks themselves.

use serde_json::Value;

use crate::client::{AgentClient, ENTRY};
use crate::disk;
use crate::document;
use crate::error::SettingsError;
use crate::locations::Locations;

/// Whether the client has the plugin, enabled.
pub(crate) fn is_installed(
    client: AgentClient,
    locations: &Locations,
) -> Result<bool, SettingsError> {
    let Some(row) = &client.row().plugin else {
        return Ok(false);
    };
    let file = client.folder(locations).join(row.file);
    let Some(key) = row.key else {
        return Ok(file.is_file());
    };
    let mut files = vec![file];
    if let Some(project) = locations.project() {
        files.extend(row.project_files.iter().map(|file| project.join(file)));
    }
    for path in files {
        let text = disk::read(&path)?.unwrap_or_default();
        if is_enabled(&document::value(&path, &text)?[key]) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// A map from `name@marketplace` to true, or to a table whose `enabled` is not false.
fn is_enabled(plugins: &Value) -> bool {
    let mut plugins = plugins.as_object().into_iter().flatten();
    plugins.any(|(name, value)| {
        let is_ours = name.split('@').next() == Some(ENTRY);
        is_ours && *value != false && value["enabled"] != false
    })
}
