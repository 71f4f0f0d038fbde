//! Sessions of clients: what they send to hooks, and the transcripts that they write.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::client::User;

/// How long what happens behind a hook may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// A session of a client in a project.
pub(crate) struct Session<'u> {
    user: &'u User,
    client: &'static str,
    id: String,
    folder: PathBuf,
    transcript: PathBuf,
    lines: u32,
    last: Option<String>,
}

impl User {
    /// A session with an id of its own in a project.
    pub(crate) fn session(&self, client: &'static str, project: &str, id: &str) -> Session<'_> {
        let home = self.home.path();
        let transcript = match client {
            "claude-code" => home.join(format!(".claude/projects/-{project}/{id}.jsonl")),
            "codex" => home.join(format!(".codex/sessions/2026/11/23/rollout-{id}.jsonl")),
            "gemini" => home.join(format!(".gemini/tmp/{project}/chats/session-{id}.jsonl")),
            "copilot" => home.join(format!(".copilot/session-state/{id}/events.jsonl")),
            _ => home.join(format!("{id}.jsonl")),
        };
        std::fs::create_dir_all(transcript.parent().unwrap()).unwrap();
        let mut session = Session {
            user: self,
            client,
            id: id.to_owned(),
            folder: self.project(project),
            transcript,
            lines: 0,
            last: None,
        };
        session.begin();
        session
    }

    /// Runs a hook with these bytes.
    pub(crate) fn hook(&self, folder: &Path, arguments: &[&str], input: &[u8]) -> Output {
        let mut all = vec!["hook"];
        all.extend(arguments);
        let mut child = self
            .command(folder, &all)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // A hook that is switched off reads nothing.
        let _unread = child.stdin.take().unwrap().write_all(input);
        child.wait_with_output().unwrap()
    }

    /// What `amemctl sessions show` has of a session, once it is as it should be.
    pub(crate) fn given(&self, session: &str, is_there: impl Fn(&Value) -> bool) -> Value {
        let since = Instant::now();
        loop {
            let asked = self
                .command(self.home.path(), &["sessions", "show", session, "--json"])
                .output()
                .unwrap();
            let told: Value = serde_json::from_slice(&asked.stdout).unwrap_or_default();
            if is_there(&told["data"]) {
                return told["data"].clone();
            }
            assert!(since.elapsed() < PATIENCE, "{session}: {told}");
            std::thread::sleep(Duration::from_millis(30));
        }
    }

    /// Waits until so many turns of a session are stored.
    pub(crate) fn stored(&self, session: &str, turns: u64) -> Value {
        self.given(session, |told| told["sessions"][0]["turns"] == turns)
    }
}

impl Session<'_> {
    fn begin(&mut self) {
        let (id, cwd) = (self.id.clone(), self.folder.to_str().unwrap().to_owned());
        match self.client {
            "codex" => self.write(&json!({
                "timestamp": "2026-11-23T09:00:00Z", "type": "session_meta", "payload": {"id": id, "cwd": cwd},
            })),
            "gemini" => self.write(&json!({"sessionId": id, "projectHash": "abc", "kind": "main"})),
            "copilot" => self.write(&json!({
                "type": "session.start", "id": "start", "timestamp": "2026-11-23T09:00:00Z", "parentId": null,
                "data": {"sessionId": id, "context": {"cwd": cwd}},
            })),
            _ => {}
        }
    }

    /// Adds a line to the transcript.
    pub(crate) fn write(&mut self, line: &Value) {
        self.write_bytes(format!("{line}\n").as_bytes());
    }

    pub(crate) fn write_bytes(&mut self, bytes: &[u8]) {
        let mut options = std::fs::OpenOptions::new();
        let mut file = options
            .create(true)
            .append(true)
            .open(&self.transcript)
            .unwrap();
        file.write_all(bytes).unwrap();
    }

    /// A turn, as the client writes it.
    pub(crate) fn says(&mut self, role: &str, text: &str) {
        self.lines += 1;
        let id = format!("{}-{}", self.id, self.lines);
        let time = format!("2026-11-23T09:{:02}:00Z", self.lines);
        let parent = self.last.replace(id.clone());
        let line = match self.client {
            "claude-code" => json!({
                "type": role, "uuid": id, "parentUuid": parent, "sessionId": self.id, "timestamp": time,
                "isSidechain": false, "cwd": self.folder,
                "message": {"role": role, "id": format!("msg_{id}"), "content": [{"type": "text", "text": text}]},
            }),
            "codex" => {
                let kind = if role == "user" {
                    "input_text"
                } else {
                    "output_text"
                };
                json!({
                    "timestamp": time, "type": "response_item",
                    "payload": {"type": "message", "role": role, "content": [{"type": kind, "text": text}]},
                })
            }
            "gemini" => json!({
                "id": id, "timestamp": time, "type": if role == "user" { "user" } else { "gemini" },
                "content": [{"text": text}],
            }),
            "copilot" => json!({
                "type": format!("{role}.message"), "id": id, "timestamp": time, "parentId": parent,
                "data": {"content": text},
            }),
            other => panic!("{other} has no transcript"),
        };
        self.write(&line);
    }

    /// The input of an event.
    pub(crate) fn input(&self, event: &str, more: &Value) -> Value {
        let mut input = json!({
            "session_id": self.id, "transcript_path": self.transcript, "cwd": self.folder, "hook_event_name": event,
        });
        for (name, value) in more.as_object().into_iter().flatten() {
            input[name] = value.clone();
        }
        input
    }

    /// Runs the hook of an event, which must end well and silently; what it prints, as JSON.
    pub(crate) fn hook(&self, event: &str, more: &Value) -> Value {
        let input = self.input(event, more).to_string();
        let output = self.user.hook(
            &self.folder,
            &["--client", self.client, event],
            input.as_bytes(),
        );
        assert!(output.status.success(), "{event}: {output:?}");
        assert!(output.stderr.is_empty(), "{event}: {output:?}");
        match output.stdout.is_empty() {
            true => Value::Null,
            false => serde_json::from_slice(&output.stdout).unwrap(),
        }
    }

    /// The context that a prompt gets; empty if there is none.
    pub(crate) fn prompt(&self, text: &str) -> String {
        let event = match self.client {
            "gemini" => "BeforeAgent",
            _ => "UserPromptSubmit",
        };
        context(&self.hook(event, &json!({"prompt": text})))
    }

    /// The context that the start gets; empty if there is none.
    pub(crate) fn start(&self, source: &str) -> String {
        context(&self.hook("SessionStart", &json!({"source": source})))
    }
}

/// The context in the answer of a hook.
pub(crate) fn context(answer: &Value) -> String {
    let nested = answer["hookSpecificOutput"]["additionalContext"].as_str();
    let text = nested.or_else(|| answer["additionalContext"].as_str());
    text.unwrap_or_default().to_owned()
}
