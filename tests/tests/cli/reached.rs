//! Finding, starting, showing and stopping a daemon, and what it says of its brains.

use std::fs::Permissions;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;
use std::time::{Duration, Instant};

use amem_tests::programs::number;
use serde_json::json;

use crate::served::{backups, check};
use crate::tool::{Tool, words};

#[test]
fn brains_are_listed_and_removed() {
    let tool = backups();
    tool.text("brain create notes --dimension 3 --model mine");
    tool.text("brain create work --if-missing");
    tool.refused(
        "brain create work",
        5,
        "already_exists",
        "work",
        "another name",
    );
    let list = tool.told("brain ls");
    assert!(list.contains("notes 0 0 "), "{list}");
    assert!(list.ends_with("2 brains\n"), "{list}");
    assert_eq!(tool.data("brain info notes", 0)["dimension"], 3);
    tool.refused(
        "brain rm notes",
        5,
        "unconfirmed",
        "no terminal to ask on",
        "--yes",
    );
    check(&tool.text("brain rm notes --yes"), "notes is removed");
    tool.refused("query notes", 3, "unknown_brain", "notes", "brain create");
    tool.put("notes", b"");
    tool.refused(
        "query notes",
        3,
        "unknown_brain",
        "notes",
        "`./notes` means the file",
    );
    tool.refused(
        "add work.amem x",
        5,
        "file",
        "only amemd writes brains",
        "brain ls",
    );
    tool.refused("brain create a/b", 5, "brain_name", "a/b", "letters");
}

#[test]
fn the_daemon_is_shown_and_stopped() {
    let tool = Tool::new();
    tool.refused("status", 7, "no_daemon", "no amemd answers", "amemd");
    tool.refused(
        "--no-autostart query work",
        7,
        "no_daemon",
        "no amemd answers",
        "--socket",
    );
    tool.text("-q brain create work");
    let status = tool.data("status", 0)["status"].clone();
    assert_eq!(status["brainCount"], "1");
    let pid = status["pid"].as_u64().unwrap();
    #[cfg(target_os = "linux")]
    {
        let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap();
        let limited = |variable: &[u8]| variable == b"MALLOC_ARENA_MAX=2";
        assert!(environment.split(|byte| *byte == 0).any(limited));
    }
    let text = tool.told("status");
    assert!(text.starts_with("amemd 0."), "{text}");
    assert!(text.contains(&format!("process {pid}, up ")), "{text}");
    assert!(text.contains("CreateBrain 1 0 "), "{text}");
    assert_eq!(tool.data("reload", 0)["changed"], json!(null));
    check(
        &tool.text("shutdown"),
        &format!("amemd (process {pid}) has ended"),
    );
    tool.refused("shutdown", 7, "no_daemon", "no amemd answers", "amemd");
    // The next command starts another.
    assert_eq!(tool.data("-q brain ls", 0)["brains"][0]["brain"], "work");
}

#[test]
fn daemon_activity_is_shown_with_rates_between_two_samples() {
    let tool = Tool::new();
    tool.refused("top --once", 7, "no_daemon", "no amemd answers", "amemd");
    tool.text("-q brain create work");
    tool.text("-q add work first");
    let mut watching = tool.command();
    watching.args(["-q", "top", "--once", "--json", "--interval", "3"]);
    let watching = watching.stdout(Stdio::piped()).spawn().unwrap();
    wait_for_a_look(&tool);
    tool.text("-q add work second");
    let output = watching.wait_with_output().unwrap();
    let frame: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let frame = &frame["data"];
    assert!(frame["seconds"].as_f64().unwrap() >= 3.0, "{frame}");
    let work = &frame["rates"]["brains"][0];
    assert_eq!(work["brain"], "work");
    for rate in ["commitsPerSec", "eventsPerSec", "requestsPerSec"] {
        let rate = work[rate].as_f64().unwrap();
        assert!(0.0 < rate && rate <= 2.0, "{frame}");
    }
    let call = |name: &str| {
        let calls = frame["rates"]["calls"].as_array().unwrap().iter();
        let mut calls = calls.filter(|call| call["rpc"].as_str().unwrap().ends_with(name));
        calls.next().unwrap()["perSec"].as_f64().unwrap()
    };
    assert!(call("/Ingest") > 0.0, "{frame}");
    assert_eq!(call("/CreateBrain"), 0.0);

    let text = tool.told("top --once --interval 0.1");
    let pid = frame["status"]["pid"].as_u64().unwrap();
    assert!(text.starts_with("amemd 0."), "{text}");
    for words in [
        &format!("process {pid}, up "),
        " calls/s, ",
        "1 brain (1 open)",
        " processors, ",
        "brain commits/s events/s waiting",
        "work 0 0 0 ",
        "call calls/s refused/s under way",
        "Ingest 0 0 0 ",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    tool.text("-q shutdown");
}

/// Waits until another client has looked at the daemon: jobs are what is asked for last, by a look of ours, too.
fn wait_for_a_look(tool: &Tool) {
    let until = Instant::now() + Duration::from_secs(20);
    for ours in 0.. {
        let status = tool.data("status", 0);
        let calls = status["latencies"].as_array().unwrap().iter();
        let jobs = calls.filter(|call| call["rpc"].as_str().unwrap().ends_with("/ListJobs"));
        let looks: u64 = jobs.map(|call| number(&call["count"])).sum();
        if looks > ours {
            return;
        }
        assert!(Instant::now() < until, "nobody looks");
    }
}

#[test]
fn a_failed_start_gives_its_reason_and_two_concurrent_starts_give_one_daemon() {
    let tool = Tool::new();
    let config = tool.home().join(".config/amemd");
    std::fs::create_dir_all(&config).unwrap();
    std::fs::write(config.join("config.toml"), "no_such_key = 1").unwrap();
    tool.refused("brain ls", 7, "no_daemon", "no_such_key", "--check-config");
    std::fs::remove_file(config.join("config.toml")).unwrap();
    let starting: Vec<_> = (0..4)
        .map(|n| {
            let mut command = tool.command();
            command.args(["-q", "brain", "create", &format!("b{n}")]);
            command.stdout(Stdio::null()).spawn().unwrap()
        })
        .collect();
    for mut child in starting {
        assert!(child.wait().unwrap().success());
    }
    assert_eq!(
        tool.data("brain ls", 0)["brains"].as_array().unwrap().len(),
        4
    );
}

#[test]
fn a_daemon_is_reached_by_tcp_with_its_token() {
    let tool = Tool::new();
    let port = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let address = format!("127.0.0.1:{port}");
    let mut start = tool.command();
    start.env("AMEMD_TCP_LISTEN", &address);
    assert!(
        start
            .args(["-q", "brain", "create", "work"])
            .status()
            .unwrap()
            .success()
    );
    tool.text("add work 'by socket'");
    let made = tool.run(&words("token create far --role write"));
    assert_eq!(made.exit, 0, "{made:?}");
    assert!(made.out.starts_with("amem_") && made.out.lines().count() == 1);
    assert!(made.err.contains("not shown again") && !made.err.contains("amem_"));
    let token = tool.path("far.token");
    std::fs::write(&token, &made.out).unwrap();
    let mode = |mode| std::fs::set_permissions(&token, Permissions::from_mode(mode)).unwrap();
    mode(0o644);
    let far = format!("--address {address} --token-file {}", token.display());
    let ran = tool.run(&words(&format!("{far} query work")));
    assert_eq!(ran.exit, 2, "{ran:?}");
    assert!(ran.err.contains("chmod 600"), "{ran:?}");
    mode(0o600);
    check(&tool.text(&format!("-q {far} add work 'by TCP'")), "1");
    let told = tool.data_after(&far, "query work", 0);
    assert_eq!(told["events"].as_array().unwrap().len(), 2);
    let info = tool.told(&format!("{far} info work"));
    assert!(info.contains("events 2\n"), "{info}");
    let ran = tool.run(&words(&format!("{far} get work 0 --history")));
    assert_eq!(ran.exit, 5, "{ran:?}");
    assert!(ran.err.contains("cannot be read from here"), "{ran:?}");
    let ran = tool.run(&words(&format!("--address {address} query work")));
    assert_eq!(ran.exit, 5, "{ran:?}");
    assert!(ran.err.contains("--token-file"), "{ran:?}");
    let ran = tool.run(&words(&format!(
        "--token-file {} query work",
        token.display()
    )));
    assert_eq!(ran.exit, 2, "{ran:?}");
    let ran = tool.run(&words("--address 127.0.0.1:1 query work"));
    assert_eq!(ran.exit, 7, "{ran:?}");
}

#[test]
fn tokens_are_created_listed_revoked_and_shown_once() {
    let tool = Tool::new();
    tool.refused("token list", 7, "no_daemon", "no amemd answers", "amemd");
    tool.text("-q brain create work");
    tool.refused("token create a", 5, "no_tokens", "tcp.listen", "tcp.listen");
    tool.text("-q shutdown");
    let mut start = tool.command();
    start.env("AMEMD_TCP_LISTEN", "127.0.0.1:0");
    assert!(
        start
            .args(["-q", "brain", "ls"])
            .status()
            .unwrap()
            .success()
    );
    let list = tool.text("token list");
    assert!(list.contains("amemctl token create"), "{list}");
    let token = tool.data("token create laptop", 0);
    let token = token["token"].as_str().unwrap().to_owned();
    tool.data("token create ci --role read --brain work --brain notes", 0);
    let list = tool.told("token list");
    assert!(
        list.contains("laptop write AGO all all\n")
            && list.contains("ci read AGO notes, work all\n"),
        "{list}"
    );
    let list = tool.envelope("token list");
    let tokens = &list["data"]["tokens"];
    assert_eq!(tokens[0]["name"], "ci");
    assert_eq!(
        (&tokens[1]["name"], &tokens[1]["permission"]),
        (&json!("laptop"), &json!("PERMISSION_WRITE"))
    );
    assert_eq!(
        list["data"]["tokens"][0]["brains"],
        json!(["notes", "work"])
    );
    let kept = std::fs::read_to_string(tool.home().join(".config/amemd/tokens.toml")).unwrap();
    for text in [list.to_string(), kept] {
        assert!(
            text.contains("laptop") && !text.contains(&token[5..]),
            "{text}"
        );
    }
    tool.refused("token create ci", 5, "already_exists", "ci", "another name");
    tool.refused("token create a/b", 5, "invalid", "letters", "--help");
    check(&tool.text("token revoke laptop"), "token laptop is revoked");
    tool.refused(
        "token revoke laptop",
        3,
        "unknown_token",
        "laptop",
        "token list",
    );
}
