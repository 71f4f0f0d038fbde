//! Which crate may know which: what a crate must not know, it does not list.

use std::collections::{BTreeMap, BTreeSet};

use crate::tree::{file, files, none, quoted, table};

/// Folder, package, and the packages of ours that it may list; docs/ARCHITECTURE.md has the same table.
const CRATES: [(&str, &str, &[&str]); 28] = [
    ("crates/locks", "amem-locks", &[]),
    ("crates/kernels", "amem-kernels", &[]),
    (
        "crates/format",
        "amem-format",
        &["amem-locks", "amem-kernels"],
    ),
    (
        "crates/query",
        "amem-query",
        &["amem-kernels", "amem-format"],
    ),
    ("crates/interop", "amem-interop", &["amem-format"]),
    (
        "crates/doctor",
        "amem-doctor",
        &["amem-kernels", "amem-format", "amem-interop"],
    ),
    (
        "crates/store",
        "amem-store",
        &[
            "amem-locks",
            "amem-format",
            "amem-query",
            "amem-interop",
            "amem-doctor",
        ],
    ),
    (
        "crates/engine",
        "amem-engine",
        &[
            "amem-locks",
            "amem-format",
            "amem-query",
            "amem-interop",
            "amem-doctor",
            "amem-store",
        ],
    ),
    ("crates/texts", "amem-texts", &[]),
    (
        "crates/memory",
        "amem-memory",
        &["amem-locks", "amem-format", "amem-query", "amem-texts"],
    ),
    (
        "crates/transformer",
        "amem-transformer",
        &["amem-kernels", "amem-query", "amem-memory"],
    ),
    (
        "crates/facts",
        "amem-facts",
        &[
            "amem-locks",
            "amem-format",
            "amem-query",
            "amem-store",
            "amem-engine",
            "amem-memory",
        ],
    ),
    (
        "crates/items",
        "amem-items",
        &[
            "amem-locks",
            "amem-format",
            "amem-query",
            "amem-store",
            "amem-engine",
            "amem-memory",
            "amem-facts",
        ],
    ),
    ("crates/agents", "amem-agents", &["amem-host"]),
    (
        "crates/sources",
        "amem-sources",
        &["amem-agents", "amem-host", "amem-texts"],
    ),
    ("proto", "amem-proto", &["amem-format", "amem-query"]),
    (
        "client",
        "amem-client",
        &[
            "amem-locks",
            "amem-format",
            "amem-query",
            "amem-proto",
            "amem-host",
        ],
    ),
    (
        "crates/importing",
        "amem-importing",
        &["amem-format", "amem-proto", "amem-query", "amem-sources"],
    ),
    (
        "crates/mcp",
        "amem-mcp",
        &[
            "amem-format",
            "amem-query",
            "amem-memory",
            "amem-texts",
            "amem-proto",
        ],
    ),
    (
        "crates/hooks",
        "amem-hooks",
        &[
            "amem-locks",
            "amem-memory",
            "amem-agents",
            "amem-texts",
            "amem-proto",
            "amem-mcp",
        ],
    ),
    ("crates/host", "amem-host", &[]),
    ("crates/traces", "amem-traces", &[]),
    ("crates/outbound", "amem-outbound", &["amem-host"]),
    ("crates/webhooks", "amem-webhooks", &["amem-outbound"]),
    (
        "crates/models",
        "amem-models",
        &[
            "amem-locks",
            "amem-memory",
            "amem-transformer",
            "amem-host",
            "amem-outbound",
            "amem-scripted",
        ],
    ),
    ("crates/scripted", "amem-scripted", &["amem-locks"]),
    (
        "daemon",
        "amemd",
        &[
            "amem-locks",
            "amem-format",
            "amem-query",
            "amem-interop",
            "amem-doctor",
            "amem-store",
            "amem-engine",
            "amem-memory",
            "amem-facts",
            "amem-items",
            "amem-host",
            "amem-proto",
            "amem-traces",
            "amem-mcp",
            "amem-webhooks",
            "amem-hooks",
            "amem-models",
        ],
    ),
    (
        "cli",
        "amemctl",
        &[
            "amem-locks",
            "amem-format",
            "amem-query",
            "amem-interop",
            "amem-doctor",
            "amem-agents",
            "amem-host",
            "amem-client",
            "amem-mcp",
            "amem-hooks",
            "amem-sources",
            "amem-importing",
            "amem-texts",
            "amem-memory",
            "amem-models",
        ],
    ),
];

/// What nothing may list.
const LEAVES: [(&str, &str); 3] = [
    ("tests", "amem-tests"),
    ("benches", "amem-benches"),
    ("fuzz", "amem-fuzz"),
];

/// Crates that speak to the network or wait for it: not for the crates of bytes and durability.
const NETWORK: [&str; 11] = [
    "tokio",
    "tokio-stream",
    "tonic",
    "tonic-health",
    "tonic-prost",
    "tower",
    "hyper",
    "h2",
    "futures",
    "prost",
    "http",
];

/// The packages that a manifest lists, in any section of dependencies.
fn dependencies(manifest: &str) -> Vec<String> {
    let (mut out, mut inside) = (Vec::new(), false);
    for line in file(manifest).text.lines() {
        if let Some(section) = line.strip_prefix('[') {
            let section = section.trim_end_matches(']');
            let named = section.rsplit_once("dependencies.").map(|(_, name)| name);
            out.extend(named.map(str::to_owned));
            inside = section.ends_with("dependencies");
        } else if inside && let Some((name, _)) = line.split_once(['.', ' ', '=']) {
            out.push(name.trim_matches('"').to_owned());
        }
    }
    out
}

#[test]
fn arrows_between_crates_go_one_way() {
    let mut out = Vec::new();
    for (folder, package, allowed) in CRATES {
        let manifest = format!("{folder}/Cargo.toml");
        let name = format!("name = \"{package}\"");
        if !file(&manifest).text.lines().any(|line| line == name) {
            out.push(format!("{manifest}: it is not {package}"));
        }
        let ours = dependencies(&manifest)
            .into_iter()
            .filter(|d| d.starts_with("amem"));
        for dependency in ours.filter(|d| !allowed.contains(&d.as_str())) {
            out.push(format!(
                "{manifest}: {package} must not know {dependency}, only {allowed:?}"
            ));
        }
    }
    none(out);
}

#[test]
fn every_crate_has_a_row_in_the_table() {
    let known: Vec<_> = CRATES
        .iter()
        .map(|c| c.0)
        .chain(LEAVES.map(|l| l.0))
        .collect();
    let manifests = files()
        .into_iter()
        .filter(|f| f.path.ends_with("/Cargo.toml") && !f.path.contains("/sample/"));
    let unknown = manifests.filter(|f| !known.iter().any(|k| f.path == format!("{k}/Cargo.toml")));
    none(
        unknown
            .map(|f| format!("{}: which crates may it know?", f.path))
            .collect(),
    );
}

#[test]
fn bytes_and_durability_know_no_network() {
    let mut out = Vec::new();
    for manifest in [
        "crates/format/Cargo.toml",
        "crates/query/Cargo.toml",
        "crates/interop/Cargo.toml",
        "crates/doctor/Cargo.toml",
        "crates/store/Cargo.toml",
        "crates/memory/Cargo.toml",
        "crates/transformer/Cargo.toml",
    ] {
        let found = dependencies(manifest);
        let network = found.iter().filter(|d| NETWORK.contains(&d.as_str()));
        out.extend(network.map(|d| format!("{manifest}: it must not know {d}")));
    }
    none(out);
}

/// What speaks a protocol: not for the engine, which waits and has threads, and knows no messages.
const PROTOCOLS: [&str; 13] = [
    "amem-proto",
    "h2",
    "http",
    "http-body",
    "hyper",
    "hyper-util",
    "prost",
    "prost-types",
    "tokio-rustls",
    "tonic",
    "tonic-health",
    "tonic-prost",
    "tower",
];

/// The packages that a crate is built of, for its own code and not for its tests: those that it lists, and those that
/// they list, according to Cargo.lock.
fn tree_of(package: &str) -> BTreeSet<String> {
    let lock = file("Cargo.lock").text;
    let mut listed: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for part in lock.split("[[package]]") {
        let name = part.lines().find_map(|line| line.strip_prefix("name = "));
        let Some(name) = name else { continue };
        let known = listed.entry(name.trim_matches('"')).or_default();
        let names = part.lines().filter(|line| line.starts_with(" \""));
        known.extend(names.filter_map(|line| line.split(['"', ' ']).find(|word| !word.is_empty())));
    }
    let (mut found, mut next) = (BTreeSet::new(), vec![package]);
    while let Some(name) = next.pop() {
        if found.insert(name.to_owned()) {
            next.extend(listed.get(name).into_iter().flatten());
        }
    }
    found
}

#[test]
fn the_engine_knows_no_protocol_at_any_depth() {
    let tree = tree_of("amem-engine");
    assert!(tree.contains("tokio") && tree.contains("amem-store"));
    let found = PROTOCOLS.iter().filter(|package| tree.contains(**package));
    none(
        found
            .map(|package| format!("amem-engine must not depend on {package}"))
            .collect(),
    );
}

#[test]
fn nothing_that_owns_a_brain_connects_out() {
    let ways = [
        "TcpStream::connect",
        "UnixStream::connect",
        "UdpSocket::bind",
        "Endpoint::",
        "Channel::",
        "connect_lazy",
        "reqwest",
        "ureq",
    ];
    let mut out = Vec::new();
    for file in files() {
        let owner = [
            "crates/format/src/",
            "crates/query/src/",
            "crates/interop/src/",
            "crates/doctor/src/",
            "crates/store/src/",
            "crates/engine/src/",
            "crates/memory/src/",
            "crates/transformer/src/",
            "daemon/src/",
        ];
        if !file.is_rust() || !owner.iter().any(|o| file.path.starts_with(o)) {
            continue;
        }
        // What tests do beside the code is theirs.
        let code = file.text.split("#[cfg(test)]").next().unwrap_or_default();
        for (line, text) in code.lines().enumerate() {
            for way in ways.iter().filter(|way| text.contains(*way)) {
                out.push(format!("{}:{}: {way}", file.path, line + 1));
            }
        }
    }
    none(out);
}

#[test]
fn the_architecture_lists_the_same_arrows() {
    let rows = table(
        &file("docs/ARCHITECTURE.md"),
        "Crates",
        &["folder", "package", "may know"],
    );
    let told: Vec<_> = rows
        .iter()
        .map(|row| {
            let known: Vec<_> = quoted(&row[2]).map(str::to_owned).collect();
            (row[0].clone(), row[1].clone(), known)
        })
        .collect();
    let tick = |text: &str| format!("`{text}`");
    let held = CRATES.iter().map(|(folder, package, allowed)| {
        let allowed = allowed.iter().map(|a| (*a).to_owned()).collect();
        (tick(&format!("{folder}/")), tick(package), allowed)
    });
    assert_eq!(told, held.collect::<Vec<_>>());
}
