//! A client of MCP by hand: lines of JSON on pipes.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use amem_tests::programs::amemctl;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use serde_json::{Value, json};

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// A user with a home, whose daemon starts with the first client and ends with the test.
pub(crate) struct User {
    pub(crate) home: tempfile::TempDir,
}

impl User {
    pub(crate) fn new() -> Self {
        let home = tempfile::Builder::new().prefix("amem").tempdir();
        Self {
            home: home.unwrap(),
        }
    }

    /// A project's folder, made if need be.
    pub(crate) fn project(&self, name: &str) -> PathBuf {
        let folder = self.home.path().join(name);
        std::fs::create_dir_all(&folder).unwrap();
        folder
    }

    /// `amemctl` in a folder, with the variables that clients pass on.
    pub(crate) fn command(&self, folder: &Path, arguments: &[&str]) -> Command {
        let mut command = amemctl();
        let path = std::env::var_os("PATH").unwrap();
        command
            .env_clear()
            .env("PATH", path)
            .env("HOME", self.home.path());
        command.env("TZ", "UTC").current_dir(folder).args(arguments);
        command
    }

    /// A client in a project.
    pub(crate) fn client(&self, project: &str) -> McpClient {
        let folder = self.project(project);
        McpClient::of(self.command(&folder, &["mcp"])).opened()
    }

    /// Allows a folder to be what it says, as a person does at a terminal.
    pub(crate) fn allow(&self, project: &str, arguments: &[&str]) {
        let controller = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&controller).unwrap();
        unlockpt(&controller).unwrap();
        let name = ptsname(&controller, Vec::new())
            .unwrap()
            .into_string()
            .unwrap();
        let side = || File::options().read(true).write(true).open(&name).unwrap();
        let mut command = self.command(&self.project(project), &["project", "allow"]);
        command
            .args(arguments)
            .stdin(side())
            .stdout(side())
            .stderr(side());
        let mut child = command.spawn().unwrap();
        drop(command);
        let mut controller = File::from(controller);
        let (mut screen, mut bytes) = (String::new(), [0; 4096]);
        // A terminal whose other side is closed gives an error on Linux.
        while let Ok(n @ 1..) = controller.read(&mut bytes) {
            screen.push_str(&String::from_utf8_lossy(&bytes[..n]));
            if screen.ends_with("[y/N] ") {
                controller.write_all(b"y\n").unwrap();
            }
        }
        assert!(child.wait().unwrap().success(), "{screen}");
    }

    /// What `amemctl` prints.
    pub(crate) fn prints(&self, arguments: &[&str]) -> String {
        let output = self.command(self.home.path(), arguments).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }
}

impl Drop for User {
    fn drop(&mut self) {
        // There may be none.
        let _ended = self
            .command(self.home.path(), &["shutdown", "--no-autostart"])
            .output();
    }
}

/// A server's process, and the client's end of its pipes.
pub(crate) struct McpClient {
    pub(crate) child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    /// Answers that came before they were asked for.
    early: Vec<Value>,
    next: u64,
    /// `_meta` of each request, of the era without `initialize`.
    meta: Option<Value>,
}

impl McpClient {
    pub(crate) fn of(mut command: Command) -> Self {
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.stderr(Stdio::null()).spawn().unwrap();
        let read = BufReader::new(child.stdout.take().unwrap()).lines();
        let (send, lines) = channel();
        std::thread::spawn(move || {
            for line in read.map_while(Result::ok) {
                drop(send.send(line));
            }
        });
        Self {
            stdin: child.stdin.take(),
            child,
            lines,
            early: Vec::new(),
            next: 1,
            meta: None,
        }
    }

    /// The era of `initialize`.
    pub(crate) fn opened(mut self) -> Self {
        let answer = self.initialize("2025-06-18");
        assert_eq!(
            answer["result"]["protocolVersion"], "2025-06-18",
            "{answer}"
        );
        self
    }

    pub(crate) fn initialize(&mut self, version: &str) -> Value {
        let answer = self.ask(
            "initialize",
            json!({
                "protocolVersion": version,
                "capabilities": {},
                "clientInfo": {"name": "tester", "version": "1"},
            }),
        );
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        answer
    }

    /// The era without it: each request says who asks, and in which version.
    pub(crate) fn stateless(mut self) -> Self {
        self.meta = Some(json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "tester", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
        }));
        self
    }

    pub(crate) fn send(&mut self, message: &Value) {
        self.send_line(&message.to_string());
    }

    pub(crate) fn send_line(&mut self, line: &str) {
        let stdin = self.stdin.as_mut().unwrap();
        stdin.write_all(line.as_bytes()).unwrap();
        stdin.write_all(b"\n").unwrap();
        stdin.flush().unwrap();
    }

    /// Sends a request, and returns its id.
    pub(crate) fn request(&mut self, method: &str, mut params: Value) -> u64 {
        let id = self.next;
        self.next += 1;
        if let Some(meta) = &self.meta {
            params["_meta"] = meta.clone();
        }
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        id
    }

    /// The next message.
    pub(crate) fn next(&mut self) -> Value {
        let line = self.lines.recv_timeout(PATIENCE).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|e| panic!("{e}: {line}"))
    }

    /// The answer to a request.
    pub(crate) fn answer(&mut self, id: u64) -> Value {
        if let Some(at) = self.early.iter().position(|early| early["id"] == id) {
            return self.early.remove(at);
        }
        loop {
            let message = self.next();
            if message["id"] == id {
                return message;
            }
            self.early.push(message);
        }
    }

    pub(crate) fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.request(method, params);
        self.answer(id)
    }

    /// The text of a tool's result, and whether it is an error.
    pub(crate) fn tool(&mut self, name: &str, arguments: Value) -> (String, bool) {
        let answer = self.ask("tools/call", json!({"name": name, "arguments": arguments}));
        text_of(&answer)
    }

    /// The text of a result that is no error.
    pub(crate) fn ok(&mut self, name: &str, arguments: Value) -> String {
        let (text, is_error) = self.tool(name, arguments.clone());
        assert!(!is_error, "{name} {arguments}: {text}");
        text
    }

    /// The words of a result that is an error.
    pub(crate) fn fails(&mut self, name: &str, arguments: Value) -> String {
        let (text, is_error) = self.tool(name, arguments.clone());
        assert!(is_error, "{name} {arguments}: {text}");
        text
    }

    /// Remembers a text, and returns its id.
    pub(crate) fn remember(&mut self, arguments: Value) -> String {
        let answer = self.ok("remember", arguments);
        id_in(&answer)
    }

    pub(crate) fn close_input(&mut self) {
        self.stdin = None;
    }

    /// The exit code, once it has ended.
    pub(crate) fn ended(&mut self) -> Option<i32> {
        let since = std::time::Instant::now();
        while since.elapsed() < PATIENCE {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.code();
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        panic!("the server does not end");
    }
}

impl Drop for McpClient {
    fn drop(&mut self) {
        self.stdin = None;
        let _gone = self.child.kill();
        let _status = self.child.wait();
    }
}

pub(crate) fn text_of(answer: &Value) -> (String, bool) {
    let result = &answer["result"];
    let text = result["content"][0]["text"].as_str();
    let text = text.unwrap_or_else(|| panic!("no text in {answer}"));
    assert!(text.chars().count() <= 8_000, "{} characters", text.len());
    assert!(result.get("structuredContent").is_none(), "{answer}");
    (text.to_owned(), result["isError"] == true)
}

/// The first id in brackets.
pub(crate) fn id_in(text: &str) -> String {
    let (_, rest) = text
        .split_once('[')
        .unwrap_or_else(|| panic!("no id in {text:?}"));
    rest.split(']').next().unwrap().to_owned()
}
