//! Whose daemon a command talks to, and which one it starts: never one in another's place, never that of an original.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use amem_tests::programs::amemd;
use serde_json::Value;

use crate::tool::Tool;

const PATIENCE: Duration = Duration::from_secs(30);

/// amemctl with these variables and no others.
fn run(tool: &Tool, variables: &[(&str, &Path)], arguments: &[&str]) -> Result<Value, Value> {
    let mut command = tool.command();
    command.env_clear().envs(variables.iter().copied());
    let output = command.arg("--json").args(arguments).output().unwrap();
    let mut envelope: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{arguments:?}: {output:?}"));
    match envelope["error"].take() {
        Value::Null => Ok(envelope["data"].take()),
        error => Err(error),
    }
}

/// A daemon of an administrator, on a folder and a socket of its own.
fn other(tool: &Tool) -> Child {
    let log = fs::File::create(tool.path("log")).unwrap();
    fs::create_dir_all(tool.path("brains")).unwrap();
    let daemon = Command::new(amemd())
        .env_clear()
        .env("HOME", tool.home())
        .arg("--folder")
        .arg(tool.path("brains"))
        .arg("--socket")
        .arg(tool.home().join("other.sock"))
        .stderr(log)
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let until = Instant::now() + PATIENCE;
    while !fs::read_to_string(tool.path("log"))
        .unwrap()
        .contains("ready")
    {
        assert!(Instant::now() < until, "amemd does not start");
        std::thread::yield_now();
    }
    daemon
}

#[test]
fn no_daemon_of_ones_own_takes_the_socket_of_one_that_restarts() {
    let tool = Tool::new();
    let socket = tool.home().join("other.sock");
    let home = ("HOME", tool.home());
    let named = ["--socket", socket.to_str().unwrap()];
    let ran = |arguments: &[&str]| run(&tool, &[home], &[&named[..], arguments].concat());
    let mut daemon = other(&tool);
    ran(&["brain", "create", "work"]).unwrap();
    daemon.kill().unwrap();
    daemon.wait().unwrap();
    // It is about to come back.
    for refused in [
        ran(&["add", "work", "lost"]),
        run(
            &tool,
            &[home, ("AMEMD_SOCKET", &socket)],
            &["add", "work", "lost"],
        ),
    ] {
        let error = refused.unwrap_err();
        assert_eq!(error["code"], "no_daemon", "{error}");
        let remedy = error["remedy"].as_str().unwrap();
        let run_this = format!("amemd --folder FOLDER --socket {}", socket.display());
        assert!(remedy.contains(&run_this), "{error}");
    }
    assert!(
        !tool.home().join(".local/share").exists(),
        "nothing is made"
    );
    let mut daemon = other(&tool);
    ran(&["add", "work", "kept"]).unwrap();
    daemon.kill().unwrap();
    daemon.wait().unwrap();
}

#[test]
fn no_daemon_of_another_folder_takes_ones_own_socket() {
    let tool = Tool::new();
    let home = ("HOME", tool.home());
    let config = tool.path("half.toml");
    fs::create_dir_all(tool.path("f")).unwrap();
    fs::write(&config, "folder = \"f\"\n").unwrap();
    let (folder, half) = (tool.path("f"), config);
    for named in [("AMEMD_FOLDER", &*folder), ("AMEMD_CONFIG", &*half)] {
        let error = run(&tool, &[home, named], &["brain", "ls"]).unwrap_err();
        assert_eq!(error["code"], "no_daemon", "{error}");
        let remedy = error["remedy"].as_str().unwrap();
        assert!(remedy.contains(named.0), "{error}");
    }
    assert!(!tool.socket().exists(), "nothing listens");
    // One's own place may be named, too.
    let socket = tool.socket();
    let brains = tool.home().join(".local/share/amem/brains");
    fs::create_dir_all(&brains).unwrap();
    let named = [home, ("AMEMD_SOCKET", &*socket), ("AMEMD_FOLDER", &*brains)];
    run(&tool, &named, &["brain", "create", "work"]).unwrap();
    assert!(brains.join("work.amem").exists());
}

/// Copies a folder as `cp -a` does.
fn copy(from: &Path, to: &Path) {
    let copied = Command::new("cp").arg("-a").arg(from).arg(to).status();
    assert!(copied.unwrap().success());
}

/// A brain that is made in a copied home must not be in the original.
fn check_copy(tool: &Tool, variables: &[(&str, &Path)]) {
    let home = tool.home();
    run(tool, variables, &["brain", "create", "mine"]).unwrap();
    let first = run(tool, &[("HOME", home)], &["status"]).unwrap();
    let other = tempfile::Builder::new().prefix("copy").tempdir().unwrap();
    let data = other.path().join(".local/share");
    fs::create_dir_all(&data).unwrap();
    copy(&home.join(".local/share/amem"), &data.join("amem"));
    let copied = [("HOME", other.path())];
    run(tool, &copied, &["brain", "create", "copys"]).unwrap();
    let second = run(tool, &copied, &["status"]).unwrap();
    let pid = |of: &Value| of["status"]["pid"].clone();
    assert_ne!(pid(&first), pid(&second), "{first} {second}");
    let names = |of: &[(&str, &Path)]| -> Vec<String> {
        let listed = run(tool, of, &["brain", "ls"]).unwrap();
        let brains = listed["brains"].as_array().unwrap().iter();
        brains
            .map(|it| it["brain"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(names(&[("HOME", home)]), ["mine"]);
    assert!(names(&copied).contains(&"copys".to_owned()));
    for variables in [&copied[..], &[("HOME", home)]] {
        run(tool, variables, &["shutdown"]).unwrap();
    }
}

#[test]
fn a_copied_data_folder_has_a_daemon_of_its_own() {
    let tool = Tool::new();
    // The lock of its folder names the socket of the original.
    check_copy(&tool, &[("HOME", tool.home())]);
    // So does last-daemon, if the brains are elsewhere.
    let tool = Tool::new();
    let moved = tool.home().join("data");
    let variables = [("HOME", tool.home()), ("XDG_DATA_HOME", &*moved)];
    check_copy(&tool, &variables);
}
