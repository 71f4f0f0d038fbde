//! What is asked of a memory: what answers a question, and what a decision rests on.

use amem_client::v1;
use amem_format::view::View;
use amem_format::{EdgeType, EventType, NodeId};
use amem_query::Why;
use amem_query::walk::Tree;

use super::run::{BRAIN, Demo};
use super::stage::{Result, Stage};
use crate::render::{Branch, tree};

/// What is asked before and after the correction.
pub(super) const QUESTION: &str = "At what time does the nightly backup start?";
/// The decision that is explained, and all that it rests on.
pub(super) const DECISION: &str = "sqlite";
pub(super) const EVIDENCE: [&str; 4] = ["light-load", "peak", "server", "sheet"];

impl Demo {
    pub(super) fn search(&self, stage: &mut Stage<'_>, expected: &str) -> Result<()> {
        stage.step(
            "search",
            "A question finds events by words, by meaning, and by what stands next to them.",
        )?;
        stage.show(format_args!("{QUESTION:?}"))?;
        let hits = self.ask()?;
        show(stage, &hits)?;
        let sums = hits.iter().all(|hit| {
            let own = hit.text_score + hit.vector_score;
            (own + hit.neighbour_score + hit.session_score - hit.score).abs() < 1e-5
        });
        stage.check(
            "each score is the sum of its parts",
            sums && hits.len() == 3,
        )?;
        let wanted = self.id(expected)?;
        let first = hits.first().is_some_and(|hit| id_of(hit) == wanted);
        stage.check("what is believed now comes first", first)
    }

    /// The three events that answer the question best.
    pub(super) fn ask(&self) -> Result<Vec<v1::SearchHit>> {
        let request = v1::SearchRequest {
            brain: BRAIN.into(),
            text: QUESTION.into(),
            limit: 3,
            ..Default::default()
        };
        let mut queries = self.remote.client.queries();
        Ok(self.remote.call(queries.search(request))?.hits)
    }

    pub(super) fn why(&self, stage: &mut Stage<'_>) -> Result<()> {
        stage.step(
            "why",
            "What does a decision rest on? Its causes and its evidence, and what those rest on.",
        )?;
        let view = self.view()?;
        let found = self.rests_on(&view)?;
        for line in tree(&drawn(&view, &found)?) {
            stage.row(line)?;
        }
        let all = self.has_evidence(&found)?;
        stage.check("its cause and both levels of its evidence are there", all)?;
        let request = v1::WhyRequest {
            brain: BRAIN.into(),
            event_id: self.id(DECISION)?,
            ..Default::default()
        };
        let mut queries = self.remote.client.queries();
        let steps = self.remote.call(queries.why(request))?.steps;
        let called = steps.iter().map(|s| s.event.as_ref().map(|event| event.id));
        stage.check(
            "read from the file by this process, it is what the daemon answers",
            called.eq(found.steps.iter().map(|step| Some(step.id.0))),
        )
    }

    /// What the decision rests on, in a view.
    pub(super) fn rests_on(&self, view: &View) -> Result<Tree> {
        let why = Why {
            event: NodeId(self.id(DECISION)?),
            ..Why::default()
        };
        Ok(why.run(view)?)
    }

    /// Is all of the decision's evidence there?
    pub(super) fn has_evidence(&self, found: &Tree) -> Result<bool> {
        for key in EVIDENCE {
            let id = NodeId(self.id(key)?);
            if !found.steps.iter().any(|step| step.id == id) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// The steps as a tree. Parents stand before their children, so it is put together from the end.
fn drawn(view: &View, found: &Tree) -> Result<Branch> {
    let mut made = Vec::with_capacity(found.steps.len());
    for step in &found.steps {
        let via = step.via.map_or("", |via| match via.edge_type {
            EdgeType::SUPPORTS => "supported by ",
            _ => "caused by ",
        });
        let node = view.node(step.id)?;
        made.push(Branch {
            text: format!("{via}[{}] {}: {}", step.id, node.event_type(), node.text()?),
            children: Vec::new(),
        });
    }
    for at in (1..found.steps.len()).rev() {
        let (Some(via), Some(branch)) = (found.steps[at].via, made.pop()) else {
            continue;
        };
        if let Some(parent) = made.get_mut(via.parent as usize) {
            parent.children.insert(0, branch);
        }
    }
    Ok(made.into_iter().next().unwrap_or_default())
}

/// Hits, with the parts of their scores.
pub(super) fn show(stage: &mut Stage<'_>, hits: &[v1::SearchHit]) -> Result<()> {
    stage.row("score = words + meaning + near + session")?;
    for hit in hits {
        stage.row(format_args!(
            "{:>5.2} = {:>5.2} + {:>7.2} + {:>4.2} + {:>7.2}  {}",
            hit.score,
            hit.text_score,
            hit.vector_score,
            hit.neighbour_score,
            hit.session_score,
            hit.event.as_ref().map(told).unwrap_or_default()
        ))?;
    }
    Ok(())
}

/// The event of a hit.
pub(super) fn id_of(hit: &v1::SearchHit) -> u64 {
    hit.event.as_ref().map_or(u64::MAX, |event| event.id)
}

/// An event in one line.
pub(super) fn told(event: &v1::Event) -> String {
    let kind = EventType((event.r#type - 1).clamp(0, 255) as u8);
    format!("[{}] {kind}: {}", event.id, event.text)
}
