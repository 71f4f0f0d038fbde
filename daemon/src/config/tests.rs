//! Settings from flags, variables, files and defaults; what does not do.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::sync::Arc;

use super::keys::keys;
use super::*;
use crate::auth::Role;
use crate::error::Result;

fn load(flags: Flags, variables: &[(&str, &str)]) -> Result<Config> {
    let variables: BTreeMap<String, String> = variables
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect();
    Config::load(
        flags,
        Arc::new(move |name| variables.get(name).map(Into::into)),
    )
}

/// With a folder and a socket, and these other settings.
fn set(pairs: &[&str]) -> Result<Config> {
    let flags = Flags {
        folder: Some("/b".into()),
        socket: Some("/s".into()),
        set: pairs.iter().map(|pair| (*pair).to_owned()).collect(),
        ..Flags::default()
    };
    load(flags, &[("HOME", "/h")])
}

#[test]
fn a_flag_wins_over_a_variable_over_a_file_over_the_default() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("f.toml");
    fs::write(
        &file,
        "folder = \"below\"\n[limits]\nconnections = 1\nrequests_in_flight = 1\ndeadline_secs = 1\n",
    )
    .unwrap();
    let flags = Flags {
        config: Some(file.clone()),
        socket: Some("/s".into()),
        set: vec!["limits.connections=3".into()],
        ..Flags::default()
    };
    let variables = [
        ("AMEMD_LIMITS_CONNECTIONS", "2"),
        ("AMEMD_LIMITS_REQUESTS_IN_FLIGHT", "2"),
    ];
    let config = load(flags, &variables).unwrap();
    assert_eq!(config.folder, folder.path().join("below"));
    let limits = &config.limits;
    assert_eq!(
        (
            limits.connections,
            limits.requests_in_flight,
            limits.deadline_secs
        ),
        (3, 2, 1)
    );
    let source = |key: &str| {
        let setting = config.settings.iter().find(|setting| setting.key == key);
        setting.unwrap().source.to_string()
    };
    assert_eq!(source("limits.connections"), "--set");
    assert_eq!(
        source("limits.requests_in_flight"),
        "AMEMD_LIMITS_REQUESTS_IN_FLIGHT"
    );
    assert_eq!(
        source("limits.deadline_secs"),
        format!("{}:5", file.display())
    );
    assert_eq!(source("limits.preface_millis"), "default");
}

#[test]
fn every_setting_is_read_and_shown() {
    let config = set(&[]).unwrap();
    let shown: BTreeSet<_> = config.settings.iter().map(|s| s.key).collect();
    let known: BTreeSet<_> = keys().map(|key| key.name).collect();
    assert_eq!(shown, known);
    assert_eq!(config.settings.len(), known.len());
    assert_eq!(config.limits, Limits::default());
}

#[test]
fn the_defaults_come_from_the_environment_and_are_named_where_it_is_silent() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().to_str().unwrap();
    let environment = [("HOME", home), ("XDG_RUNTIME_DIR", "/run/user/7")];
    let config = load(Flags::default(), &environment).unwrap();
    assert_eq!(
        config.folder,
        folder.path().join(".local/share/amem/brains")
    );
    let socket = folder.path().join(".local/share/amem/run/amemd.sock");
    assert_eq!(config.socket, socket, "not in a login session's folder");
    assert!(config.default_folder);
    assert_eq!(
        fs::read_dir(home).unwrap().count(),
        0,
        "reading makes nothing"
    );
    crate::open_folder(&config).unwrap();
    let mode = fs::metadata(&config.folder).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::mode(&mode.permissions());
    assert_eq!(mode & 0o777, 0o700);

    // XDG_DATA_HOME moves both. A caller without it finds the folder last used, unless the default one has brains.
    let other = tempfile::tempdir().unwrap();
    let data = other.path().to_str().unwrap();
    let moved = load(Flags::default(), &[("HOME", home), ("XDG_DATA_HOME", data)]).unwrap();
    assert_eq!(moved.folder, other.path().join("amem/brains"));
    assert_eq!(moved.socket, other.path().join("amem/run/amemd.sock"));
    crate::open_folder(&moved).unwrap();
    moved.record_place().unwrap();
    let last = load(Flags::default(), &[("HOME", home)]).unwrap();
    assert_eq!((&last.folder, &last.socket), (&moved.folder, &moved.socket));
    fs::write(config.folder.join("work.amem"), "").unwrap();
    let own = load(Flags::default(), &[("HOME", home)]).unwrap();
    assert_eq!((&own.folder, &own.socket), (&config.folder, &config.socket));

    // A user's file is found by itself.
    fs::create_dir_all(folder.path().join(".config/amemd")).unwrap();
    fs::write(
        folder.path().join(".config/amemd/config.toml"),
        "log.filter = \"warn\"",
    )
    .unwrap();
    let config = load(Flags::default(), &environment).unwrap();
    assert_eq!(config.log_filter, "warn");

    // Without HOME, the home folder is that of the password database.
    let known = amem_host::paths::password_home().map(|home| home.join(".local/share/amem/brains"));
    let found = load(Flags::default(), &[]).map(|config| config.folder);
    match known {
        Some(known) => assert_eq!(found.unwrap(), known),
        None => assert!(found.unwrap_err().to_string().contains("--folder")),
    }
    let flags = Flags {
        folder: Some("/b".into()),
        ..Flags::default()
    };
    let found = load(flags, &[]).map(|config| config.socket);
    match amem_host::paths::password_home() {
        Some(home) => assert_eq!(
            found.unwrap(),
            home.join(".local/share/amem/run/amemd.sock")
        ),
        None => assert!(found.unwrap_err().to_string().contains("--socket")),
    }
    let flags = Flags {
        config: Some("/nowhere/c.toml".into()),
        ..Flags::default()
    };
    let error = load(flags, &[]).unwrap_err().to_string();
    assert!(error.contains("/nowhere/c.toml"), "{error}");
}

#[test]
fn values_that_do_not_do_are_told_with_key_and_source() {
    for (pairs, words) in [
        (
            &["limits.connections=0"][..],
            &["limits.connections", "--set", "1 and 65536"][..],
        ),
        (&["limits.connections=many"], &["\"many\""]),
        (&["limits.connections="], &["empty"]),
        (&["log.format=xml"], &["log.format", "text or json"]),
        (&["log.filter=amemd=loud"], &["log.filter"]),
        (&["tcp.listen=localhost"], &["tcp.listen", "localhost"]),
        (&["tcp.role=king"], &["read, write or admin"]),
        (&["allow_network_folder=maybe"], &["allow_network_folder"]),
        (&["access.users=7=read"], &["access.socket_group"]),
        (
            &["access.socket_group=5", "access.users=no-such-user=read"],
            &["\"no-such-user\"", "numeric", "/etc/passwd"],
        ),
        (&["access.socket_group=5", "access.users=7"], &["7", "role"]),
        (
            &["access.brains=work/users/7=read"],
            &["access.brains", "access.socket_group"],
        ),
        (
            &["access.socket_group=5", "access.brains=work/7=read"],
            &["work/7", "`users` or `groups`"],
        ),
        (
            &["access.socket_group=5", "access.brains=work/all/7=read"],
            &["\"all\"", "neither users nor groups"],
        ),
        (
            &["access.socket_group=5", "access.brains=.x/users/7=read"],
            &["access.brains", "begins with a dot"],
        ),
        (
            &["access.socket_group=5", "access.brains=work/users/7=king"],
            &["\"king\"", "read, write or admin"],
        ),
        (
            &["zone=Mars/Olympus"],
            &["zone", "Mars/Olympus", "Europe/Berlin"],
        ),
        (&["secrets=hide"], &["secrets", "\"hide\"", "mask or keep"]),
        (&["no.such=1"], &["no.such"]),
        (&["socket"], &["KEY=VALUE"]),
    ] {
        let error = set(pairs).unwrap_err().to_string();
        for word in words {
            assert!(error.contains(word), "{pairs:?}: {error}");
        }
    }
    let brains = "access.brains=work/users/root=read,work/groups/9=admin,my.notes/users/7=write";
    let config = set(&["access.socket_group=5", brains]).unwrap();
    let work = &config.brain_grants["work"];
    assert_eq!(work.users, [(0, Role::Read)].into());
    assert_eq!(work.groups, [(9, Role::Admin)].into());
    assert_eq!(
        config.brain_grants["my.notes"].users,
        [(7, Role::Write)].into()
    );
    let config = set(&["access.socket_group=5", "access.users=7=read, root=write"]).unwrap();
    assert_eq!(
        config.grants.users,
        [(7, Role::Read), (0, Role::Write)].into()
    );
    assert_eq!(config.socket_group, Some(5));
}

#[test]
fn tcp_is_safe_or_it_is_no_configuration() {
    let cert = ["tcp.tls_certificate=/c", "tcp.tls_key=/k"];
    for (pairs, words) in [
        (vec!["tcp.listen=0.0.0.0:1"], "tcp.tls_certificate"),
        (
            vec!["tcp.listen=[::]:1", "tcp.tokens_file=/t"],
            "other machines",
        ),
        (
            vec!["tcp.listen=10.0.0.1:1", "tcp.tls_key=/k"],
            "tcp.tls_certificate",
        ),
        (
            vec!["tcp.listen=10.0.0.1:1", "tcp.tls_certificate=/c"],
            "tcp.tls_key",
        ),
        (
            vec!["tcp.listen=127.0.0.1:1", "tcp.tls_client_ca=/a"],
            "need TLS",
        ),
    ] {
        let error = set(&pairs).unwrap_err().to_string();
        assert!(error.contains(words), "{pairs:?}: {error}");
    }
    let tcp = |pairs: &[&str]| set(pairs).unwrap().tcp.unwrap();
    let loopback = tcp(&["tcp.listen=127.0.0.1:1"]);
    let tokens = Path::new("/h/.config/amemd/tokens.toml");
    assert_eq!(loopback.tokens_file.as_deref(), Some(tokens));
    assert_eq!((loopback.tls, loopback.role), (None, Role::Write));
    let listen = "tcp.listen=0.0.0.0:1";
    let public = tcp(&[listen, cert[0], cert[1]]);
    assert_eq!(
        public.tokens_file.as_deref(),
        Some(tokens),
        "TLS alone says not who calls"
    );
    let mutual = tcp(&[listen, cert[0], cert[1], "tcp.tls_client_ca=/a"]);
    assert_eq!(mutual.tokens_file, None);
    let both = tcp(&[
        listen,
        cert[0],
        cert[1],
        "tcp.tls_client_ca=/a",
        "tcp.tokens_file=/t",
    ]);
    assert_eq!(both.tokens_file.as_deref(), Some(Path::new("/t")));
    assert_eq!(set(&[]).unwrap().tcp, None);
}

#[test]
fn http_by_tcp_is_as_safe_as_grpc_and_a_socket_needs_no_token() {
    let error = set(&["http.listen=0.0.0.0:1"]).unwrap_err().to_string();
    assert!(
        error.contains("http.listen") && error.contains("other machines"),
        "{error}"
    );
    let both = set(&["http.listen=127.0.0.1:1", "tcp.listen=127.0.0.1:2"]).unwrap();
    assert_eq!(both.http, "127.0.0.1:1".parse().ok());
    let alone = set(&["http.listen=127.0.0.1:1"]).unwrap().tcp.unwrap();
    assert!(alone.listen.is_none() && alone.tokens_file.is_some());
    let unix = set(&["http.listen=unix:/run/h", "http.origins=https://a.example"]).unwrap();
    assert_eq!((unix.tcp, unix.http), (None, "/run/h".parse().ok()));
    assert!(unix.http_origins.allow(b"https://a.example"));
    for (pair, words) in [
        ("http.listen=h", "http.listen"),
        ("http.origins=*", "no origin"),
    ] {
        let error = set(&[pair]).unwrap_err().to_string();
        assert!(error.contains(words), "{pair}: {error}");
    }
}

#[test]
fn metrics_are_told_to_this_machine_only_unless_it_is_said_twice() {
    assert_eq!(set(&[]).unwrap().metrics, None);
    assert_eq!(set(&["metrics.allow_remote=true"]).unwrap().metrics, None);
    for local in ["127.0.0.1:9411", "[::1]:9411"] {
        let config = set(&[&format!("metrics.listen={local}")]).unwrap();
        assert_eq!(config.metrics, local.parse().ok());
    }
    for (pairs, words) in [
        (&["metrics.listen=0.0.0.0:9411"][..], "metrics.allow_remote"),
        (&["metrics.listen=10.0.0.1:9411"], "other machines"),
        (
            &["metrics.listen=[::]:1", "metrics.allow_remote=false"],
            "metrics.listen",
        ),
        (&["metrics.listen=9411"], "metrics.listen"),
        (&["metrics.allow_remote=perhaps"], "metrics.allow_remote"),
    ] {
        let error = set(pairs).unwrap_err().to_string();
        assert!(error.contains(words), "{pairs:?}: {error}");
    }
    let config = set(&["metrics.listen=0.0.0.0:1", "metrics.allow_remote=true"]);
    assert_eq!(config.unwrap().metrics, "0.0.0.0:1".parse().ok());
}

#[test]
fn roles_for_brains_are_tables_in_a_file_and_shown_as_one_line() {
    let text = "[access]\nsocket_group = 5\n[access.brains.work]\nusers = { 7 = \"read\" }\n\
                [access.brains.\"my.notes\"]\ngroups = { 9 = \"write\" }\nusers = {}\n";
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("f.toml");
    fs::write(&file, format!("folder = \"/b\"\nsocket = \"/s\"\n{text}")).unwrap();
    let flags = Flags {
        config: Some(file.clone()),
        ..Flags::default()
    };
    let config = load(flags.clone(), &[]).unwrap();
    let shown = config.settings.iter().find(|s| s.key == "access.brains");
    let shown = shown.unwrap().value.as_deref();
    assert_eq!(shown, Some("my.notes/groups/9=write,work/users/7=read"));
    for wrong in [
        "users = 7",
        "users = { 7 = 1 }",
        "users = { 7 = { 8 = \"read\" } }",
        "role = \"read\"",
    ] {
        let text = format!(
            "folder = \"/b\"\nsocket = \"/s\"\n[access]\nsocket_group = 5\n[access.brains.work]\n{wrong}\n"
        );
        fs::write(&file, text).unwrap();
        let error = load(flags.clone(), &[]).unwrap_err().to_string();
        assert!(error.contains("access.brains"), "{error}");
    }
}

/// The sample with its examples switched on: a line that is commented out has no space behind its `#`.
fn sample() -> String {
    let text = include_str!("../../../deploy/amemd.toml");
    let lines = text.lines().map(|line| match line.strip_prefix('#') {
        Some(rest) if !rest.is_empty() && !rest.starts_with(' ') => rest,
        _ => line,
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn the_sample_has_every_setting_and_tells_the_defaults_of_limits() {
    let values = file::parse(Path::new("deploy/amemd.toml"), &sample()).unwrap();
    let there: BTreeSet<_> = values.keys().copied().collect();
    let known: BTreeSet<_> = keys().map(|key| key.name).collect();
    assert_eq!(there, known);

    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("sample.toml");
    fs::write(&file, sample()).unwrap();
    let flags = Flags {
        config: Some(file),
        ..Flags::default()
    };
    let config = load(flags, &[]).unwrap();
    assert_eq!(config.limits, Limits::default());

    let asleep = file::parse(Path::new("s"), include_str!("../../../deploy/amemd.toml")).unwrap();
    assert!(asleep.is_empty(), "the sample as it is changes nothing");
}
