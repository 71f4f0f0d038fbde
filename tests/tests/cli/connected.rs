//! `amemctl connect` and `disconnect`: what they print, write and refuse.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::tool::{RunOutput, Tool, words};

const SETTINGS: &str = "{\n  \"model\": \"opus\", // the large one\n}\n";

fn read(tool: &Tool, file: &str) -> String {
    let path = tool.home().join(file);
    fs::read_to_string(&path).unwrap_or_else(|e| panic!("{file}: {e}"))
}

fn write(tool: &Tool, file: &str, text: &str) {
    let path = tool.home().join(file);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// With the program on PATH, and no other.
fn run(tool: &Tool, line: &str) -> RunOutput {
    let mut command = tool.command();
    let bin = tool.home().join("bin");
    if !bin.exists() {
        fs::create_dir(&bin).unwrap();
        symlink(command.get_program(), bin.join("amemctl")).unwrap();
    }
    let output = command
        .env("PATH", bin)
        .args(words(line))
        .stdin(Stdio::null());
    let output = output.output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    RunOutput {
        exit: output.status.code().unwrap(),
        out: text(output.stdout),
        err: text(output.stderr),
    }
}

fn text(tool: &Tool, line: &str) -> String {
    let ran = run(tool, line);
    assert_eq!((ran.exit, ran.err.as_str()), (0, ""), "{line}: {ran:?}");
    let home = tool.home().to_string_lossy().into_owned();
    ran.out.replace(&home, "~")
}

fn data(tool: &Tool, line: &str) -> Value {
    let ran = run(tool, &format!("--json {line}"));
    assert_eq!(ran.exit, 0, "{line}: {ran:?}");
    let envelope: Value = serde_json::from_str(&ran.out).unwrap();
    envelope["data"].clone()
}

#[test]
fn an_agent_is_connected_and_disconnected() {
    let tool = Tool::new();
    write(&tool, ".claude/settings.json", SETTINGS);
    let printed = text(&tool, "connect claude-code --print");
    assert!(
        printed.starts_with("claude-code: would create ~/.claude.json\n@@ -0 +1 @@\n+{\n"),
        "{printed}"
    );
    assert!(
        printed.contains("claude-code: would change ~/.claude/settings.json\n"),
        "{printed}"
    );
    assert!(
        printed.contains("+      \"command\": \"amemctl\",\n"),
        "{printed}"
    );
    let hook =
        "command -v amemctl >/dev/null 2>&1 && amemctl hook --client claude-code Stop || true";
    assert!(printed.contains(hook), "{printed}");
    assert!(
        printed.contains("   \"model\": \"opus\", // the large one\n"),
        "{printed}"
    );
    assert_eq!(read(&tool, ".claude/settings.json"), SETTINGS);
    assert!(!tool.home().join(".claude.json").exists());

    let done = text(&tool, "connect claude-code");
    assert_eq!(
        done,
        "claude-code: created ~/.claude.json\nclaude-code: changed ~/.claude/settings.json\n"
    );
    let servers: Value = serde_json::from_str(&read(&tool, ".claude.json")).unwrap();
    assert_eq!(
        servers,
        json!({"mcpServers": {"amem": {"type": "stdio", "command": "amemctl", "args": ["mcp"]}}})
    );
    assert_eq!(text(&tool, "connect claude-code"), "connected already\n");
    // Of all that are installed, one is.
    assert_eq!(text(&tool, "connect"), "connected already\n");

    let list = data(&tool, "connect --list");
    assert_eq!(
        list["program"],
        tool.home().join("bin/amemctl").to_str().unwrap()
    );
    let clients = list["clients"].as_array().unwrap();
    assert_eq!(clients.len(), 9);
    let state = |client: &Value| {
        let of = |key: &str| client[key].clone();
        (of("client"), of("installed"), of("server"), of("hooks"))
    };
    assert_eq!(
        state(&clients[0]),
        (
            json!("claude-code"),
            json!(true),
            json!("yes"),
            json!("yes")
        )
    );
    assert_eq!(
        state(&clients[8]),
        (json!("zed"), json!(false), json!("no"), json!("none"))
    );
    let table = text(&tool, "connect --list");
    assert!(
        table.contains("claude-code     yes        yes     yes    ~/.claude.json"),
        "{table}"
    );

    let undone = data(&tool, "disconnect");
    assert_eq!(undone["written"], true);
    assert_eq!(undone["files"][0]["action"], "remove");
    assert_eq!(read(&tool, ".claude/settings.json"), SETTINGS);
    assert!(!tool.home().join(".claude.json").exists());
    assert!(!tool.home().join(".local").exists());
    assert_eq!(text(&tool, "disconnect"), "not connected\n");
}

#[test]
fn a_client_without_a_path_gets_the_path_of_the_program() {
    let tool = Tool::new();
    let printed = text(&tool, "connect zed --print");
    assert!(
        printed.contains("\"command\": \"~/bin/amemctl\""),
        "{printed}"
    );
    // Where the program is not on PATH, all do.
    let command = tool.command();
    let program = fs::canonicalize(command.get_program()).unwrap();
    let ran = tool.run(&words("--json connect gemini --print"));
    let envelope: Value = serde_json::from_str(&ran.out).unwrap();
    let diff = envelope["data"]["files"][0]["diff"].to_string();
    assert!(diff.contains(program.to_str().unwrap()), "{diff}");
}

#[test]
fn a_project_has_files_of_its_own() {
    let tool = Tool::new();
    fs::create_dir_all(tool.path(".git")).unwrap();
    fs::create_dir_all(tool.path("src")).unwrap();
    let mut command = tool.command();
    command.current_dir(tool.path("src"));
    let ran = command
        .args(["connect", "--project", "cursor"])
        .output()
        .unwrap();
    assert!(ran.status.success(), "{ran:?}");
    for file in [
        ".cursor/mcp.json",
        ".cursor/hooks.json",
        ".cursor/rules/amem.mdc",
    ] {
        assert!(tool.path(file).exists(), "{file}");
    }
    tool.text("disconnect --project");
    assert_eq!(tool.names(), [".git", "src"]);
    tool.refused(
        "connect --project claude-desktop",
        2,
        "usage",
        "claude-desktop has no settings of a project",
        "`amemctl connect claude-desktop`",
    );
}

#[test]
fn what_cannot_be_written_is_refused_and_nothing_is() {
    let tool = Tool::new();
    tool.refused(
        "connect",
        3,
        "no_client",
        "no agent is installed here",
        "connect claude-code",
    );
    let rows = [
        (
            ".claude/settings.json",
            "{\n  \"a\": 1,\n  \"b\": ,\n}",
            "invalid_settings",
            ".claude/settings.json:3:8: ",
        ),
        (
            ".claude/settings.json",
            "{\"hooks\": []}",
            "invalid_settings",
            ":1:11: hooks should be an object",
        ),
        (
            ".claude.json",
            "{\"mcpServers\": {\"amem\": {\"command\": \"x\"}}}",
            "name_taken",
            ":1:17: mcpServers.amem runs another program",
        ),
    ];
    for (file, text, code, message) in rows {
        let tool = Tool::new();
        write(&tool, file, text);
        tool.refused(
            "connect claude-code",
            5,
            code,
            message,
            "nothing was written",
        );
        assert_eq!(read(&tool, file), text);
        assert!(!tool.home().join(".local").exists());
    }
    let tool = Tool::new();
    write(&tool, ".codex/config.toml", "a = 1\nb = [\n");
    tool.refused(
        "connect codex",
        5,
        "invalid_settings",
        ".codex/config.toml:",
        "correct the file",
    );
    let list = data(&tool, "connect --list");
    let problem = list["clients"][1]["problem"].as_str().unwrap();
    assert!(problem.contains("config.toml"), "{problem}");
    let with = |name: &str, value: &str| {
        let mut command = tool.command();
        let command = command
            .env(name, value)
            .args(["--json", "connect", "codex"]);
        let output = command.output().unwrap();
        let envelope: Value = serde_json::from_slice(&output.stdout).unwrap();
        envelope["error"]["code"].as_str().unwrap().to_owned()
    };
    assert_eq!(with("HOME", ""), "no_home");
    assert_eq!(with("HOME", "/nowhere/at/all"), "no_home");
    assert_eq!(with("CODEX_HOME", "codex"), "relative_folder");
}
