//! `amemd --check-config`: the configuration, the source of each value, and the checks that need no start.

use std::fmt::Write;

use super::folder::check_folder;
use crate::auth::Secrets;
use crate::config::{Config, HttpAddress, Setting};
use crate::error::Result;
use crate::os::folder::{check_owners, check_socket_folder};
use crate::os::socket::check_path;
use crate::traces::{self, Exporter};
use crate::{models, webhooks};

/// The settings, one a line.
pub(crate) fn show(config: &Config) -> String {
    let mut out = String::new();
    let file = config.file.as_ref().map(|file| file.display().to_string());
    let file = file.as_deref().unwrap_or("none");
    // Writing to a string does not fail.
    _ = writeln!(out, "# configuration file: {file}");
    for Setting {
        key, value, source, ..
    } in &config.settings
    {
        let value = value.as_deref().unwrap_or("(none)");
        _ = writeln!(out, "{key} = {value}  # {source}");
    }
    out
}

/// Checks the configuration without changing anything; returns warnings.
pub(crate) fn check(
    config: &Config,
    exporter: Option<Exporter>,
    (webhooks, models): (Option<webhooks::Starter>, Option<models::Starter>),
) -> Result<Vec<String>> {
    let mut warnings = Vec::new();
    // The start creates the default folder.
    if !config.default_folder || config.folder.exists() {
        warnings.extend(check_folder(config)?);
        // The check may run as another user than amemd: here the wrong owner is a warning.
        let owners = check_owners(&config.folder);
        warnings.extend(owners.err().map(|why| why.to_string()));
    }
    traces::check(config, exporter)?;
    webhooks::check(config, webhooks)?;
    models::check(config, models)?;
    let http = match &config.http {
        Some(HttpAddress::Unix(path)) => Some(path),
        _ => None,
    };
    for socket in std::iter::once(&config.socket).chain(http) {
        check_path(socket)?;
        if let Some(folder) = socket.parent().filter(|folder| folder.exists()) {
            check_socket_folder(folder)?;
        }
    }
    warnings.extend(Secrets::load(config)?.warning().map(str::to_owned));
    Ok(warnings)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Flags;
    use std::sync::Arc;

    #[test]
    fn every_value_is_shown_with_its_source_and_nothing_is_made() {
        let folder = tempfile::tempdir().unwrap();
        let flags = Flags {
            folder: Some(folder.path().into()),
            socket: Some(folder.path().join("s")),
            set: vec!["limits.connections=9".into()],
            ..Flags::default()
        };
        let tcp = |name: &str| (name == "AMEMD_TCP_LISTEN").then(|| "127.0.0.1:7411".into());
        let home = folder.path().to_path_buf();
        let variable = move |name: &str| match name {
            "HOME" => Some(home.clone().into()),
            name => tcp(name),
        };
        let config = Config::load(flags, Arc::new(variable)).unwrap();
        let shown = show(&config);
        for line in [
            format!("folder = {}  # --folder", folder.path().display()),
            "limits.connections = 9  # --set".into(),
            "tcp.listen = 127.0.0.1:7411  # AMEMD_TCP_LISTEN".into(),
            "log.format = text  # default".into(),
            "access.users = (none)  # default".into(),
        ] {
            assert!(shown.lines().any(|shown| shown == line), "{line}\n{shown}");
        }
        let warnings = check(&config, None, (None, None)).unwrap();
        assert!(
            warnings
                .iter()
                .any(|words| words.contains("amemctl token create"))
        );
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
