//! What docs/guide.md says about HTTP: its commands do well as they stand, and every route of its table exists.

use std::process::Command;

use serde_json::Value;

use crate::client::daemon;

const GUIDE: &str = include_str!("../../../docs/guide.md");

/// The section about HTTP.
fn section() -> &'static str {
    let (_, section) = GUIDE.split_once("\n## Over HTTP\n").unwrap();
    section.split("\n## ").next().unwrap()
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
    let ctl = format!(
        "{} --socket {}",
        env!("CARGO_BIN_EXE_amem-tested-ctl"),
        daemon.place.socket().display()
    );
    let commands = block
        .replace("amemctl", &ctl)
        .replace("curl ", "curl -sS --fail-with-body ")
        .replace("127.0.0.1:7412", &web.address.to_string());
    let mut shell = Command::new("sh");
    shell
        .arg("-ec")
        .arg(&commands)
        .current_dir(daemon.place.folder.path());
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
