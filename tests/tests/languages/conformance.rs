//! The conformance suite of the Model Context Protocol: what the specification of each era requires of a server.
//!
//! `amem-conformance` is our handler with the tools, prompts and resources that the suite calls; it must pass every
//! required scenario. The real daemon, which has none of them, must pass the scenarios that need none.
//!
//! Not here: how clients that people use get on (`.ci/clients`, `mcp`).

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{BufRead, BufReader};
use std::net::{Shutdown, TcpListener};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;

use serde_json::Value;

use crate::kit::{Kit, conformance, say};
use crate::place;

/// The set of the older era and that of the newer one.
const SETS: [&str; 2] = ["2025-11-25", "2026-07-28"];

/// What the directory of a scenario's results ends with, such as `-2026-11-27T01-46-08-997Z`.
const TIME_CHARS: usize = 25;

/// What the suite found in a set.
struct Report {
    /// The checks of each scenario.
    scenarios: BTreeMap<String, Vec<Value>>,
    /// Scenarios that run for information: extensions, and those that the suite's own server fails.
    not_required: BTreeSet<String>,
    is_passed: bool,
}

impl Report {
    /// Runs the suite of a set against a server.
    fn of(suite: &Kit, url: &str, set: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut command = suite.command();
        command.args([
            "server",
            "--url",
            url,
            "--requirements",
            set,
            "--output-dir",
        ]);
        let output = command.arg(folder.path()).output().unwrap();
        let said = String::from_utf8(output.stdout).unwrap();
        let scenarios = fs::read_dir(folder.path())
            .unwrap()
            .map(|entry| scenario(&entry.unwrap().path()))
            .collect();
        let (_, not_required) = said.split_once("Not scored for").unwrap_or_else(|| {
            let why = String::from_utf8_lossy(&output.stderr);
            panic!("the suite did not end: {said}{why}")
        });
        let not_required = not_required
            .lines()
            .filter_map(|line| {
                Some(
                    line.split_once(['✓', '✗'])?
                        .1
                        .split_whitespace()
                        .next()?
                        .into(),
                )
            })
            .collect();
        Self {
            scenarios,
            not_required,
            is_passed: output.status.success(),
        }
    }

    fn is_required(&self, scenario: &str) -> bool {
        !self.not_required.contains(scenario)
    }

    /// How many checks of these scenarios passed, and what was wrong with the others. What the specification only
    /// recommends counts, too; a check that needs a tool of the suite does not where the server has none.
    fn judged(&self, is_meant: impl Fn(&str) -> bool) -> (usize, Vec<String>) {
        let (mut passed, mut wrong) = (0, Vec::new());
        for (scenario, checks) in self.scenarios.iter().filter(|(name, _)| is_meant(name)) {
            for check in checks {
                match check["status"].as_str() {
                    Some("SUCCESS") => passed += 1,
                    Some("FAILURE" | "WARNING") if check["details"]["untestable"] != true => {
                        wrong.push(format!(
                            "{scenario}: {} {}",
                            check["id"], check["errorMessage"]
                        ));
                    }
                    _ => {}
                }
            }
        }
        (passed, wrong)
    }
}

/// The name and the checks of a scenario, from the directory of its results.
fn scenario(folder: &Path) -> (String, Vec<Value>) {
    let name = folder.file_name().and_then(|name| name.to_str()).unwrap();
    let name = name.strip_prefix("server-").unwrap_or(name);
    let checks = fs::read(folder.join("checks.json")).unwrap();
    let name = name[..name.len() - TIME_CHARS].to_owned();
    (name, serde_json::from_slice(&checks).unwrap())
}

/// A process that is killed when it is dropped.
struct SuiteServer(Child);

impl Drop for SuiteServer {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

#[test]
fn the_handler_passes_every_scenario_that_an_era_requires() {
    let Some(suite) = conformance() else { return };
    let mut server = Command::new(env!("CARGO_BIN_EXE_amem-conformance"));
    let mut server = SuiteServer(server.stdout(Stdio::piped()).spawn().unwrap());
    let mut url = String::new();
    let printed = server.0.stdout.take().unwrap();
    BufReader::new(printed).read_line(&mut url).unwrap();
    // Servers of the older era call their clients, for which the suite needs sessions.
    for (set, path, checks) in [(SETS[0], "sessions", 70), (SETS[1], "mcp", 115)] {
        let report = Report::of(&suite, &format!("{}/{path}", url.trim()), set);
        let (passed, wrong) = report.judged(|name| report.is_required(name));
        let (more, _) = report.judged(|name| !report.is_required(name));
        say(&format!(
            "MCP {set}: {passed} checks passed, {} failed; not required: {more} passed",
            wrong.len()
        ));
        assert!(wrong.is_empty() && report.is_passed, "{set}: {wrong:#?}");
        // A scenario that checks nothing is no proof.
        assert!(passed >= checks, "{set}: {passed} of {checks} checks");
    }
}

/// What a server passes that has none of the suite's tools, prompts and resources.
const WITHOUT_FIXTURES: [&[&str]; 2] = [
    &[
        "server-initialize",
        "ping",
        "tools-list",
        "resources-list",
        "prompts-list",
        "dns-rebinding-protection",
    ],
    &[
        "server-stateless",
        "server-sse-multiple-streams",
        "tools-list",
        "resources-list",
        "prompts-list",
        "sep-2164-resource-not-found",
        "caching",
        "dns-rebinding-protection",
        "http-header-validation",
        "input-required-result-unsupported-methods",
    ],
];

#[test]
fn the_daemon_passes_the_scenarios_that_need_no_tools_of_the_suite() {
    let Some(suite) = conformance() else { return };
    let (_folder, mut place) = place();
    let socket = place.folder().join("http");
    // The suite knows no tokens and no Unix sockets: bytes are passed on to the socket, whose callers need no token.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    place.set("AMEMD_HTTP_LISTEN", format!("unix:{}", socket.display()));
    place.set("AMEMD_HTTP_ORIGINS", url.clone());
    let daemon = place.start();
    thread::spawn(move || pass_on(&listener, socket));
    for (set, meant) in SETS.into_iter().zip(WITHOUT_FIXTURES) {
        let report = Report::of(&suite, &format!("{url}/mcp"), set);
        let (passed, wrong) = report.judged(|name| meant.contains(&name));
        say(&format!(
            "MCP {set}, the daemon: {passed} checks passed, {} failed",
            wrong.len()
        ));
        assert!(wrong.is_empty(), "{set}: {wrong:#?}");
        let missing = meant
            .iter()
            .find(|name| !report.scenarios.contains_key(**name));
        assert_eq!(missing, None, "{set}: it did not run");
    }
    assert!(daemon.stop().success());
}

/// Joins each connection to one of a Unix socket, until the test ends.
fn pass_on(listener: &TcpListener, socket: PathBuf) {
    for near in listener.incoming() {
        let near = near.unwrap();
        let far = UnixStream::connect(&socket).unwrap();
        let (mut asks, mut asked) = (near.try_clone().unwrap(), far.try_clone().unwrap());
        let (mut answers, mut answered) = (far, near);
        thread::spawn(move || {
            drop(std::io::copy(&mut asks, &mut asked));
            drop(asked.shutdown(Shutdown::Write));
        });
        thread::spawn(move || {
            drop(std::io::copy(&mut answers, &mut answered));
            drop(answered.shutdown(Shutdown::Both));
        });
    }
}
