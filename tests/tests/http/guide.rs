//! What docs/guide.md says about HTTP: its commands do well as they stand, and every route of its table exists. What
//! docs/http.md shows is what is printed.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use uuid::Uuid;

use crate::client::{WebCaller, daemon};
use crate::process::Daemon;

const GUIDE: &str = include_str!("../../../docs/guide.md");

/// The section about HTTP.
fn section() -> &'static str {
    let (_, section) = GUIDE.split_once("\n## Over HTTP\n").unwrap();
    section.split("\n## ").next().unwrap()
}

/// If it is set, the test writes what is printed into `docs/http.md`.
const WRITE: &str = "AMEM_WRITE_HTTP_PAGE";

/// The address of the pages.
const ADDRESS: &str = "127.0.0.1:7412";

/// Commands of a page, for this daemon.
fn shell(daemon: &Daemon, web: &WebCaller, commands: &str) -> Command {
    let ctl = format!(
        "{} --socket {}",
        env!("CARGO_BIN_EXE_amem-tested-ctl"),
        daemon.place.socket().display()
    );
    let commands = commands
        .replace("amemctl", &ctl)
        .replace("curl ", "curl -sS --fail-with-body ")
        .replace(ADDRESS, &web.address.to_string());
    let mut shell = Command::new("sh");
    shell
        .arg("-ec")
        .arg(&commands)
        .current_dir(daemon.place.folder.path());
    shell
}

/// A line without ids, times and scores.
fn comparable(line: &str) -> String {
    let mut out = Vec::new();
    let mut is_score = false;
    for part in line.split('"') {
        let is_time = part.starts_with("20") && part.contains('T') && part.ends_with('Z');
        out.push(match part {
            part if Uuid::try_parse(part).is_ok() => "ID".to_owned(),
            _ if is_time => "TIME".to_owned(),
            part if is_score => part.replace(|c: char| c.is_ascii_digit() || c == '.', ""),
            part => part.to_owned(),
        });
        is_score = part == "score";
    }
    out.join("\"")
}

#[tokio::test(flavor = "multi_thread")]
async fn the_first_five_minutes_are_as_the_page_shows_them() {
    if Command::new("curl").arg("--version").output().is_err() {
        eprintln!("SKIPPED: there is no curl");
        return;
    }
    let (daemon, web) = daemon().await;
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/http.md");
    let page = fs::read_to_string(&path).unwrap();
    let (mut made, mut commands) = (String::new(), 0);
    let mut lines = page.lines().peekable();
    let mut is_console = false;
    while let Some(line) = lines.next() {
        is_console = match line {
            "```console" => true,
            "```" => false,
            _ => is_console,
        };
        let Some(command) = line.strip_prefix("$ ").filter(|_| is_console) else {
            made += &format!("{line}\n");
            continue;
        };
        made += &format!("{line}\n");
        let mut command = command.to_owned();
        while command.ends_with('\\') {
            let more = lines.next().unwrap();
            made += &format!("{more}\n");
            command = format!("{command}\n{more}");
        }
        let output = shell(&daemon, &web, &command).output().unwrap();
        let out = String::from_utf8(output.stdout).unwrap();
        let out = out.replace(&web.address.to_string(), ADDRESS);
        let mut shown = Vec::new();
        while lines
            .peek()
            .is_some_and(|line| !line.starts_with("$ ") && *line != "```")
        {
            shown.extend(lines.next());
        }
        let found: Vec<_> = out.lines().filter(|line| !line.is_empty()).collect();
        commands += 1;
        for line in &found {
            made += &format!("{line}\n");
        }
        if std::env::var_os(WRITE).is_none() {
            let [found, shown] =
                [&found, &shown].map(|lines| lines.iter().map(|line| comparable(line)).collect());
            let (found, shown): (Vec<_>, Vec<_>) = (found, shown);
            assert_eq!(
                found, shown,
                "$ {command}: run this test with {WRITE}=1, and look at the difference"
            );
        }
    }
    assert!(commands >= 9, "{commands}");
    if std::env::var_os(WRITE).is_some() {
        fs::write(&path, made).unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_commands_of_the_guide_do_well() {
    if Command::new("curl").arg("--version").output().is_err() {
        eprintln!("SKIPPED: there is no curl");
        return;
    }
    let (daemon, web) = daemon().await;
    let (_, block) = section().split_once("```sh\n").unwrap();
    let block = block.split("```").next().unwrap();
    let mut shell = shell(&daemon, &web, block);
    let output = shell.output().unwrap();
    let (out, err) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    assert!(output.status.success(), "{out}{err}");
    for words in ["User lives in Porto", "\"score\":", "\"deleted\":2"] {
        assert!(out.contains(words), "{words}: {out}");
    }
}

#[tokio::test]
async fn every_route_of_the_guide_exists() {
    let (_daemon, web) = daemon().await;
    let rows = section()
        .lines()
        .filter(|line| line.starts_with("| ") && line.contains('`'));
    let mut routes = Vec::new();
    for row in rows {
        let mut method = "GET";
        for word in row.split(['`', ' ', ',', ';']) {
            match word {
                "GET" | "POST" | "PUT" | "DELETE" => method = word,
                path if path.starts_with('/') && path.len() > 4 => {
                    let path = path.split('?').next().unwrap();
                    routes.push((method, path.replace(['{', '}'], "")));
                }
                _ => {}
            }
        }
    }
    assert!(routes.len() > 25, "{routes:?}");
    for (method, path) in routes {
        let answer = web.send(method, &path, &[], &Value::Null);
        let code = match answer.header("content-type") {
            Some("application/json") => answer.json()["code"].clone(),
            _ => Value::Null,
        };
        assert!(
            code != "UNKNOWN_PATH" && code != "METHOD",
            "{method} {path}: {}",
            answer.text()
        );
    }
}
