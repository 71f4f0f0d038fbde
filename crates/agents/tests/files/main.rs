//! Files that people have: connect and then disconnect gives back every byte, and connecting twice changes nothing.
#![forbid(unsafe_code)]
#![expect(
    clippy::unwrap_used,
    reason = "a helper that fails is a test that fails"
)]

mod random;
mod rig;

use amem_agents::{AgentClient, ConnectPlan, Locations, SettingsError};
use amem_host::files::FileFault;
use rig::Rig;

/// Texts in JSON, with the file that they stand in.
const JSON: [(AgentClient, &str, &str); 27] = [
    (AgentClient::ClaudeCode, ".claude.json", ""),
    (AgentClient::ClaudeCode, ".claude.json", "\n"),
    (AgentClient::ClaudeCode, ".claude.json", "{}"),
    (AgentClient::ClaudeCode, ".claude.json", "{}\n"),
    (AgentClient::ClaudeCode, ".claude.json", "{\n}\n"),
    (AgentClient::ClaudeCode, ".claude.json", "{ }"),
    (AgentClient::ClaudeCode, ".claude.json", "\u{feff}{}\r\n"),
    (
        AgentClient::ClaudeCode,
        ".claude.json",
        r#"{"numStartups":3,"mcpServers":{},"userID":"x"}"#,
    ),
    (
        AgentClient::ClaudeCode,
        ".claude.json",
        r#"{"numStartups":3,"mcpServers":{"git":{"command":"git-mcp"}},"userID":"x"}"#,
    ),
    (
        AgentClient::ClaudeCode,
        ".claude.json",
        r#"{"numStartups": 3, "userID": "x"}"#,
    ),
    (
        AgentClient::ClaudeCode,
        ".claude.json",
        "{\n  \"numStartups\": 3,\n  \"mcpServers\": {\n    \"git\": {\n      \"command\": \"git-mcp\"\n    }\n  },\n  \"big\": 12345678901234567890123,\n  \"e\": 1e400\n}\n",
    ),
    (
        AgentClient::ClaudeCode,
        ".claude/settings.json",
        "{\n\t\"model\": \"opus\",\n\t\"hooks\": {\n\t\t\"Stop\": [\n\t\t\t{\n\t\t\t\t\"hooks\": [\n\t\t\t\t\t{ \"type\": \"command\", \"command\": \"say done\" }\n\t\t\t\t]\n\t\t\t}\n\t\t]\n\t}\n}\n",
    ),
    (
        AgentClient::ClaudeCode,
        ".claude/settings.json",
        "{\r\n  \"hooks\": {\r\n    \"SessionStart\": [],\r\n    \"PreToolUse\": [{\"matcher\": \"Bash\", \"hooks\": []}]\r\n  }\r\n}",
    ),
    (
        AgentClient::ClaudeCode,
        ".claude/settings.json",
        "// nothing yet",
    ),
    (
        AgentClient::Zed,
        ".config/zed/settings.json",
        "// Zed settings\n//\n// see the documentation\n{\n  // how it looks\n  \"theme\": {\n    \"mode\": \"dark\", // also at noon\n  },\n  \"vim_mode\": true, // always\n}\n",
    ),
    (
        AgentClient::Zed,
        ".config/zed/settings.json",
        "{\n  \"vim_mode\": true // no comma here\n  /* and more */\n}\n",
    ),
    (
        AgentClient::Zed,
        ".config/zed/settings.json",
        "{ // first\n  // \"context_servers\": {},\n  \"context_servers\": { /* none */ },\n}\n",
    ),
    (
        AgentClient::Zed,
        ".config/zed/settings.json",
        "{\n  \"context_servers\": {\n    // \"old\": {\"command\": \"old\"}\n  }\n}   \n\n",
    ),
    (
        AgentClient::Zed,
        ".config/zed/settings.json",
        "{\n  \"context_servers\": {\n    \"a\": { \"command\": \"a\" }, // the first  \n    // \"b\": { \"command\": \"b\" },\n  },   \n  \"x\": [1, 2,],\n}",
    ),
    (
        AgentClient::Opencode,
        ".config/opencode/opencode.jsonc",
        "{\n  \"$schema\": \"https://opencode.ai/config.json\",\n  \"mcp\": { \"git\": { \"type\": \"local\", \"command\": [\"git-mcp\"] } }, /* local */ \"share\": \"disabled\"\n}\n",
    ),
    (
        AgentClient::Opencode,
        ".config/opencode/opencode.json",
        "{\"mcp\":{}}",
    ),
    (
        AgentClient::Gemini,
        ".gemini/settings.json",
        "{\n    \"security\": {\"auth\": {\"selectedType\": \"oauth-personal\"}},\n    \"hooks\": {\"BeforeAgent\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"date\"}]}]}\n}\n",
    ),
    (
        AgentClient::Cursor,
        ".cursor/mcp.json",
        "{\"mcpServers\": {\n}\n}\n",
    ),
    (
        AgentClient::Cursor,
        ".cursor/hooks.json",
        "{\n  \"version\": 1,\n  \"hooks\": {\n    \"stop\": [{ \"command\": \"./done.sh\" }]\n  }\n}\n",
    ),
    (
        AgentClient::Copilot,
        ".copilot/mcp-config.json",
        "{\n  \"mcpServers\": {}\n}",
    ),
    (
        AgentClient::Vscode,
        ".config/Code/User/mcp.json",
        "{\n\t\"servers\": {\n\t\t\"github\": {\n\t\t\t\"url\": \"https://api.githubcopilot.com/mcp/\"\n\t\t}\n\t},\n\t\"inputs\": []\n}",
    ),
    (
        AgentClient::ClaudeDesktop,
        ".config/Claude/claude_desktop_config.json",
        "{\n  \"globalShortcut\": \"\",\n  \"mcpServers\": {\"a\": {\"command\": \"a\"}\n  }}\n",
    ),
];

#[test]
fn every_json_text_gets_back_its_bytes() {
    for (client, file, text) in JSON {
        let rig = Rig::new();
        rig.write(file, text);
        let shown = rig.round_trip(client, file);
        assert!(shown.contains("amemctl"), "{text}\n{shown}");
    }
}

/// Texts of Codex.
const TOML: [&str; 15] = [
    "",
    "\n",
    "# mine\n",
    "model = \"gpt-5\"",
    "model = \"gpt-5\"\r\n\r\n[mcp_servers.git]\r\ncommand = \"git-mcp\" # local\r\n",
    "[mcp_servers]\n[mcp_servers.git]\ncommand = \"git-mcp\"\nargs = [\n  \"--all\", # every\n]\n\n[tui]\ntheme = \"dark\"\n",
    "mcp_servers = { git = { command = \"git-mcp\" } }\n\n[tui]\ntheme = \"dark\"\n",
    "mcp_servers = {}\n",
    "mcp_servers = { git = { command = \"git-mcp\" }, # local\n}\n",
    "mcp_servers.git.command = \"git-mcp\"\n\n[tui]\n",
    "[mcp_servers]\ngit = { command = \"git-mcp\" }\n\n\n# the end",
    "\u{feff}model = \"gpt-5\"\n",
    "[[hooks.Stop]]\nhooks = [{ type = \"command\", command = \"say done\" }]\n\n[[hooks.Stop.hooks]]\n# not valid together\n",
    "[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = \"command\"\ncommand = \"say done\"\n\n[projects.\"/a b\"]\ntrust_level = \"trusted\"\n",
    "hooks.Stop = [\n  { hooks = [{ type = \"command\", command = \"say done\" }] }, # mine\n]\nhooks.PreCompact = []\n",
];

#[test]
fn every_toml_text_gets_back_its_bytes() {
    for text in TOML {
        let rig = Rig::new();
        rig.write(".codex/config.toml", text);
        if text.contains("not valid") {
            let refused = rig.connect_error(AgentClient::Codex);
            assert!(
                matches!(refused, SettingsError::Syntax { line: 4, .. }),
                "{refused}"
            );
            continue;
        }
        let shown = rig.round_trip(AgentClient::Codex, ".codex/config.toml");
        assert!(shown.contains("amemctl"), "{text}\n{shown}");
    }
}

#[test]
fn hooks_of_codex_follow_those_that_are_there() {
    let rig = Rig::new();
    rig.connect(AgentClient::Codex);
    assert!(rig.read(".codex/hooks.json").contains("UserPromptSubmit"));
    assert!(!rig.read(".codex/config.toml").contains("hooks"));
    let rig = Rig::new();
    rig.write(".codex/config.toml", TOML[13]);
    rig.connect(AgentClient::Codex);
    assert!(
        rig.read(".codex/config.toml")
            .contains("[[hooks.UserPromptSubmit]]")
    );
    assert!(!rig.exists(".codex/hooks.json"));
    let rig = Rig::new();
    rig.write(".codex/config.toml", TOML[13]);
    rig.write(".codex/hooks.json", "{\"hooks\": {}}");
    rig.connect(AgentClient::Codex);
    assert!(rig.read(".codex/hooks.json").contains("UserPromptSubmit"));
    assert_eq!(
        rig.read(".codex/config.toml").matches("[[hooks.").count(),
        2
    );
}

#[test]
fn every_client_of_an_empty_home_leaves_it_empty() {
    for client in AgentClient::ALL {
        let rig = Rig::new();
        rig.connect(client);
        assert!(!rig.files().is_empty(), "{client:?}");
        assert_eq!(rig.status(client).server, "yes", "{client:?}");
        assert_ne!(rig.status(client).hooks, "no", "{client:?}");
        assert!(rig.plan(client).changes().is_empty(), "{client:?}");
        rig.disconnect(client);
        assert_eq!(rig.files(), Vec::<String>::new(), "{client:?}");
        assert_eq!(rig.folders(), Vec::<String>::new(), "{client:?}");
    }
}

#[test]
fn entries_look_like_what_stands_around_them() {
    let rig = Rig::new();
    rig.write(".config/zed/settings.json", JSON[14].2);
    rig.connect(AgentClient::Zed);
    assert_eq!(
        rig.read(".config/zed/settings.json"),
        JSON[14].2.replace(
            "// always\n",
            "// always\n  \"context_servers\": {\n    \"amem\": {\n      \"command\": \"/opt/amem/bin/amemctl\",\n      \
             \"args\": [\"mcp\"]\n    }\n  },\n"
        )
    );
    let rig = Rig::new();
    rig.write(".claude.json", JSON[8].2);
    rig.connect(AgentClient::ClaudeCode);
    assert_eq!(
        rig.read(".claude.json"),
        JSON[8].2.replace(
            r#""git-mcp"}"#,
            r#""git-mcp"},"amem":{"type":"stdio","command":"amemctl","args":["mcp"]}"#
        )
    );
    let rig = Rig::new();
    rig.write(".codex/config.toml", "model = \"gpt-5\"");
    rig.connect(AgentClient::Codex);
    assert_eq!(
        rig.read(".codex/config.toml"),
        "model = \"gpt-5\"\n\n[mcp_servers.amem]\ncommand = \"amemctl\"\nargs = [\"mcp\"]\n"
    );
}

#[test]
fn a_file_that_changed_since_loses_only_our_entries() {
    for (client, file, text) in JSON {
        let rig = Rig::new();
        rig.write(file, text);
        rig.connect(client);
        let before = rig.values(file, text);
        rig.remove(".local/state/amem/connected.json");
        rig.disconnect(client);
        let left = if rig.exists(file) {
            rig.read(file)
        } else {
            String::new()
        };
        assert!(!left.contains("amemctl"), "{text}\n{left}");
        assert_eq!(rig.values(file, &left), before, "{text}\n{left}");
        // Comments are nobody's to take.
        for comment in text
            .split("//")
            .skip(1)
            .filter_map(|rest| rest.lines().next())
        {
            assert!(left.contains(comment), "{text}\n{left}");
        }
    }
    for text in TOML.iter().filter(|text| !text.contains("not valid")) {
        let rig = Rig::new();
        rig.write(".codex/config.toml", text);
        rig.connect(AgentClient::Codex);
        rig.remove(".local/state/amem/connected.json");
        rig.disconnect(AgentClient::Codex);
        let left = rig.read(".codex/config.toml");
        assert_eq!(left.trim_end(), text.trim_end(), "{left}");
    }
}

#[test]
fn servers_that_were_written_by_hand_stay() {
    let by_hand = [
        r#"{"mcpServers": {"amem": {"command": "/usr/bin/amemctl", "args": ["mcp", "--compat", "mem0"]}}}"#,
        r#"{"mcpServers": {"memory": {"command": "amemctl", "args": ["mcp"], "env": {"AMEM_PROJECT": "x"}}}}"#,
        r#"{"mcpServers": {"m": {"command": "sh", "args": ["-c", "exec /usr/bin/amemctl mcp"]}}}"#,
    ];
    for text in by_hand {
        let rig = Rig::new();
        rig.write(".claude.json", text);
        let plan = rig.plan(AgentClient::ClaudeCode);
        assert!(plan.notes()[0].contains("by hand"), "{:?}", plan.notes());
        rig.connect(AgentClient::ClaudeCode);
        assert_eq!(rig.status(AgentClient::ClaudeCode).server, "by hand");
        assert_eq!(rig.read(".claude.json"), text);
        rig.disconnect(AgentClient::ClaudeCode);
        assert_eq!(rig.files(), [".claude.json"]);
        assert_eq!(rig.read(".claude.json"), text);
    }
}

#[test]
fn an_event_with_a_hook_by_hand_gets_no_second_one() {
    let rig = Rig::new();
    let text = r#"{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "amemctl hook Stop"}]}]}}"#;
    rig.write(".claude/settings.json", text);
    rig.connect(AgentClient::ClaudeCode);
    let written = rig.read(".claude/settings.json");
    assert_eq!(written.matches("hook --client").count(), 4, "{written}");
    assert_eq!(written.matches("Stop").count(), 2, "{written}");
    rig.disconnect(AgentClient::ClaudeCode);
    assert_eq!(rig.read(".claude/settings.json"), text);
}

#[test]
fn an_entry_of_an_older_installation_is_replaced_in_every_file() {
    let rig = Rig::new();
    rig.connect_with(AgentClient::ClaudeCode, "/old folder/bin/amemctl");
    assert!(
        rig.read(".claude/settings.json")
            .contains("'/old folder/bin/amemctl' hook")
    );
    assert_eq!(rig.status(AgentClient::ClaudeCode).hooks, "outdated");
    // As a client that writes its settings itself leaves it.
    let text = rig.read(".claude.json");
    rig.write(
        ".claude.json",
        &text.replacen("{\n", "{\n  \"numStartups\": 4,\n", 1),
    );
    rig.connect(AgentClient::ClaudeCode);
    for file in [".claude.json", ".claude/settings.json"] {
        let text = rig.read(file);
        assert!(
            !text.contains("/old folder/") && text.contains("amemctl"),
            "{text}"
        );
    }
    assert_eq!(
        rig.read(".claude/settings.json")
            .matches("amemctl hook")
            .count(),
        5
    );
    rig.disconnect(AgentClient::ClaudeCode);
    assert!(!rig.read(".claude.json").contains("amemctl"));
    assert!(!rig.exists(".claude/settings.json"));
}

#[test]
fn an_installed_plugin_has_the_hooks_and_the_server() {
    let plugins = [
        (
            AgentClient::ClaudeCode,
            ".claude/settings.json",
            "{\"enabledPlugins\": {\"amem@amem\": true}}",
        ),
        (
            AgentClient::Codex,
            ".codex/config.toml",
            "[plugins.\"amem@amem\"]\nenabled = true\n",
        ),
        (
            AgentClient::Gemini,
            ".gemini/extensions/amem/gemini-extension.json",
            "{}",
        ),
    ];
    for (client, file, text) in plugins {
        let rig = Rig::new();
        rig.write(file, text);
        let plan = rig.plan(client);
        assert!(plan.changes().is_empty(), "{:?}", plan.changes());
        assert!(plan.notes()[0].contains("plugin"), "{:?}", plan.notes());
        assert_eq!(rig.status(client).hooks, "plugin");
        // Entries from before the plugin go.
        let rig = Rig::new();
        rig.connect(client);
        let before = if rig.exists(file) {
            rig.read(file)
        } else {
            String::new()
        };
        if before.starts_with('{') {
            let front = format!("{},", text.trim_end_matches('}').to_owned() + "}");
            rig.write(
                file,
                &before
                    .replacen('{', front.trim_end_matches("},"), 1)
                    .replacen("true", "true},", 1),
            );
        } else {
            rig.write(file, &format!("{text}\n{before}"));
        }
        rig.connect(client);
        for file in rig.files() {
            assert!(
                !rig.read(&file).contains("amemctl"),
                "{file}: {}",
                rig.read(&file)
            );
        }
    }
}

#[test]
fn broken_files_are_refused_with_the_position_and_nothing_is_written() {
    let rows = [
        (
            AgentClient::ClaudeCode,
            ".claude/settings.json",
            "{\n  \"a\": 1\n  \"b\": 2\n}",
            2,
            9,
        ),
        (AgentClient::ClaudeCode, ".claude.json", "{\"a\": é}", 1, 7),
        (
            AgentClient::ClaudeCode,
            ".claude.json",
            "\u{feff}{\"a\": x}",
            1,
            7,
        ),
        (
            AgentClient::ClaudeCode,
            ".claude.json",
            "{\"mcpServers\": {}, \"mcpServers\": {}}",
            1,
            20,
        ),
        (
            AgentClient::ClaudeCode,
            ".claude.json",
            "{\"a\": 'x'}",
            1,
            7,
        ),
        (
            AgentClient::Codex,
            ".codex/config.toml",
            "a = 1\nb = \n",
            2,
            5,
        ),
        (
            AgentClient::Codex,
            ".codex/config.toml",
            "[a]\n[b]\n[a]\n",
            3,
            2,
        ),
    ];
    for (client, file, text, line, column) in rows {
        let rig = Rig::new();
        rig.write(file, text);
        let refused = rig.connect_error(client);
        let SettingsError::Syntax {
            line: l, column: c, ..
        } = &refused
        else {
            panic!("{refused}");
        };
        assert_eq!((*l, *c), (line, column), "{refused}");
        assert!(refused.to_string().contains(file), "{refused}");
        assert_eq!(rig.files(), [file]);
        assert_eq!(rig.read(file), text);
    }
}

#[test]
fn values_of_other_types_and_names_of_others_are_refused() {
    let other = [
        (
            AgentClient::ClaudeCode,
            ".claude.json",
            "[]",
            "the file should be an object",
        ),
        (
            AgentClient::ClaudeCode,
            ".claude.json",
            "{\"mcpServers\": []}",
            "mcpServers should be an object",
        ),
        (
            AgentClient::ClaudeCode,
            ".claude/settings.json",
            "{\"hooks\": {\"Stop\": {}}}",
            "hooks.Stop should be an array",
        ),
        (
            AgentClient::ClaudeCode,
            ".claude.json",
            "{\"mcpServers\": {\"amem\": {\"command\": \"x\"}}}",
            "mcpServers.amem runs another program",
        ),
        (
            AgentClient::Codex,
            ".codex/config.toml",
            "mcp_servers = 3\n",
            "mcp_servers should be a table",
        ),
        (
            AgentClient::Codex,
            ".codex/config.toml",
            "[mcp_servers.amem]\nurl = \"x\"\n",
            "mcp_servers.amem runs another program",
        ),
        (
            AgentClient::Opencode,
            ".config/opencode/plugins/amem.js",
            "export const Amem = 1;\n",
            "is not from amemctl",
        ),
    ];
    for (client, file, text, message) in other {
        let rig = Rig::new();
        rig.write(file, text);
        let refused = rig.connect_error(client).to_string();
        assert!(
            refused.contains(message) && refused.contains(file),
            "{refused}"
        );
        assert_eq!(rig.files(), [file]);
    }
}

#[test]
fn bytes_that_are_no_text_and_deep_nesting_are_refused() {
    let rig = Rig::new();
    rig.write_bytes(".claude.json", b"{\"a\": \"\xff\"}");
    let refused = rig.connect_error(AgentClient::ClaudeCode);
    assert!(
        matches!(refused, SettingsError::File(FileFault::NotText(_))),
        "{refused}"
    );
    let rig = Rig::new();
    rig.write(".claude.json", &"[".repeat(100_000));
    let refused = rig.connect_error(AgentClient::ClaudeCode);
    assert!(matches!(refused, SettingsError::Syntax { .. }), "{refused}");
}

#[test]
fn a_pipe_as_settings_and_settings_of_another_user_are_refused_at_once() {
    let rig = Rig::new();
    let path = rig.home().join(".claude.json");
    let made = std::process::Command::new("mkfifo").arg(&path).status();
    assert!(made.unwrap().success());
    let refused = rig.connect_error(AgentClient::ClaudeCode);
    assert!(
        matches!(refused, SettingsError::File(FileFault::NotRegular(_))),
        "{refused}"
    );
    let rig = Rig::new();
    rig.write(".claude.json", "{\"theirs\": 1}");
    let path = rig.home().join(".claude.json");
    // Only root can give a file away. A link would lead there as well.
    if std::os::unix::fs::chown(&path, Some(65_531), None).is_ok() {
        let refused = rig.connect_error(AgentClient::ClaudeCode).to_string();
        assert!(
            refused.contains("65531") && !refused.contains("theirs"),
            "{refused}"
        );
    }
}

#[test]
fn settings_that_others_may_write_and_linked_ones_are_edited_where_they_are() {
    use std::os::unix::fs::PermissionsExt;
    let rig = Rig::new();
    rig.write("dotfiles/claude.json", "{}");
    let target = rig.home().join("dotfiles/claude.json");
    std::fs::set_permissions(&target, std::fs::Permissions::from_mode(0o666)).unwrap();
    let link = rig.home().join(".claude.json");
    std::os::unix::fs::symlink("dotfiles/claude.json", &link).unwrap();
    rig.connect(AgentClient::ClaudeCode);
    let text = std::fs::read_to_string(&target).unwrap();
    assert!(text.contains("amemctl"), "{text}");
    assert!(link.symlink_metadata().unwrap().is_symlink());
    let mode = target.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode, 0o666);
}

#[test]
fn folders_that_variables_name_are_used_and_others_stay() {
    let rig = Rig::new();
    rig.write(".claude/settings.json", "{}");
    let other = rig.home().join("other");
    let locations = || {
        let locations = Locations::new(rig.home()).unwrap();
        let locations = locations
            .with_variable("CLAUDE_CONFIG_DIR", &other)
            .unwrap();
        locations.with_mac_layout(false)
    };
    let plan =
        ConnectPlan::connect(&locations(), &[AgentClient::ClaudeCode], &rig.program()).unwrap();
    assert!(
        plan.notes()[0].contains("CLAUDE_CONFIG_DIR"),
        "{:?}",
        plan.notes()
    );
    plan.write().unwrap();
    let files = [
        ".claude/settings.json",
        ".local/state/amem/connected.json",
        "other/.claude.json",
        "other/settings.json",
    ];
    assert_eq!(rig.files(), files);
    assert_eq!(rig.read(".claude/settings.json"), "{}");
    let relative = Locations::new(rig.home())
        .unwrap()
        .with_variable("CODEX_HOME", "x");
    assert!(matches!(
        relative,
        Err(SettingsError::RelativeFolder { .. })
    ));
    let missing = Locations::new(rig.home().join("gone"));
    assert!(matches!(missing, Err(SettingsError::MissingHome { .. })));
    let mac = Locations::new(rig.home()).unwrap().with_mac_layout(true);
    let plan = ConnectPlan::connect(&mac, &[AgentClient::ClaudeDesktop], &rig.program()).unwrap();
    let expected = rig
        .home()
        .join("Library/Application Support/Claude/claude_desktop_config.json");
    assert_eq!(plan.changes()[0].path(), expected);
}

#[test]
fn files_of_a_project_name_the_program_alone() {
    for client in AgentClient::ALL
        .into_iter()
        .filter(|client| client.has_project())
    {
        let rig = Rig::new();
        let locations = rig.locations().in_project(rig.home().join("project"));
        let plan = ConnectPlan::connect(&locations, &[client], &rig.program()).unwrap();
        plan.write().unwrap();
        for file in rig
            .files()
            .into_iter()
            .filter(|file| file.starts_with("project/"))
        {
            assert!(
                !rig.read(&file).contains("/opt/"),
                "{file}: {}",
                rig.read(&file)
            );
        }
        let plan = ConnectPlan::connect(&locations, &[client], &rig.program()).unwrap();
        assert!(
            plan.changes().is_empty(),
            "{client:?}: {:?}",
            plan.changes()
        );
        ConnectPlan::disconnect(&locations, &[client], &rig.program())
            .unwrap()
            .write()
            .unwrap();
        assert_eq!(rig.files(), Vec::<String>::new(), "{client:?}");
    }
}

#[test]
fn a_project_gets_no_hooks_that_the_user_has_already() {
    let rig = Rig::new();
    rig.connect(AgentClient::ClaudeCode);
    rig.connect(AgentClient::Gemini);
    let locations = rig.locations().in_project(rig.home().join("project"));
    let clients = [AgentClient::ClaudeCode, AgentClient::Gemini];
    ConnectPlan::connect(&locations, &clients, &rig.program())
        .unwrap()
        .write()
        .unwrap();
    assert!(rig.exists("project/.mcp.json"));
    assert!(!rig.exists("project/.claude/settings.json"));
    assert!(!rig.read("project/.gemini/settings.json").contains("hook"));
}

#[test]
fn links_permissions_and_read_only_folders_are_respected() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let rig = Rig::new();
    rig.write("dotfiles/claude.json", "{\"a\": 1}");
    let real = rig.home().join("dotfiles/claude.json");
    std::fs::set_permissions(&real, std::fs::Permissions::from_mode(0o640)).unwrap();
    symlink("dotfiles/claude.json", rig.home().join(".claude.json")).unwrap();
    rig.connect(AgentClient::ClaudeCode);
    let link = std::fs::symlink_metadata(rig.home().join(".claude.json")).unwrap();
    assert!(link.file_type().is_symlink());
    assert!(rig.read("dotfiles/claude.json").contains("amemctl"));
    let mode = std::fs::metadata(&real).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o640);
    rig.disconnect(AgentClient::ClaudeCode);
    assert_eq!(rig.read("dotfiles/claude.json"), "{\"a\": 1}");
    // A link whose file does not exist yet, and one in a circle.
    let rig = Rig::new();
    std::fs::create_dir(rig.home().join("dotfiles")).unwrap();
    symlink("dotfiles/none.json", rig.home().join(".claude.json")).unwrap();
    rig.connect(AgentClient::ClaudeCode);
    assert!(rig.read("dotfiles/none.json").contains("amemctl"));
    let rig = Rig::new();
    symlink(".claude.json", rig.home().join(".claude.json")).unwrap();
    assert!(matches!(
        rig.connect_error(AgentClient::ClaudeCode),
        SettingsError::Io { .. }
    ));
}

#[test]
fn a_file_that_changes_meanwhile_is_not_replaced() {
    let rig = Rig::new();
    rig.write(".claude.json", "{}");
    let plan = rig.plan(AgentClient::ClaudeCode);
    rig.write(".claude.json", "{\"numStartups\": 2}");
    let refused = plan.write().unwrap_err();
    assert!(
        matches!(refused, SettingsError::Changed { .. }),
        "{refused}"
    );
    assert_eq!(rig.files(), [".claude.json"]);
    assert_eq!(rig.folders(), Vec::<String>::new());
}

#[test]
fn a_folder_that_cannot_be_created_leaves_every_file_as_it_was() {
    let rig = Rig::new();
    rig.write(".claude.json", "{}");
    rig.write(".local", "a file where a folder belongs");
    let refused = rig.plan(AgentClient::ClaudeCode).write().unwrap_err();
    assert!(matches!(refused, SettingsError::Io { .. }), "{refused}");
    assert_eq!(rig.files(), [".claude.json", ".local"]);
    assert_eq!(rig.read(".claude.json"), "{}");
    let rig = Rig::new();
    rig.write(".local/state/amem/connected.json", "{}");
    let refused = rig.connect_error(AgentClient::ClaudeCode);
    assert!(matches!(refused, SettingsError::Record { .. }), "{refused}");
}

#[test]
fn copilot_gets_no_hooks_where_it_runs_those_of_claude_code() {
    let orders = [
        [AgentClient::ClaudeCode, AgentClient::Copilot],
        [AgentClient::Copilot, AgentClient::ClaudeCode],
    ];
    for clients in orders {
        for at_once in [true, false] {
            let rig = Rig::new();
            let locations = rig.locations().in_project(rig.home().join("project"));
            let parts: Vec<&[AgentClient]> = if at_once {
                vec![&clients]
            } else {
                clients.chunks(1).collect()
            };
            for clients in parts {
                let plan = ConnectPlan::connect(&locations, clients, &rig.program()).unwrap();
                plan.write().unwrap();
            }
            assert!(
                !rig.exists("project/.github/hooks/amem.json"),
                "{clients:?}"
            );
            let hooks = rig.read("project/.claude/settings.json");
            assert_eq!(hooks.matches("amemctl hook Stop").count(), 1, "{hooks}");
            let plan = ConnectPlan::connect(&locations, &clients, &rig.program()).unwrap();
            assert!(plan.changes().is_empty(), "{:?}", plan.changes());
            let plan = ConnectPlan::disconnect(&locations, &clients, &rig.program()).unwrap();
            plan.write().unwrap();
            assert_eq!(rig.files(), Vec::<String>::new());
        }
    }
}
