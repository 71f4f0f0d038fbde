//! What the programs connect to: their socket, by the calls that the system sees.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use amem_tests::machine::skipped;
use amem_tests::programs::{amemctl, amemd};

/// A session of ordinary work: a command a line, its words apart by `|`.
const SESSION: [&str; 19] = [
    "brain|create|work",
    "add|work|the build runs on Tuesdays",
    "add|work|the build runs on two machines|--session|monday",
    "correct|work|0|the build runs on Wednesdays|--reason|it was moved",
    "link|work|1|supports|2",
    "search|work|when does the build run",
    "context|work|when does the build run",
    "why|work|1",
    "timeline|work",
    "sessions|list|work",
    "decay|work",
    "checkpoint|work",
    "export|work|--output|work.jsonl|--format|jsonl",
    "import|work.jsonl|again",
    "merge|work|again",
    "verify|work",
    "brain|ls",
    "status",
    "conflicts",
];

/// strace of a program and of all that it starts; it is the process that is started.
fn traced(log: &Path, program: &Path, home: &Path) -> Command {
    let mut strace = Command::new("strace");
    strace.args(["-D", "-f", "-qq", "-s", "256", "-e", "trace=network", "-o"]);
    strace.arg(log).arg(program).current_dir(home);
    strace.env_clear().env("HOME", home).env("TZ", "UTC");
    strace.stdin(Stdio::null());
    strace
}

/// The families of sockets that were made, and what was connected to.
fn seen(log: &Path) -> (BTreeSet<String>, BTreeSet<String>) {
    let (mut families, mut peers) = (BTreeSet::new(), BTreeSet::new());
    for line in fs::read_to_string(log).unwrap().lines() {
        // `1234  connect(9, {sa_family=AF_UNIX, sun_path="/…/amemd.sock"}, 110) = 0`
        let Some((call, rest)) = line.split_once('(') else {
            continue;
        };
        let call = call.split_whitespace().last().unwrap_or_default();
        let first = rest.split([',', ')']).next().unwrap_or_default();
        match call {
            "socket" | "socketpair" => drop(families.insert(first.to_owned())),
            // A message may name a peer that nothing connected to.
            "connect" => drop(peers.insert(rest.to_owned())),
            "sendto" | "sendmsg" if rest.contains("sa_family") => {
                peers.insert(rest.to_owned());
            }
            _ => {}
        }
    }
    (families, peers)
}

#[test]
fn nothing_is_connected_to_but_the_socket_in_a_session_of_ordinary_work() {
    let home = tempfile::Builder::new().prefix("amem").tempdir().unwrap();
    let logs = tempfile::tempdir().unwrap();
    let program = amemctl().get_program().to_owned();
    let program = Path::new(&program);
    let mut tried = traced(&logs.path().join("tried"), program, home.path());
    let tried = tried.arg("--version").output();
    match &tried {
        Ok(output) if output.status.success() => {}
        why => return skipped(&format!("what is connected to: strace: {why:?}")),
    }
    let daemon_log = logs.path().join("amemd");
    let mut daemon = traced(&daemon_log, &amemd(), home.path());
    let mut daemon = daemon.stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(daemon.stderr.take().unwrap()).lines();
    let is_ready = lines.any(|line| line.is_ok_and(|line| line.contains("ready")));
    assert!(is_ready, "the daemon ended before it was ready");
    let reading = std::thread::spawn(move || lines.for_each(drop));
    let mut logs_of: Vec<_> = vec![("amemd".to_owned(), daemon_log)];
    let last = "shutdown";
    for (number, words) in SESSION.iter().chain([&last]).enumerate() {
        let log = logs.path().join(number.to_string());
        let mut command = traced(&log, program, home.path());
        let output = command.args(words.split('|')).output().unwrap();
        let said = [output.stdout, output.stderr].concat();
        let said = String::from_utf8_lossy(&said);
        assert!(output.status.success(), "{words}: {said}");
        logs_of.push(((*words).to_owned(), log));
    }
    assert!(daemon.wait().unwrap().success());
    reading.join().unwrap();
    let ours = home.path().join(".local/share/amem/run/amemd.sock");
    let ours = format!("sun_path=\"{}\"", ours.display());
    let mut connected = 0;
    for (what, log) in logs_of {
        let (families, peers) = seen(&log);
        let is_local = families.iter().all(|family| family == "AF_UNIX");
        assert!(is_local, "{what}: {families:?}");
        let others: Vec<_> = peers.iter().filter(|peer| !peer.contains(&ours)).collect();
        assert!(others.is_empty(), "{what}: {others:?}");
        connected += peers.len();
    }
    assert!(connected > 0, "nothing was seen");
}
