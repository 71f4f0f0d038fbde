//! The rest of the shell: settings of brains, logs, waits that are said, completion, words of other programs.

use std::io::{Read, Write};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use amem_tests::machine::skipped;
use amem_tests::programs::number;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::tool::{Tool, words};

#[test]
fn settings_of_a_brain_are_shown_and_set() {
    let tool = Tool::new();
    tool.text("-q brain create t");
    let set = tool.data_of(
        &[
            "brain",
            "set",
            "t",
            "fading-below=0.1",
            "jobs.expiry=every 1h",
            "embed=off",
        ],
        0,
    );
    assert_eq!(set["settings"]["jobs"]["expire"], "every 1h");
    let shown = tool.text("brain show t");
    let line = |key: &str| {
        let found = shown.lines().find(|line| line.starts_with(key));
        found.unwrap_or_else(|| panic!("{key}: {shown}")).to_owned()
    };
    assert!(line("fading_below").contains("0.1"), "{shown}");
    assert!(!line("fading_below").contains("default"), "{shown}");
    assert!(line("decay.fact").contains("default"), "{shown}");
    tool.text("-q brain set t fading_below=");
    let settings = tool.data("brain show t", 0)["settings"].clone();
    assert_eq!(
        (&settings["fading_below"], &settings["embed"]),
        (&json!(0.2), &json!(false))
    );
    let refused = tool.run(&["brain", "set", "t", "jobs.decya=off"]);
    assert_eq!(refused.exit, 2);
    assert!(
        refused.err.contains("did you mean jobs.decay?"),
        "{refused:?}"
    );
    tool.text("-q shutdown");
}

#[test]
fn unknown_keys_of_settings_are_refused_by_the_daemon() {
    let tool = Tool::new();
    let create =
        |name: &str, settings: &str| tool.run(&["brain", "create", name, "--settings", settings]);
    let refused = create("t", r#"{"jobs":{"decya":"off"}}"#);
    assert_eq!(refused.exit, 5, "{refused:?}");
    assert!(
        refused.err.contains("did you mean jobs.decay?"),
        "{refused:?}"
    );
    let other = create("t", r#"{"jobs":{"close-sessions":"off","expiry":"off"}}"#);
    assert_eq!(other.exit, 0, "{other:?}");
    let jobs = tool.data("jobs t", 0)["jobs"].clone();
    let names: Vec<_> = jobs
        .as_array()
        .unwrap()
        .iter()
        .map(|job| job["kind"].clone())
        .collect();
    for name in [
        "JOB_KIND_DECAY",
        "JOB_KIND_EXPIRY",
        "JOB_KIND_CLOSE_SESSIONS",
        "JOB_KIND_COMPRESSION",
        "JOB_KIND_SCRUB",
        "JOB_KIND_CHECKPOINT",
    ] {
        assert!(names.contains(&json!(name)), "{name}: {names:?}");
    }
    tool.text("-q jobs t --run expiry");
    tool.text("-q shutdown");
}

#[test]
fn attributes_and_vectors_of_events_are_set() {
    let tool = Tool::new();
    tool.text("-q brain create t --dimension 2 --model m");
    tool.text("-q add t --attribute a=1 --attribute b=2 'an event'");
    tool.text("-q events set-attributes t last b=3 c=4 --remove a --json-object '{\"n\":7}'");
    let event = tool.data("get t 0", 0)["events"][0].clone();
    let attributes = event["attributesJson"].as_str().unwrap();
    assert_eq!(
        serde_json::from_str::<Value>(attributes).unwrap(),
        json!({"b": "3", "c": "4", "n": 7})
    );
    tool.put("vector.json", b"[1, 0]");
    tool.text("-q events set-vector t 0 vector.json");
    assert_eq!(
        tool.data("get t 0 --vectors", 0)["events"][0]["vector"]["values"],
        json!([1.0, 0.0])
    );
    tool.text("-q events set-vector t 0 --remove");
    tool.text("-q events set-attributes t 0 --clear");
    let event = tool.data("get t 0", 0)["events"][0].clone();
    assert_eq!(
        (&event["vectorPresent"], &event["attributesJson"]),
        (&json!(null), &json!(null))
    );
    tool.text("-q shutdown");
}

#[test]
fn words_and_pipelines_find_events() {
    let tool = Tool::new();
    tool.text("-q brain create t");
    tool.text("-q add t 'backups take 4 hours'");
    tool.text("-q add t --type decision --link caused-by:0 'a second disk'");
    tool.text("-q correct t 0 'backups take 40 minutes'");
    let found = tool.data("text t hours", 0)["hits"].clone();
    assert_eq!(number(&found[0]["event"]["id"]), 0, "{found}");
    assert_eq!(found[0]["event"]["text"], "backups take 4 hours", "{found}");
    let walked = tool.data(
        "pipeline t --text hours --then traverse:types=caused-by,follow=incoming --then resolve --then limit:5",
        0,
    );
    let rows = walked["rows"].as_array().unwrap();
    let ids: Vec<_> = rows.iter().map(|row| number(&row["event"]["id"])).collect();
    assert_eq!(ids, [2, 1], "{walked}");
    let wrong = tool.run(&words("pipeline t --newest --then sort"));
    assert_eq!(wrong.exit, 2, "{wrong:?}");
    tool.text("-q shutdown");
}

#[test]
fn closed_brains_are_listed_with_events_size_and_last_commit() {
    let tool = Tool::new();
    tool.text("-q brain create t");
    tool.text("-q add t first");
    tool.text("-q add t second");
    tool.text("-q shutdown");
    let listed = || tool.data("-q brain ls", 0)["brains"][0].clone();
    let brain = listed();
    assert_eq!(
        (&brain["open"], &brain["events"]),
        (&json!(null), &json!("2")),
        "{brain}"
    );
    assert!(number(&brain["fileBytes"]) > 4096, "{brain}");
    assert!(
        number(&brain["moment"]["lsn"]) >= 2 && brain["moment"]["time"].is_string(),
        "{brain}"
    );
    assert_eq!(listed()["open"], json!(null), "listing it did not open it");
    tool.text("-q add t third");
    assert_eq!(listed()["events"], "3");
    let path = tool.data("info t", 0);
    assert_eq!(path["events"], 3);
    tool.text("-q shutdown");
}

#[test]
fn verify_counts_what_the_journal_has() {
    let tool = Tool::new();
    tool.text("-q brain create t");
    tool.text("-q add t first");
    tool.text("-q add t --link supports:0 second");
    tool.text("-q shutdown");
    let file = tool.home().join(".local/share/amem/brains/t.amem");
    let report = tool.data(&format!("verify {}", file.display()), 0);
    assert_eq!(
        (&report["events"], &report["edges"]),
        (&json!("2"), &json!("1")),
        "{report}"
    );
}

#[test]
fn status_names_settings_and_log_and_logs_shows_it() {
    let tool = Tool::new();
    tool.text("-q brain create t");
    let status = tool.data("status", 0)["status"].clone();
    let log = status["log"].as_str().unwrap();
    assert_eq!(
        log,
        tool.home()
            .join(".local/state/amem/amemd.log")
            .to_str()
            .unwrap()
    );
    assert_eq!(status["settingsFile"], json!(null));
    assert!(tool.text("status").contains("no file: defaults"));
    let lines = tool.text("logs");
    assert!(lines.contains("amemd"), "{lines}");
    assert_eq!(tool.text("logs -n 1").lines().count(), 1);
    let mut follow = tool.command();
    follow
        .args(["logs", "-f", "-n", "0"])
        .stdout(Stdio::piped());
    let mut follow = follow.spawn().unwrap();
    let mut out = follow.stdout.take().unwrap();
    tool.text("-q shutdown");
    let mut first = [0; 1];
    out.read_exact(&mut first).unwrap();
    follow.kill().unwrap();
    follow.wait().unwrap();
    // Of a daemon that has ended, too.
    assert!(tool.text("logs").len() > lines.len());
}

#[test]
fn a_wait_for_a_stopped_daemon_is_said_once() {
    let tool = Tool::new();
    tool.text("-q brain create t");
    let pid = tool.data("status", 0)["status"]["pid"].as_u64().unwrap();
    let pid = Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
    kill_process(pid, Signal::STOP).unwrap();
    let since = Instant::now();
    let mut command = tool.command();
    command
        .args(["ls", "t"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut waiting = command.spawn().unwrap();
    let mut err = waiting.stderr.take().unwrap();
    let mut line = [0; 64];
    let read = err.read(&mut line).unwrap();
    let said = String::from_utf8_lossy(&line[..read]).into_owned();
    let after = since.elapsed();
    // Completion does not wait for it.
    let since = Instant::now();
    let completed = tool.run(&["complete", "--", "amemctl", "info", ""]);
    let completing = since.elapsed();
    kill_process(pid, Signal::CONT).unwrap();
    let mut rest = String::new();
    err.read_to_string(&mut rest).unwrap();
    assert!(waiting.wait().unwrap().success());
    assert!(
        said.starts_with("amemctl: amemd has not answered yet"),
        "{said}"
    );
    assert!(after < Duration::from_secs(5), "{after:?}");
    assert!(!rest.contains("amemctl:"), "{rest}");
    assert!(
        completing < Duration::from_secs(3),
        "{completing:?} {completed:?}"
    );
    tool.text("-q shutdown");
}

/// What bash completes a line to.
fn in_bash(tool: &Tool, script: &str, line: &[&str]) -> Vec<String> {
    let mut bash = Command::new("bash");
    let run = format!(
        "source {script}; COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); _amemctl; \
         printf '%s\\n' \"${{COMPREPLY[@]}}\""
    );
    let program = tool.command().get_program().to_owned();
    bash.args(["--norc", "-c", &run, "bash"])
        .arg(program)
        .args(line);
    bash.env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", tool.home())
        .env("AMEMD_SOCKET", tool.socket());
    let output = bash.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let out = String::from_utf8(output.stdout).unwrap();
    out.lines().map(str::to_owned).collect()
}

#[test]
fn bash_completes_brains_sessions_and_types() {
    if Command::new("bash").arg("--version").output().is_err() {
        return skipped("there is no bash");
    }
    let tool = Tool::new();
    tool.put("script", tool.text("completions bash").as_bytes());
    let script = tool.path("script").display().to_string();
    let complete = |line: &[&str]| in_bash(&tool, &script, line);
    tool.text("-q brain create work");
    tool.text("-q brain create acme.web");
    tool.text("-q add work --session standup one");
    tool.text("-q add work --session 'my day' two");
    assert_eq!(complete(&["info", "w"]), ["work"]);
    assert_eq!(complete(&["info", ""]), ["acme.web", "work"]);
    assert_eq!(complete(&["query", "work", "--session", "st"]), ["standup"]);
    assert_eq!(
        complete(&["query", "work", "--session", "my"]),
        ["my\\ day"]
    );
    assert_eq!(complete(&["link", "work", "1", "caus"]), ["caused-by"]);
    // bash splits at = and :.
    assert_eq!(
        complete(&["query", "work", "--type", "=", "dec"]),
        ["decision"]
    );
    assert_eq!(complete(&["add", "work", "--link", "supp"]), ["supports:"]);
    tool.text("-q shutdown");
    // Without a daemon: the files, and none is started.
    assert_eq!(complete(&["info", "w"]), ["work"]);
    assert_eq!(tool.run(&["status"]).exit, 7);
}

#[test]
fn zsh_and_fish_accept_their_scripts() {
    let tool = Tool::new();
    for (shell, arguments) in [("zsh", ["-n"]), ("fish", ["--no-execute"])] {
        tool.put(
            "script",
            tool.text(&format!("completions {shell}")).as_bytes(),
        );
        let checked = Command::new(shell)
            .args(arguments)
            .arg(tool.path("script"))
            .output();
        match checked {
            Ok(output) => assert!(output.status.success(), "{shell}: {output:?}"),
            // Not asked of every machine.
            Err(_) => drop(writeln!(std::io::stderr(), "SKIPPED: there is no {shell}")),
        }
    }
}

#[test]
fn words_of_other_programs_are_answered_with_ours() {
    let tool = Tool::new();
    for (line, remedy) in [
        ("delete work 12", "amemctl erase"),
        ("history work 12", "--history"),
        ("rename work other", "amemctl import"),
        ("log work", "amemctl logs"),
        ("brain delete work", "amemctl brain rm"),
        ("sessions work", "amemctl sessions list work"),
        ("brain work", "amemctl info work"),
    ] {
        let refused = tool.run(&words(line));
        assert_eq!(refused.exit, 2, "{refused:?}");
        assert!(
            refused.err.starts_with("error: there is no `"),
            "{refused:?}"
        );
        assert!(refused.err.contains(remedy), "{line}: {refused:?}");
    }
    let envelope = tool.envelope("delete work 12");
    assert_eq!(envelope["error"]["code"], "usage");
    let misspelt = tool.run(&words("brain craete work"));
    assert!(misspelt.err.contains("'create'"), "{misspelt:?}");
}

#[test]
fn an_import_with_the_brain_first_says_in_which_order() {
    let tool = Tool::new();
    tool.put("x.jsonl", b"");
    tool.refused(
        "import work x.jsonl",
        3,
        "not_found",
        "work does not exist",
        "amemctl import x.jsonl work",
    );
}
