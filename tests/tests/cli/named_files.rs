//! Files that settings, variables and people name: pipes, files of others, and what programs that are started inherit.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use crate::tool::Tool;

/// A command that hangs has not ended by then.
const PATIENCE: Duration = Duration::from_secs(30);

fn pipe(path: &Path) {
    let made = Command::new("mkfifo").arg(path).status();
    assert!(made.unwrap().success());
}

/// The output of a command that must end by itself.
#[track_caller]
fn ended(command: &mut Command) -> Output {
    let since = Instant::now();
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    while child.try_wait().unwrap().is_none() {
        if since.elapsed() > PATIENCE {
            child.kill().unwrap();
            panic!("{command:?} does not end");
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    child.wait_with_output().unwrap()
}

#[test]
fn a_models_file_that_others_may_write_is_refused_and_its_command_is_not_run() {
    let tool = Tool::new();
    let (file, marker) = (tool.path("models.toml"), tool.path("ran"));
    let text = format!(
        "[language]\nprovider = \"openai\"\nmodel = \"m\"\nbase_url = \"http://127.0.0.1:1/v1\"\n\
         key_command = [\"touch\", {:?}]\n",
        marker.to_str().unwrap()
    );
    fs::write(&file, text).unwrap();
    let check = || {
        let mut command = tool.command();
        command.args(["models", "check", "--models"]).arg(&file);
        command
    };
    let start = || {
        let mut command = tool.command();
        command.env("AMEMD_MODELS_FILE", &file);
        command.args(["brain", "create", "t"]);
        command
    };
    fs::set_permissions(&file, Permissions::from_mode(0o666)).unwrap();
    for mut command in [check(), start()] {
        let output = ended(&mut command);
        let words = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success(), "{output:?}");
        assert!(words.contains("chmod go-w"), "{words}");
    }
    assert!(!marker.exists());
    // With the right mode it is run: the test above can fail.
    fs::set_permissions(&file, Permissions::from_mode(0o600)).unwrap();
    ended(&mut check());
    assert!(marker.exists());
}

#[test]
fn pipes_in_the_place_of_files_hold_no_command() {
    let tool = Tool::new();
    let path = tool.path("pipe");
    pipe(&path);
    let shown = path.to_str().unwrap();
    let command = |arguments: &[&str]| {
        let mut command = tool.command();
        command.args(arguments);
        command
    };
    for (mut command, words) in [
        (
            command(&["models", "check", "--models", shown]),
            "not a regular file",
        ),
        (command(&["import", shown, "t"]), "not a regular file"),
        (
            command(&["--address", "127.0.0.1:1", "--token-file", shown, "status"]),
            "not a regular file",
        ),
    ] {
        let output = ended(&mut command);
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(
            !output.status.success() && told.contains(words),
            "{command:?}: {told}"
        );
    }
    // The settings of amemd: amemctl reads them first.
    let mut named = command(&["brain", "create", "t"]);
    named.env("AMEMD_CONFIG", &path);
    let output = ended(&mut named);
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(told.contains("not a regular file"), "{told}");
}

#[test]
fn a_daemon_that_a_command_starts_inherits_no_keys_but_those_of_its_models() {
    let tool = Tool::new();
    let file = tool.path("models.toml");
    fs::write(
        &file,
        "[language]\nprovider = \"openai\"\nmodel = \"m\"\nbase_url = \"http://127.0.0.1:1/v1\"\nkey_env = \"LAN_KEY\"\n",
    )
    .unwrap();
    let mut command = tool.command();
    let variables = [
        ("OPENAI_API_KEY", "of-the-shell"),
        ("BASH_ENV", "/of-the-shell"),
        ("LAN_KEY", "of-the-models"),
        ("LC_ALL", "C.UTF-8"),
    ];
    command.envs(variables).env("AMEMD_MODELS_FILE", &file);
    let output = ended(command.args(["brain", "create", "t"]));
    assert!(output.status.success(), "{output:?}");
    let status = tool.data("status", 0);
    let pid = &status["status"]["pid"];
    let environment = fs::read(format!("/proc/{pid}/environ"));
    let Ok(environment) = environment else {
        return amem_tests::machine::skipped("/proc has no environment of the daemon");
    };
    let environment = String::from_utf8_lossy(&environment).into_owned();
    let names: Vec<_> = environment
        .split('\0')
        .filter_map(|variable| variable.split_once('='))
        .map(|(name, _)| name)
        .collect();
    for (name, is_given) in [
        ("PATH", true),
        ("HOME", true),
        ("LC_ALL", true),
        ("AMEMD_MODELS_FILE", true),
        ("LAN_KEY", true),
        ("OPENAI_API_KEY", false),
        ("BASH_ENV", false),
        // Cargo sets it for tests.
        ("CARGO_MANIFEST_DIR", false),
    ] {
        assert_eq!(names.contains(&name), is_given, "{name}: {names:?}");
    }
}
