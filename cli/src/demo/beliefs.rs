//! What is believed: corrected, with its history, and known as it was before.

use amem_client::v1;
use amem_format::NodeId;
use amem_format::view::View;

use super::history::{doubts, made};
use super::questions::{QUESTION, id_of, show, told};
use super::run::{BRAIN, Demo};
use super::stage::{Result, Stage};

const REASON: &str = "the backup of 4 May began while tides were still being imported";
/// What an agent learns while the demo runs.
pub(super) const CORRECTION: &str =
    "The nightly backup starts at 04:15 UTC, because the tide import ends at 04:00.";
/// Who learns it.
const LEARNER: &str = "keeper";

/// A correction that was answered.
pub(super) struct Corrected {
    /// Its commit.
    pub(super) lsn: u64,
    /// The new event.
    pub(super) new: u64,
    /// The event that it replaced.
    pub(super) old: u64,
}

impl Demo {
    pub(super) fn correct(&self, stage: &mut Stage<'_>) -> Result<Corrected> {
        stage.step(
            "correct",
            "An agent learns better. The new belief replaces the old one, which stays as history.",
        )?;
        let first = self.id("backup-2")?;
        let before = self.resolve(first, None)?.head.unwrap_or_default();
        stage.row(format_args!("before: {}", told(&before)))?;
        let done = self.replace(LEARNER, first, CORRECTION, REASON)?;
        let after = self.resolve(first, None)?;
        let head = after.head.clone().unwrap_or_default();
        stage.row(format_args!("after:  {}", told(&head)))?;
        let believed_last = done.old == before.id && done.old == self.id("backup-345")?;
        stage.check("what was believed last is what was replaced", believed_last)?;
        stage.check("two agents do not disagree: there is one newest belief", {
            head.id == done.new && !after.contested
        })?;
        self.chain(stage, &after.chain, &done)?;
        stage.show(format_args!("{QUESTION:?} Asked again:"))?;
        let hits = self.ask()?;
        show(stage, &hits)?;
        let first = hits.first().is_some_and(|hit| id_of(hit) == done.new);
        stage.check(
            "the correction comes first, and none that it replaced",
            first,
        )?;
        Ok(done)
    }

    /// Shows what was believed one after the other, and who changed that when.
    fn chain(&self, stage: &mut Stage<'_>, chain: &[v1::Event], done: &Corrected) -> Result<()> {
        let view = self.view()?;
        stage.show("what was believed, the oldest first, and who changed it when:")?;
        let mut replaced_in_order = true;
        for (at, event) in chain.iter().enumerate() {
            let id = NodeId(event.id);
            stage.row(told(event))?;
            let by = made(&view, id)?;
            stage.row(format_args!("    remembered {}", by.told))?;
            let lost = doubts(&view, id)?;
            for doubt in &lost {
                stage.row(format_args!(
                    "    confidence {:.2} → {:.2} {}",
                    doubt.before, event.confidence, doubt.act.told
                ))?;
            }
            replaced_in_order &= match chain.get(at + 1) {
                // The commit that made the next one took this one's confidence.
                Some(next) => {
                    let next = made(&view, NodeId(next.id))?;
                    event.confidence == 0.0 && lost.len() == 1 && lost[0].act == next
                }
                None => event.confidence > 0.9 && lost.is_empty() && by.agent == LEARNER,
            };
        }
        let ids: Vec<u64> = chain.iter().map(|event| event.id).collect();
        let mut expected = Vec::new();
        for key in ["backup-2", "backup-330", "backup-345"] {
            expected.push(self.id(key)?);
        }
        expected.push(done.new);
        stage.check("four beliefs, of which the last holds", ids == expected)?;
        stage.check("each was replaced by the commit of the next one", {
            replaced_in_order
        })?;
        let reason = reason(&view, done.new)?;
        stage.check(
            format_args!(
                "the reason is kept: {}",
                reason.as_deref().unwrap_or("none")
            ),
            reason.as_deref() == Some(REASON),
        )
    }

    pub(super) fn as_of(&self, stage: &mut Stage<'_>, done: &Corrected) -> Result<()> {
        stage.step(
            "as of",
            "What was believed before that? Every earlier moment can be asked.",
        )?;
        let first = self.id("backup-2")?;
        let before = done.lsn - 1;
        let then = self.resolve(first, Some(before))?.head.unwrap_or_default();
        let now = self.resolve(first, None)?.head.unwrap_or_default();
        for (moment, event) in [(format!("at commit {before}"), &then), ("now".into(), &now)] {
            stage.row(format_args!(
                "{moment:<12} {:.2} {}",
                event.confidence,
                told(event)
            ))?;
        }
        stage.check("then the old belief held, as firmly as it was held", {
            then.id == done.old && then.confidence > 0.8
        })?;
        stage.check("now the new one holds", now.id == done.new)
    }

    /// Replaces the newest belief in a chain.
    pub(super) fn replace(
        &self,
        agent: &str,
        target_id: u64,
        text: &str,
        reason: &str,
    ) -> Result<Corrected> {
        let request = v1::CorrectRequest {
            brain: BRAIN.into(),
            options: Some(by(agent)),
            target_id,
            to_head: true,
            event: Some(v1::NewEvent {
                text: text.into(),
                confidence: Some(0.95),
                ..Default::default()
            }),
            target_confidence: None,
            reason: reason.into(),
        };
        let mut memory = self.remote.client.memory();
        let answer = self.remote.call(memory.correct(request))?;
        Ok(Corrected {
            lsn: answer.commit.unwrap_or_default().lsn,
            new: answer.event_id,
            old: answer.target_id,
        })
    }

    pub(super) fn resolve(&self, event_id: u64, as_of: Option<u64>) -> Result<v1::ResolveResponse> {
        let request = v1::ResolveRequest {
            brain: BRAIN.into(),
            event_id,
            as_of: as_of.map(at_commit),
            ..Default::default()
        };
        let mut queries = self.remote.client.queries();
        Ok(self.remote.call(queries.resolve(request))?)
    }
}

/// Who writes.
pub(super) fn by(agent: &str) -> v1::WriteOptions {
    v1::WriteOptions {
        agent: agent.into(),
        ..Default::default()
    }
}

/// The moment after a commit.
pub(super) fn at_commit(lsn: u64) -> v1::AsOf {
    v1::AsOf {
        moment: Some(v1::as_of::Moment::Lsn(lsn)),
    }
}

/// Why a correction was made, as it says itself.
fn reason(view: &View, id: u64) -> Result<Option<String>> {
    let attributes = view.node(NodeId(id))?.attributes()?.unwrap_or_default();
    let reason = attributes
        .get("amem.reason")
        .and_then(|value| value.as_str());
    Ok(reason.map(str::to_owned))
}
