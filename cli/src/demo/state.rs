//! What the steps of the demo share.

use std::path::PathBuf;

use amem_client::{Brain, Change, Reader, Refusal, v1};
use amem_format::view::View;
use serde_json::Value;

use super::load::Load;
use super::sandbox::{BRAIN, Daemon, Sandbox};
use super::transcript::{Stage, wrong};
use crate::connection::remote::Remote;
use crate::failure::Failure;

/// A correction that was answered.
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
    pub(super) daemon: Daemon,
    pub(super) remote: Remote,
    /// Asked by call: a direct read would count uses of events.
    pub(super) brain: Brain,
    pub(super) file: PathBuf,
    pub(super) correction: Correction,
    pub(super) load: Option<Load>,
}

impl Demo {
    pub(super) fn start(stage: &mut Stage<'_>, sandbox: Sandbox) -> Result<Self, Failure> {
        stage.step(
            "start",
            "A daemon of our own, on a private folder and socket; no brain of yours is touched.",
        )?;
        let (daemon, remote) = Daemon::start(&sandbox)?;
        let status = remote.call(remote.client.admin().get_status(v1::GetStatusRequest {}))?;
        let (pid, folder) = (daemon.pid(), sandbox.folder().display());
        stage.show(format_args!(
            "amemd {} is process {pid}, in {folder}",
            status.version
        ))?;
        check!(stage, "the daemon that answers is ours" => status.pid == pid);
        sandbox.amemctl("brain create", &[BRAIN])?;
        let brain = remote.wait(remote.client.brain(BRAIN))?.by_call();
        check!(stage, "we may read the brain's file directly" => brain.opened().direct_read);
        let file = brain.opened().path.clone().into();
        let correction = Correction::default();
        Ok(Self {
            sandbox,
            daemon,
            remote,
            brain,
            file,
            correction,
            load: None,
        })
    }

    /// Shows a command and its output.
    pub(super) fn show(
        &self,
        stage: &mut Stage<'_>,
        command: &str,
        text: &str,
    ) -> Result<(), Failure> {
        stage.row(format_args!(
            "$ amemctl {command} {}",
            if text.is_empty() { "" } else { "…" }
        ))?;
        let output = self
            .sandbox
            .amemctl(command, &[text][usize::from(text.is_empty())..])?;
        output.lines().try_for_each(|line| stage.row(line))
    }

    /// The data that a command prints with `--json`.
    pub(super) fn json(&self, command: &str, texts: &[&str]) -> Result<Value, Failure> {
        let output = self.sandbox.amemctl(&format!("--json {command}"), texts)?;
        let answer = serde_json::from_str::<Value>(&output);
        let mut answer =
            answer.map_err(|e| wrong(format!("amemctl {command} answers in JSON: {e}")))?;
        Ok(answer["data"].take())
    }

    /// Has the daemon answer a question.
    pub(super) fn ask<T>(
        &self,
        answer: impl Future<Output = Result<T, Refusal>>,
    ) -> Result<T, Failure> {
        Ok(self.remote.wait(answer)?)
    }

    /// Makes a change in the name of an agent.
    pub(super) fn write<C: Change>(
        &self,
        agent: &str,
        mut change: C,
    ) -> Result<C::Answer, Failure> {
        change.options_mut().agent = agent.into();
        self.ask(self.brain.write(change))
    }

    /// The newest view of the file.
    pub(super) fn view(&self) -> Result<View, Failure> {
        Ok(Reader::open(&self.file)?.view()?)
    }

    /// What is believed now in place of an event, and how that came.
    pub(super) fn resolve(&self, event_id: u64) -> Result<v1::ResolveResponse, Failure> {
        self.ask(self.brain.resolve(event_id))
    }
}
