//! The table of settings: name, environment variable, and whether a reload applies it.

use amem_format::spelling;

use super::setting_key::SettingKey;

const fn live(name: &'static str, variable: &'static str) -> SettingKey {
    SettingKey {
        name,
        variable,
        live: true,
    }
}

const fn fixed(name: &'static str, variable: &'static str) -> SettingKey {
    SettingKey {
        name,
        variable,
        live: false,
    }
}

/// The grants by brain: a table of tables of tables.
pub(crate) const BRAINS: &str = "access.brains";

/// The groups that read files directly. A change of it changes the group of files.
pub(crate) const READERS: &str = "access.readers";

/// The collector of traces.
pub(crate) const TRACES: &str = "traces.otlp";

/// The hosts that webhooks may call.
pub(crate) const WEBHOOK_HOSTS: &str = "webhooks.hosts";

/// Those of them that may have private addresses.
pub(crate) const WEBHOOK_PRIVATE_HOSTS: &str = "webhooks.private_hosts";

/// The file of the models.
pub(crate) const MODELS_FILE: &str = "models.file";

/// All settings but the limits, in the order of `--check-config`.
const PLAIN: [SettingKey; 26] = [
    fixed("folder", "AMEMD_FOLDER"),
    fixed("allow_network_folder", "AMEMD_ALLOW_NETWORK_FOLDER"),
    fixed("socket", "AMEMD_SOCKET"),
    live("zone", "AMEMD_ZONE"),
    live("secrets", "AMEMD_SECRETS"),
    fixed("access.socket_group", "AMEMD_ACCESS_SOCKET_GROUP"),
    live("access.users", "AMEMD_ACCESS_USERS"),
    live("access.groups", "AMEMD_ACCESS_GROUPS"),
    live(BRAINS, "AMEMD_ACCESS_BRAINS"),
    live(READERS, "AMEMD_ACCESS_READERS"),
    fixed("tcp.listen", "AMEMD_TCP_LISTEN"),
    live("tcp.role", "AMEMD_TCP_ROLE"),
    live("tcp.tokens_file", "AMEMD_TCP_TOKENS_FILE"),
    live("tcp.tls_certificate", "AMEMD_TCP_TLS_CERTIFICATE"),
    live("tcp.tls_key", "AMEMD_TCP_TLS_KEY"),
    live("tcp.tls_client_ca", "AMEMD_TCP_TLS_CLIENT_CA"),
    fixed("http.listen", "AMEMD_HTTP_LISTEN"),
    live("http.origins", "AMEMD_HTTP_ORIGINS"),
    fixed("metrics.listen", "AMEMD_METRICS_LISTEN"),
    fixed("metrics.allow_remote", "AMEMD_METRICS_ALLOW_REMOTE"),
    fixed(TRACES, "AMEMD_TRACES_OTLP"),
    fixed(WEBHOOK_HOSTS, "AMEMD_WEBHOOKS_HOSTS"),
    fixed(WEBHOOK_PRIVATE_HOSTS, "AMEMD_WEBHOOKS_PRIVATE_HOSTS"),
    fixed(MODELS_FILE, "AMEMD_MODELS_FILE"),
    // Older than the other variables, hence its name.
    live("log.filter", "AMEMD_LOG"),
    fixed("log.format", "AMEMD_LOG_FORMAT"),
];

/// Every setting, in the order of `--check-config`.
pub(crate) fn keys() -> impl Iterator<Item = &'static SettingKey> {
    PLAIN.iter().chain(super::bounds::KEYS.iter())
}

pub(crate) fn key(name: &str) -> Option<&'static SettingKey> {
    keys().find(|key| key.name == name)
}

/// The name that a mistyped one is probably meant to be.
pub(crate) fn nearest(name: &str) -> Option<&'static str> {
    spelling::nearest(name, keys().map(|key| key.name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn every_name_and_every_variable_is_there_once() {
        let names: HashSet<_> = keys().map(|key| key.name).collect();
        let variables: HashSet<_> = keys().map(|key| key.variable).collect();
        assert_eq!(names.len(), keys().count());
        assert_eq!(variables.len(), keys().count());
    }

    #[test]
    fn a_mistyped_name_is_led_to_the_right_one_and_a_strange_one_nowhere() {
        for (typed, meant) in [
            ("foldr", "folder"),
            ("tcp.lisen", "tcp.listen"),
            ("tcp.socket", "socket"),
            ("limits.conections", "limits.connections"),
            ("tokens_fil", "tcp.tokens_file"),
        ] {
            assert_eq!(nearest(typed), Some(meant), "{typed}");
        }
        assert_eq!(nearest("zzzzzzzzzzzz"), None);
    }
}
