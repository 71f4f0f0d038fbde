//! `amemctl repair`: saves what is intact of a damaged file into a new one.

use std::path::PathBuf;

use amem_doctor::repair;
use amem_doctor::repair::RepairReport;
use amem_doctor::verify::Finding;
use amem_format::base::settings::Settings;
use amem_format::base_builder::{Options, new_identity};
use amem_format::event::{Edge, Graph};
use amem_format::view::View;
use amem_format::{Error, NodeId};
use amem_interop::foreign::{Foreign, to_dense};
use amem_interop::spec1::Spec1;
use amem_interop::{Layout, detect, foreign};
use clap::Args;
use serde_json::json;
use uuid::Uuid;

use super::verify::{findings_json, tail_json, write_findings, write_tail};
use crate::brain::convert;
use crate::brain::new_file::{check_free, publish_brain};
use crate::brain::source::{self, in_file};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::json::brain::BrainName;
use crate::output::context::CommandContext;
use crate::render::{TextPage, bytes, plural, printable};
use crate::when::now;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  amemctl repair damaged.amem saved.amem
  amemctl repair --times ahead.amem saved.amem

The damaged file is not changed. Ids stay; a lost event becomes an empty one. The exit code is 0 if nothing was
lost, else 1.")]
pub(crate) struct RepairArgs {
    /// Move recorded times that lie ahead, which a wrong clock has left, to just before now.
    #[arg(long)]
    times: bool,
    /// The damaged file.
    file: PathBuf,
    /// The new file, which must not exist.
    new: PathBuf,
}

impl RepairArgs {
    pub(crate) fn run(&self, cx: &mut CommandContext) -> Result<Exit, Failure> {
        check_free(&self.new)?;
        let damaged = source::read(&self.file)?;
        let (view, options, report) = saved(&damaged, self.times)?;
        let len = publish_brain(&view, &options, &self.new)?;
        let data = json!({
            "fileBytes": len.to_string(),
            "events": view.nodes().to_string(),
            "edges": view.edges().to_string(),
            "lostNothing": report.lost_nothing(),
            "healed": findings_json(&report.healed)?,
            "lost": findings_json(&report.lost)?,
            "doubtful": findings_json(&report.doubtful)?,
            "tail": tail_json(report.tail.as_ref()),
        });
        let named = BrainName::made(&self.new, &options.identity);
        let saved = format!(
            "{} and {}, up to LSN {}, {}",
            plural(view.nodes(), "event"),
            plural(view.edges(), "edge"),
            named.lsn,
            bytes(len)
        );
        cx.answer(Some(&named), &data, |page| {
            write(&named, &saved, &report, page);
        })?;
        Ok(if report.lost_nothing() {
            Exit::Ok
        } else {
            Exit::Findings
        })
    }
}

fn saved(damaged: &[u8], times: bool) -> Result<(View, Options, RepairReport), Failure> {
    let repaired = repair::repair(damaged, Uuid::new_v4(), now());
    let retimed = match repaired {
        Ok(repaired) if times => repair::retime(repaired, now()),
        repaired => repaired,
    };
    let error = match retimed {
        Ok(repaired) => return Ok((repaired.view, repaired.options, repaired.report)),
        Err(error @ (Error::Newer { .. } | Error::NewerWrites { .. })) => return Err(error.into()),
        Err(error) => error,
    };
    let readable = match detect(damaged) {
        Ok(Layout::Reference) => readable(&Foreign::open(damaged).map_err(in_file)?.as_written())?,
        Ok(Layout::Spec1) => readable(&Spec1::open(damaged).map_err(in_file)?)?,
        Ok(Layout::Native) => return Err(beyond(Failure::from(error))),
        Err(other) => return Err(beyond(Failure::from(other))),
    };
    Ok(readable)
}

/// Only an older copy helps.
fn beyond(failure: Failure) -> Failure {
    Failure {
        remedy: "nothing can be recovered from this file: use an older copy".to_owned(),
        ..failure
    }
}

/// Builds a brain from the readable events of a foreign file.
fn readable(graph: &dyn Graph) -> Result<(View, Options, RepairReport), Failure> {
    let (graph, mut lost) = repair::readable(graph);
    let (dense, changed) = to_dense(&graph)?;
    lost.extend(converted(&changed));
    let identity = new_identity(Uuid::new_v4(), Uuid::new_v4(), Uuid::nil(), now());
    let made = convert::brain(&dense, &[], &identity, &Settings::default())?;
    let report = RepairReport {
        lost,
        ..RepairReport::default()
    };
    Ok((made.view, made.options, report))
}

/// What the conversion left out or changed. Ids are not lost: attributes hold them.
fn converted(changed: &foreign::AdoptionReport) -> Vec<Finding> {
    let mut out = Vec::new();
    let mut tell = |part: &str, why: String| {
        out.push(Finding {
            part: part.to_owned(),
            offset: None,
            why,
        });
    };
    let edges: [(&[Edge], &str); 5] = [
        (&changed.merged, "repeats a newer one, and is left out"),
        (&changed.self_edges, "ends where it begins, and is left out"),
        (&changed.dangling, "ends at no event, and is left out"),
        (
            &changed.clamped_edges,
            "had a weight outside of 0 to 1, which is the nearer of both now",
        ),
        (
            &changed.clamped_edge_times,
            "was made before 1970, and is of 1970 now",
        ),
    ];
    for (edges, why) in edges {
        for e in edges {
            let why = format!(
                "{} from event {} to {}: it {why}",
                e.edge_type, e.source, e.target
            );
            tell("edge table", why);
        }
    }
    let events: [(&[NodeId], &str); 4] = [
        (
            &changed.origins_lost,
            "its attributes have no room for the id in the file",
        ),
        (
            &changed.clamped_events,
            "its confidence or strength was outside of 0 to 1, or its decay rate below 0, and is the nearest bound now",
        ),
        (
            &changed.clamped_times,
            "it was recorded before 1970, and is recorded in 1970 now",
        ),
        (
            &changed.clamped_uses,
            "it was last used before 1970, which is 1970 now",
        ),
    ];
    for (events, why) in events {
        for id in events {
            tell("node record", format!("event {id}: {why}"));
        }
    }
    out
}

fn write(named: &BrainName, saved: &str, report: &RepairReport, page: &mut TextPage) {
    page.title(printable(&named.path));
    page.field("saved", saved);
    if let Some(instance) = named.instance {
        page.field(
            "instance",
            format!("{instance} (not that of the damaged file)"),
        );
    }
    write_findings("healed", &report.healed, 0, page);
    write_findings("lost", &report.lost, 0, page);
    write_findings("doubtful", &report.doubtful, 0, page);
    write_tail(report.tail.as_ref(), page);
    let result = if report.lost_nothing() {
        "nothing was lost"
    } else {
        "what is listed was lost or may have changed"
    };
    page.field("result", result);
}

#[cfg(test)]
mod tests {
    use super::*;
    use amem_format::event::{Event, MemoryGraph};
    use amem_format::{EdgeType, EventType, Flags, Micros, SessionId};

    fn event(id: u64, confidence: f32, created_at: i64) -> Event {
        Event {
            id: NodeId(id),
            event_type: EventType::FACT,
            flags: Flags::default(),
            created_at: Micros(created_at),
            event_time: None,
            session: SessionId(0),
            confidence,
            access_count: 0,
            last_accessed: Micros(created_at.max(0)),
            decay_score: 1.0,
            lambda: 0.0,
            text: format!("event {id}"),
            vector: None,
            attributes: None,
        }
    }

    fn edge(source: u64, target: u64, weight: f32, created_at: i64) -> Edge {
        Edge {
            source: NodeId(source),
            target: NodeId(target),
            edge_type: EdgeType::SUPPORTS,
            weight,
            created_at: Micros(created_at),
        }
    }

    #[test]
    fn what_a_conversion_changes_is_lost_and_what_it_keeps_is_not() {
        let mut graph = MemoryGraph {
            dimension: 0,
            events: vec![event(0, 1.0, 5), event(1, 1.0, 7)],
            edges: vec![edge(0, 1, 0.5, 7)],
        };
        let (_, _, report) = readable(&graph).unwrap();
        assert!(report.lost_nothing(), "{report:?}");
        graph.events[1].confidence = -0.5;
        graph.events.push(event(2, 1.0, -9));
        graph.edges = vec![
            edge(0, 0, 0.5, 7),
            edge(0, 1, 0.5, 7),
            edge(0, 1, 0.5, 6),
            edge(0, 2, 7.0, 7),
            edge(1, 2, 0.5, -7),
            edge(8, 1, 0.5, 7),
        ];
        let (view, _, report) = readable(&graph).unwrap();
        assert_eq!((view.nodes(), view.edges()), (3, 3));
        let output: Vec<&str> = report.lost.iter().map(|lost| lost.why.as_str()).collect();
        for words in [
            "from event 0 to 1: it repeats",
            "from event 0 to 0: it ends where it begins",
            "from event 0 to 2: it had a weight",
            "from event 1 to 2: it was made before 1970",
            "from event 8, which does not exist",
            "event 1: its confidence",
            "event 2: it was recorded before 1970",
        ] {
            let found = output.iter().filter(|why| why.contains(words)).count();
            assert_eq!(found, 1, "{words} in {output:?}");
        }
        assert_eq!(output.len(), 7, "{output:?}");
    }
}
