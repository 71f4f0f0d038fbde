//! What a new user meets first: a daemon found from any environment, texts that look like options, local times.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::tool::Tool;

/// amemctl as cron runs it: with these variables and no others.
fn bare(tool: &Tool, variables: &[(&str, &Path)]) -> Command {
    let mut command = tool.command();
    command.env_clear().envs(variables.iter().copied());
    command
}

#[track_caller]
fn run(command: &mut Command, arguments: &[&str]) -> Value {
    let output = command.arg("--json").args(arguments).output().unwrap();
    let envelope: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{arguments:?}: {output:?}"));
    assert!(output.status.success(), "{arguments:?}: {envelope}");
    envelope["data"].clone()
}

#[test]
fn a_daemon_is_found_from_every_environment_of_its_user() {
    let tool = Tool::new();
    let home = tool.home();
    let moved = home.join("data");
    let (with_data, without) = (
        [("HOME", home), ("XDG_DATA_HOME", &*moved)],
        [("HOME", home)],
    );
    run(&mut bare(&tool, &with_data), &["brain", "create", "work"]);
    let first = run(&mut bare(&tool, &with_data), &["status"])["status"]["pid"].clone();
    let lock = fs::read_to_string(moved.join("amem/brains/.amemd/lock")).unwrap();
    let socket = moved.join("amem/run/amemd.sock");
    let brains = fs::canonicalize(moved.join("amem/brains")).unwrap();
    let of = fs::metadata(&brains).unwrap();
    assert_eq!(
        lock,
        format!(
            "pid {first}\nsocket {}\nat {} {} {}\n",
            socket.display(),
            of.dev(),
            of.ino(),
            brains.display()
        )
    );

    // Cron has no XDG_DATA_HOME, a login session has XDG_RUNTIME_DIR: both reach the same daemon.
    let login = [("HOME", home), ("XDG_RUNTIME_DIR", &*moved)];
    for variables in [&without[..], &login[..]] {
        let status = run(&mut bare(&tool, variables), &["status"]);
        assert_eq!(status["status"]["pid"], first);
        let added = run(&mut bare(&tool, variables), &["add", "work", "found"]);
        assert_eq!(added["eventIds"].as_array().unwrap().len(), 1, "{added}");
    }
    run(&mut bare(&tool, &without), &["shutdown"]);
    // The next one has the same folder.
    run(&mut bare(&tool, &without), &["get", "work", "0"]);
    run(&mut bare(&tool, &without), &["shutdown"]);
}

#[test]
fn a_daemon_that_listens_elsewhere_is_met_there() {
    let tool = Tool::new();
    let home = tool.home();
    let config = home.join(".config/amemd");
    fs::create_dir_all(&config).unwrap();
    fs::write(config.join("config.toml"), "socket = \"here.sock\"\n").unwrap();
    let variables = [("HOME", home)];
    run(&mut bare(&tool, &variables), &["brain", "create", "work"]);
    assert!(
        config.join("here.sock").exists(),
        "amemctl starts amemd with its own settings"
    );
    // Without the settings, the lock of the folder names the socket.
    fs::remove_file(config.join("config.toml")).unwrap();
    let since = Instant::now();
    run(&mut bare(&tool, &variables), &["info", "work"]);
    assert!(since.elapsed() < Duration::from_secs(3));
    run(&mut bare(&tool, &variables), &["shutdown"]);
}

#[test]
fn a_socket_that_is_not_the_daemons_is_refused_at_once() {
    let tool = Tool::new();
    let variables = [("HOME", tool.home())];
    run(&mut bare(&tool, &variables), &["brain", "create", "work"]);
    let pid = run(&mut bare(&tool, &variables), &["status"])["status"]["pid"].clone();
    let refused = |socket: &Path| {
        let since = Instant::now();
        let mut command = bare(&tool, &variables);
        let output = command.arg("--socket").arg(socket).args(["brain", "ls"]);
        let output = output.output().unwrap();
        assert!(since.elapsed() < Duration::from_secs(5), "{output:?}");
        (
            output.status.code(),
            String::from_utf8(output.stderr).unwrap(),
        )
    };
    let (code, err) = refused(&tool.home().join("other.sock"));
    assert_eq!(code, Some(7), "{err}");
    assert!(err.contains(&format!("process {pid}")), "{err}");
    assert!(err.contains("omit --socket"), "{err}");
    let (code, err) = refused(&tool.home().join("a".repeat(150)));
    assert_eq!(code, Some(2), "{err}");
    assert!(err.contains("107"), "{err}");
    run(&mut bare(&tool, &variables), &["shutdown"]);
}

#[test]
fn a_long_home_folder_gets_a_short_socket() {
    let tool = Tool::new();
    let home = tool.home().join("a".repeat(100));
    fs::create_dir(&home).unwrap();
    let variables = [("HOME", &*home)];
    run(&mut bare(&tool, &variables), &["brain", "create", "work"]);
    let status = run(&mut bare(&tool, &variables), &["status"]);
    let socket = status["status"]["socket"]
        .as_str()
        .unwrap_or_default()
        .to_owned();
    run(&mut bare(&tool, &variables), &["shutdown"]);
    let folder = Path::new(&socket).parent().unwrap();
    assert!(
        socket.starts_with("/tmp/amem-") && socket.len() < 50,
        "{socket}"
    );
    fs::remove_dir(folder).unwrap();
}

#[test]
fn nothing_is_started_where_that_is_forbidden() {
    let tool = Tool::new();
    let mut command = bare(&tool, &[("HOME", tool.home())]);
    let output = command
        .env("AMEM_NO_AUTOSTART", "1")
        .args(["brain", "ls"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(7), "{output:?}");
    assert!(
        fs::read_dir(tool.home()).unwrap().next().is_none(),
        "nothing is made"
    );
}

#[test]
fn a_text_is_never_taken_for_an_option() {
    let tool = Tool::new();
    tool.put("secret", b"content of a file");
    let secret = format!("--file={}", tool.path("secret").display());
    tool.text("-q brain create t");
    let texts = [
        "- item",
        "-1 degrees",
        "--force push is forbidden",
        "--force",
        &secret,
        "-x",
        "--json",
    ];
    for (id, text) in texts.iter().enumerate() {
        let added = tool.run(&["-q", "add", "t", text]);
        assert_eq!(
            (added.exit, added.out.trim()),
            (0, id.to_string().as_str()),
            "{added:?}"
        );
        let event = &tool.data(&format!("get t {id}"), 0)["events"][0];
        assert_eq!(event["text"], *text);
    }
    // Behind options, too.
    for text in ["- item", "--force push is forbidden", &secret] {
        let added = tool.run(&["-q", "add", "t", "--type", "fact", text]);
        assert_eq!(added.exit, 0, "{added:?}");
        let event = &tool.data(&format!("get t {}", added.out.trim()), 0)["events"][0];
        assert_eq!(event["text"], *text);
    }
    // Help in the place of a text stores nothing, which is no success.
    assert_eq!(tool.run(&["add", "t", "--help"]).exit, 2);
    for text in ["--force", "-1", "--limit"] {
        let found = tool.run(&["search", "t", text]);
        assert_eq!(found.exit, 0, "{found:?}");
    }
    // Options keep their places, and `--` its meaning.
    tool.text("-q add t --type decision 'we stay'");
    tool.text("-q add t -- --type");
    let listed = tool.data("ls t --type decision", 0);
    assert_eq!(listed["events"].as_array().unwrap().len(), 1);
    let corrected = tool.run(&["-q", "correct", "t", "0", "we go", "--reason", "- no"]);
    assert_eq!(corrected.exit, 0, "{corrected:?}");
}

#[test]
fn days_and_times_are_local_unless_utc_is_asked_for() {
    let tool = Tool::new();
    let run = |arguments: &[&str]| {
        let mut command = tool.command();
        command.env("TZ", "America/Los_Angeles").args(arguments);
        let output = command.output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    run(&["-q", "brain", "create", "t"]);
    for (happened, expected) in [
        ("2026-03-05 16:05", "2026-03-05T16:05:00-08:00"),
        ("1:56 pm on 8 May, 2023", "2023-05-08T13:56:00-07:00"),
        ("2026-03", "2026-03-01T00:00:00-08:00"),
        ("1709209800", "2024-02-29T04:30:00-08:00"),
        ("2024-02-29T13:30:00+0100", "2024-02-29T04:30:00-08:00"),
    ] {
        let id = run(&["-q", "add", "t", "--happened", happened, "an event"]);
        let shown = run(&["get", "t", id.trim()]);
        assert!(shown.contains(expected), "{happened}: {shown}");
    }
    let shown = run(&["--utc", "get", "t", "0"]);
    assert!(shown.contains("2026-03-06T00:05:00Z"), "{shown}");
    let events: Value = serde_json::from_str(&run(&["--json", "get", "t", "0"])).unwrap();
    assert_eq!(
        events["data"]["events"][0]["eventTime"],
        json!("2026-03-06T00:05:00Z")
    );
    // The day of the timeline is the local one.
    let days = run(&[
        "timeline",
        "t",
        "--since",
        "2026-03-05",
        "--until",
        "2026-03-06",
    ]);
    assert!(
        days.contains("2026-03-05") && days.contains("16:05"),
        "{days}"
    );
}

#[test]
fn a_name_may_have_dots_and_a_text_lines() {
    let tool = Tool::new();
    tool.text("-q brain create acme.web");
    tool.text("-q add acme.web 'first line\nsecond line'");
    let shown = tool.text("get acme.web 0");
    assert!(
        shown.contains("first line\n") && shown.contains("second line\n"),
        "{shown}"
    );
    assert_eq!(tool.data("info acme.web", 0)["events"], 1);
    let blank = tool.run(&["add", "acme.web", "  \n"]);
    assert_eq!(blank.exit, 2, "{blank:?}");
    tool.text("brain rm acme.web --yes");
}

/// Where Debian's package faketime puts it.
const FAKETIME: &str = "/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1";

#[test]
fn at_16_05_in_los_angeles_today_is_the_users_day() {
    if !Path::new(FAKETIME).is_file() {
        return amem_tests::machine::skipped("libfaketime is not installed");
    }
    let tool = Tool::new();
    // The daemon is started with the same clock, by a program of its own: no daemon inherits LD_PRELOAD.
    let daemon = amem_tests::programs::amemd();
    let script = format!(
        "#!/bin/sh\nLD_PRELOAD={FAKETIME} FAKETIME_FMT=%s FAKETIME=1772755500 NO_FAKE_STAT=1 \\\n\
         FAKETIME_DONT_FAKE_MONOTONIC=1 exec {} \"$@\"\n",
        daemon.display()
    );
    tool.put("amemd", script.as_bytes());
    let executable = fs::Permissions::from_mode(0o755);
    fs::set_permissions(tool.path("amemd"), executable).unwrap();
    let run = |arguments: &[&str]| {
        let mut command = tool.command();
        command.env("TZ", "America/Los_Angeles");
        // Thursday 5 March 2026, 16:05; in UTC it is Friday.
        let fake = [
            ("FAKETIME_FMT", "%s"),
            ("FAKETIME", "1772755500"),
            ("NO_FAKE_STAT", "1"),
        ];
        command.env("LD_PRELOAD", FAKETIME).envs(fake);
        command.env("AMEMD", tool.path("amemd"));
        command.env("FAKETIME_DONT_FAKE_MONOTONIC", "1");
        let output = command.args(arguments).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    run(&["-q", "brain", "create", "t"]);
    for (happened, expected) in [
        ("now", "2026-03-05T16:05:00-08:00 (just now)"),
        ("today", "2026-03-05T00:00:00-08:00"),
        ("this morning", "2026-03-05T06:00:00-08:00 (10 hours ago)"),
        ("2 hours ago", "2026-03-05T14:05:00-08:00"),
        ("last Tuesday", "2026-03-03T00:00:00-08:00"),
        ("in 2 hours", "2026-03-05T18:05:00-08:00"),
        ("yesterday", "2026-03-04T00:00:00-08:00"),
        ("tomorrow", "2026-03-06T00:00:00-08:00"),
    ] {
        let id = run(&["-q", "add", "t", "--happened", happened, happened]);
        let shown = run(&["get", "t", id.trim()]);
        assert!(shown.contains(expected), "{happened}: {shown}");
    }
    let found = |filter: &str| {
        let listed = run(&["--json", "ls", "t", "--where", filter]);
        let listed: Value = serde_json::from_str(&listed).unwrap();
        let events = listed["data"]["events"].as_array().unwrap();
        let mut texts: Vec<_> = events
            .iter()
            .map(|it| it["text"].as_str().unwrap().to_owned())
            .collect();
        texts.sort();
        texts
    };
    let today = ["2 hours ago", "in 2 hours", "now", "this morning", "today"];
    assert_eq!(found(r#"{"event_time": "today"}"#), today);
    assert_eq!(
        found(r#"{"event_time": {"lt": "today"}}"#),
        ["last Tuesday", "yesterday"]
    );
    assert_eq!(found(r#"{"event_time": {"gt": "today"}}"#), ["tomorrow"]);
    let since = r#"{"event_time": {"gte": "3 hours ago", "lte": "now"}}"#;
    assert_eq!(found(since), ["2 hours ago", "now"]);
    let days = run(&[
        "timeline", "t", "--axis", "happened", "--since", "today", "--until", "tomorrow",
    ]);
    assert!(
        days.contains("2026-03-05") && days.contains("06:00"),
        "{days}"
    );
    assert!(
        !days.contains("2026-03-04") && !days.contains("2026-03-06"),
        "{days}"
    );
}

#[test]
fn the_zone_of_the_settings_is_that_of_amemctl_unless_the_environment_has_one() {
    let tool = Tool::new();
    let folder = tool.home().join(".config/amemd");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("config.toml"), "zone = \"Asia/Tokyo\"\n").unwrap();
    let run = |zone: Option<&str>, arguments: &[&str]| {
        let mut command = tool.command();
        match zone {
            Some(zone) => command.env("TZ", zone),
            None => command.env_remove("TZ"),
        };
        let output = command.args(arguments).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    run(None, &["-q", "brain", "create", "t"]);
    run(
        None,
        &[
            "-q",
            "add",
            "t",
            "--happened",
            "2026-03-05 16:05",
            "in Tokyo",
        ],
    );
    for (zone, arguments, expected) in [
        (None, &["get", "t", "0"][..], "2026-03-05T16:05:00+09:00"),
        (None, &["--utc", "get", "t", "0"], "2026-03-05T07:05:00Z"),
        (
            Some("Europe/Berlin"),
            &["get", "t", "0"],
            "2026-03-05T08:05:00+01:00",
        ),
    ] {
        let shown = run(zone, arguments);
        assert!(shown.contains(expected), "{zone:?}: {shown}");
    }
}
