//! Every setting there is: its name, its environment variable, and whether it can change while the daemon runs.

/// A setting.
#[derive(Debug)]
pub(crate) struct Key {
    /// As a file says it: section, dot, name.
    pub(crate) name: &'static str,
    /// The environment variable.
    pub(crate) variable: &'static str,
    /// True if a reload applies it; false if it needs a restart.
    pub(crate) live: bool,
}

const fn live(name: &'static str, variable: &'static str) -> Key {
    Key {
        name,
        variable,
        live: true,
    }
}

const fn fixed(name: &'static str, variable: &'static str) -> Key {
    Key {
        name,
        variable,
        live: false,
    }
}

/// Who may do what with which brain: a table of tables of tables.
pub(crate) const BRAINS: &str = "access.brains";

/// Who may read files directly: when it changes, files do.
pub(crate) const READERS: &str = "access.readers";

/// The collector that is told of calls.
pub(crate) const TRACES: &str = "traces.otlp";

/// All settings but the limits, in the order in which they are shown.
const PLAIN: [Key; 19] = [
    fixed("folder", "AMEMD_FOLDER"),
    fixed("allow_network_folder", "AMEMD_ALLOW_NETWORK_FOLDER"),
    fixed("socket", "AMEMD_SOCKET"),
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
    fixed("metrics.listen", "AMEMD_METRICS_LISTEN"),
    fixed("metrics.allow_remote", "AMEMD_METRICS_ALLOW_REMOTE"),
    fixed(TRACES, "AMEMD_TRACES_OTLP"),
    // What it was called before there were others.
    live("log.filter", "AMEMD_LOG"),
    fixed("log.format", "AMEMD_LOG_FORMAT"),
];

/// Every setting, in the order in which they are shown.
pub(crate) fn keys() -> impl Iterator<Item = &'static Key> {
    PLAIN.iter().chain(super::bounds::KEYS.iter())
}

/// The setting of this name.
pub(crate) fn key(name: &str) -> Option<&'static Key> {
    keys().find(|key| key.name == name)
}

/// The name that a mistyped one is nearest to, if any is near.
pub(crate) fn nearest(name: &str) -> Option<&'static str> {
    let last = |name: &str| name.rsplit('.').next().unwrap_or(name).to_owned();
    let (near, key) = keys()
        .map(|key| {
            let whole = distance(name, key.name);
            // The right name in the wrong section is near, too.
            let inner = distance(&last(name), &last(key.name)) + 1;
            (whole.min(inner), key)
        })
        .min_by_key(|(near, _)| *near)?;
    (near <= 1 + name.len() / 3).then_some(key.name)
}

/// How many letters must be changed, added or taken away to make one word of another (Levenshtein).
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut corner = i;
        row[0] = i + 1;
        for (j, to) in b.iter().enumerate() {
            let changed = corner + usize::from(from != *to);
            corner = row[j + 1];
            row[j + 1] = changed.min(row[j] + 1).min(corner + 1);
        }
    }
    row[b.len()]
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
