//! What is believed: found, explained, corrected, and known as it was before.

use amem_client::v1;
use amem_core::query::Why;
use amem_core::{EventType, NodeId};

use super::follow::{Follower, now};
use super::run::{BRAIN, Demo};
use super::stage::{Result, Stage};

const QUESTION: &str = "When does the nightly backup start?";
/// Leaves out what was replaced.
const BELIEVED: &str = r#"{"confidence": {"gte": 0.5}}"#;
const REASON: &str = "the backup of 4 May began while tides were still being imported";
/// What an agent learns while the demo runs.
pub(super) const CORRECTION: &str = "The nightly backup of the bookings starts at 04:15 UTC, because the tide import takes an hour since May.";

impl Demo {
    pub(super) fn search(&self, stage: &mut Stage<'_>, expected: &str) -> Result<()> {
        stage.step(
            "search",
            &format!("{QUESTION} By words, meaning and neighbours at once."),
        )?;
        let hits = self.ask("")?;
        show(stage, &hits)?;
        let sums = hits.iter().all(|hit| {
            (hit.text_score + hit.vector_score + hit.neighbour_score - hit.score).abs() < 1e-5
        });
        stage.check("the parts of each score sum to it", sums)?;
        let wanted = self.id(expected)?;
        let found = hits.iter().any(|hit| id_of(hit) == wanted);
        stage.check("what is believed now is among the first three", found)
    }

    fn ask(&self, filter: &str) -> Result<Vec<v1::SearchHit>> {
        let request = v1::SearchRequest {
            brain: BRAIN.into(),
            text: QUESTION.into(),
            limit: 3,
            selection: Some(v1::Selection {
                filter_json: filter.into(),
                ..Default::default()
            }),
            ..Default::default()
        };
        let mut queries = self.remote.client.queries();
        Ok(self.remote.call(queries.search(request))?.hits)
    }

    pub(super) fn why(&self, stage: &mut Stage<'_>) -> Result<()> {
        stage.step(
            "why",
            "What does a decision rest on? Read from the file, by this process.",
        )?;
        let (view, decision) = (self.view()?, self.id("sqlite")?);
        let why = Why {
            event: NodeId(decision),
            ..Why::default()
        };
        let tree = why.run(&view)?;
        // Depth first, so that each event stands below what it explains.
        let mut open = vec![0];
        while let Some(at) = open.pop() {
            let step = &tree.steps[at];
            let via = step
                .via
                .map_or(String::new(), |via| format!("{} ", via.edge_type));
            let node = view.node(step.id)?;
            stage.show(format_args!(
                "{}{via}{}: {}",
                "   ".repeat(step.depth as usize),
                node.event_type(),
                node.text()?
            ))?;
            let children = (0..tree.steps.len()).rev();
            open.extend(children.filter(|&c| tree.steps[c].via.is_some_and(|v| v.parent == at)));
        }
        let mut evidence = Vec::new();
        for key in ["light-load", "peak", "server", "sheet"] {
            evidence.push(NodeId(self.id(key)?));
        }
        let all = evidence
            .iter()
            .all(|id| tree.steps.iter().any(|step| step.id == *id));
        stage.check("its cause and all three levels of evidence are there", all)
    }

    pub(super) fn correct(
        &self,
        stage: &mut Stage<'_>,
        follower: &mut Follower,
        old: u64,
    ) -> Result<u64> {
        stage.step(
            "correct",
            "An agent learns better. The old belief stays, as history.",
        )?;
        let first = self.id("backup-2")?;
        let before = self.resolve(first, None)?;
        stage.show(format_args!(
            "before: {}",
            told(&before.head.unwrap_or_default())
        ))?;
        let request = v1::CorrectRequest {
            brain: BRAIN.into(),
            options: Some(v1::WriteOptions {
                agent: "keeper".into(),
                ..Default::default()
            }),
            target_id: first,
            to_head: true,
            event: Some(v1::NewEvent {
                text: CORRECTION.into(),
                confidence: Some(0.95),
                ..Default::default()
            }),
            target_confidence: None,
            reason: REASON.into(),
        };
        let answer = self
            .remote
            .call(self.remote.client.memory().correct(request))?;
        let answered = now();
        let lsn = answer.commit.unwrap_or_default().lsn;
        let looked = follower.look_after(lsn)?;
        let after = self.resolve(first, None)?;
        let head = after.head.clone().unwrap_or_default();
        stage.show(format_args!("after:  {}", told(&head)))?;
        stage.show("the chain, the oldest first:")?;
        for event in &after.chain {
            stage.show(format_args!("  {:.2} {}", event.confidence, told(event)))?;
        }
        stage.check(
            "the belief was replaced at the head of its chain",
            answer.target_id == old,
        )?;
        stage.check("the chain has three links, and ends at the correction", {
            after.chain.len() == 3 && head.id == answer.event_id && !after.contested
        })?;
        let confident = |id| after.chain.iter().any(|e| e.id == id && e.confidence > 0.9);
        stage.check("only the correction is believed", {
            confident(answer.event_id) && after.chain[..2].iter().all(|e| e.confidence == 0.0)
        })?;
        stage.show(format_args!("{QUESTION} Among what is believed now:"))?;
        let hits = self.ask(BELIEVED)?;
        show(stage, &hits)?;
        stage.check("the correction is among the first three", {
            hits.iter().any(|hit| id_of(hit) == answer.event_id)
        })?;
        stage.show(format_args!("the other process: {:?}", looked.newest))?;
        stage.check(
            format_args!("it saw the correction {}", delay(looked.at, answered)),
            looked.newest == CORRECTION,
        )?;
        stage.check("a view begun after the answer has it", looked.asked >= lsn)?;
        Ok(answer.event_id)
    }

    pub(super) fn as_of(
        &self,
        stage: &mut Stage<'_>,
        before: u64,
        old: u64,
        new: u64,
    ) -> Result<()> {
        stage.step(
            "as of",
            "What was believed before that? Every earlier moment can be asked.",
        )?;
        let first = self.id("backup-2")?;
        let then = self.resolve(first, Some(before))?.head.unwrap_or_default();
        let now = self.resolve(first, None)?.head.unwrap_or_default();
        stage.show(format_args!(
            "at commit {before}: {:.2} {}",
            then.confidence,
            told(&then)
        ))?;
        stage.show(format_args!(
            "now:          {:.2} {}",
            now.confidence,
            told(&now)
        ))?;
        stage.check("then the old belief held, with its confidence", {
            then.id == old && then.confidence > 0.8
        })?;
        stage.check("now the new one holds", now.id == new)
    }

    pub(super) fn resolve(&self, event_id: u64, as_of: Option<u64>) -> Result<v1::ResolveResponse> {
        let request = v1::ResolveRequest {
            brain: BRAIN.into(),
            event_id,
            as_of: as_of.map(|lsn| v1::AsOf {
                moment: Some(v1::as_of::Moment::Lsn(lsn)),
            }),
            ..Default::default()
        };
        Ok(self
            .remote
            .call(self.remote.client.queries().resolve(request))?)
    }
}

fn show(stage: &mut Stage<'_>, hits: &[v1::SearchHit]) -> Result<()> {
    for hit in hits {
        let event = hit.event.clone().unwrap_or_default();
        stage.show(format_args!(
            "{:.2} = {:.2} words + {:.2} meaning + {:.2} neighbours  {}",
            hit.score,
            hit.text_score,
            hit.vector_score,
            hit.neighbour_score,
            told(&event)
        ))?;
    }
    Ok(())
}

fn id_of(hit: &v1::SearchHit) -> u64 {
    hit.event.as_ref().map_or(u64::MAX, |event| event.id)
}

/// An event in one line.
fn told(event: &v1::Event) -> String {
    let kind = EventType((event.r#type - 1).clamp(0, 255) as u8);
    format!("[{}] {kind}: {}", event.id, event.text)
}

/// When something was seen, told from when its answer came.
fn delay(seen: u64, answered: u64) -> String {
    if seen <= answered {
        format!("{} µs before the answer came here", answered - seen)
    } else {
        format!("{} µs after the answer came here", seen - answered)
    }
}
