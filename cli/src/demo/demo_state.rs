//! State and helpers that the steps share.

use std::path::PathBuf;

use amem_client::{Brain, Change, Reader, Refusal, v1};
use amem_format::view::View;
use serde_json::Value;

use super::sandbox::Sandbox;
use super::transcript::{Transcript, wrong};
use super::write_load::{BRAIN, WriteLoad};
use crate::connection::remote::Remote;
use crate::failure::Failure;

/// An answered correction.
#[derive(Default)]
pub(super) struct Correction {
    pub(super) lsn: u64,
    pub(super) new: u64,
    /// The event that it replaced.
    pub(super) old: u64,
}

/// The daemon, its brain, and what earlier steps leave to later ones.
pub(super) struct Demo {
    pub(super) sandbox: Sandbox,
    pub(super) daemon: usize,
    pub(super) remote: Remote,
    /// Asked by call: direct reads would count as uses of events.
    pub(super) brain: Brain,
    pub(super) file: PathBuf,
    pub(super) correction: Correction,
    pub(super) load: Option<WriteLoad>,
}

impl Demo {
    pub(super) fn start(page: &mut Transcript<'_>, sandbox: Sandbox) -> Result<Self, Failure> {
        let line =
            "A private daemon, with its own folder and socket; none of your brains is touched.";
        page.step("start", line)?;
        let (daemon, remote) = sandbox.start_daemon()?;
        let status = remote.call(remote.client.admin().get_status(v1::GetStatusRequest {}))?;
        let (version, pid, folder) = (&status.version, status.pid, sandbox.folder.display());
        page.show(format_args!(
            "amemd {version} is process {pid}, in {folder}"
        ))?;
        check!(page, "the daemon that answers is ours" => pid == sandbox.pid(daemon));
        sandbox.amemctl("brain create", &[BRAIN])?;
        let brain = remote.wait(remote.client.brain(BRAIN))?.by_call();
        check!(page, "we may read the brain's file directly" => brain.opened().direct_read);
        Ok(Self {
            file: brain.opened().path.clone().into(),
            correction: Correction::default(),
            load: None,
            sandbox,
            daemon,
            remote,
            brain,
        })
    }

    /// Runs a command and shows its output.
    pub(super) fn show(
        &self,
        page: &mut Transcript<'_>,
        command: &str,
        texts: &[&str],
    ) -> Result<(), Failure> {
        let text = if texts.is_empty() { "" } else { "…" };
        page.row(format_args!("$ amemctl {command} {text}"))?;
        let output = self.sandbox.amemctl(command, texts)?;
        output.lines().try_for_each(|line| page.row(line))
    }

    /// Runs a command with `--json` and returns its data.
    pub(super) fn json(&self, command: &str, texts: &[&str]) -> Result<Value, Failure> {
        let output = self.sandbox.amemctl(&format!("--json {command}"), texts)?;
        let answer = serde_json::from_str::<Value>(&output);
        let claim = |e| wrong(format!("amemctl {command} answers in JSON: {e}"));
        Ok(answer.map_err(claim)?["data"].take())
    }

    /// Waits for an answer of the daemon.
    pub(super) fn ask<T>(
        &self,
        answer: impl Future<Output = Result<T, Refusal>>,
    ) -> Result<T, Failure> {
        Ok(self.remote.wait(answer)?)
    }

    /// The newest view of the file.
    pub(super) fn view(&self) -> Result<View, Failure> {
        Ok(Reader::open(&self.file)?.view()?)
    }

    /// The current belief in place of an event.
    pub(super) fn head(&self, event_id: u64) -> Result<v1::Event, Failure> {
        let resolved = self.ask(self.brain.resolve(event_id))?;
        Ok(resolved.head.unwrap_or_default())
    }

    /// Replaces the newest belief of a chain by a text, for a reason.
    pub(super) fn replace(
        &self,
        agent: &str,
        target_id: u64,
        [text, reason]: [&str; 2],
    ) -> Result<Correction, Failure> {
        let mut request = v1::CorrectRequest {
            target_id,
            to_head: true,
            event: Some(v1::NewEvent {
                text: text.into(),
                confidence: Some(0.95),
                ..Default::default()
            }),
            reason: reason.into(),
            ..Default::default()
        };
        request.options_mut().agent = agent.into();
        let answer = self.ask(self.brain.write(request))?;
        Ok(Correction {
            lsn: answer.commit.unwrap_or_default().lsn,
            new: answer.event_id,
            old: answer.target_id,
        })
    }
}

/// The rows of a JSON list.
pub(super) fn rows(list: &Value) -> &[Value] {
    list.as_array().map_or(&[], Vec::as_slice)
}

/// A number of 64 bits: messages have it as a text, and leave 0 out.
pub(super) fn number(value: &Value) -> u64 {
    match value {
        Value::String(text) => text.parse().unwrap_or_default(),
        value => value.as_u64().unwrap_or_default(),
    }
}
