//! Builds a new brain from a file of another layout, or from JSON lines.

use std::path::Path;

use amem_format::base::settings::Settings;
use amem_format::base_builder::new_identity;
use amem_format::event::MemoryGraph;
use amem_interop::Layout;
use amem_interop::foreign::{AdoptionReport, Foreign, to_dense};
use amem_interop::spec1::Spec1;
use amem_query::embed;
use amem_query::embed::Embedder;
use serde::Serialize;
use uuid::Uuid;

use crate::brain::convert::{self, NamedSession};
use crate::brain::new_file::publish_brain;
use crate::brain::source::{self, in_file};
use crate::entries::ImportInput;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::json::brain::{BrainName, layout_name};
use crate::json::event::EdgeJson;
use crate::jsonl;
use crate::output::context::CommandContext;
use crate::render::{TextPage, bytes, count, plural, printable};
use crate::when::now;

pub(super) struct ImportedGraph {
    format: &'static str,
    graph: MemoryGraph,
    report: AdoptionReport,
    sessions: Vec<NamedSession>,
    space: Option<Uuid>,
}

#[derive(Serialize)]
pub(super) struct ImportOutput {
    format: &'static str,
    bytes: u64,
    events: u64,
    edges: u64,
    sessions: u64,
    embedded: u64,
    vectors: u64,
    renumbered: u64,
    origins_lost: Vec<u64>,
    merged_edges: Vec<EdgeJson>,
    self_edges: Vec<EdgeJson>,
    dangling_edges: Vec<EdgeJson>,
    clamped_events: Vec<u64>,
    clamped_edges: Vec<EdgeJson>,
    clamped_times: Vec<u64>,
    clamped_uses: Vec<u64>,
    clamped_edge_times: Vec<EdgeJson>,
    /// Ids in the new brain.
    supersedes_cycles: Vec<u64>,
}

impl ImportedGraph {
    pub(super) fn of_lines(input: &ImportInput) -> Result<Self, Failure> {
        let lines = jsonl::read(&mut input.reader()?, now(), |e| input.failed(e))?;
        let (graph, report) = to_dense(&lines.graph)?;
        Ok(Self {
            format: "jsonl",
            graph,
            report,
            sessions: lines.sessions,
            space: lines.space,
        })
    }

    pub(super) fn of_file(path: &Path, layout: Layout) -> Result<Self, Failure> {
        let bytes = source::read(path)?;
        let (graph, report) = match layout {
            Layout::Spec1 => to_dense(&Spec1::open(&bytes).map_err(in_file)?),
            _ => to_dense(&Foreign::open(&bytes).map_err(in_file)?.as_written()),
        }
        .map_err(in_file)?;
        Ok(Self {
            format: layout_name(layout),
            graph,
            report,
            sessions: Vec::new(),
            space: None,
        })
    }

    pub(super) fn make(
        self,
        new: &Path,
        no_embed: bool,
    ) -> Result<(BrainName, ImportOutput), Failure> {
        let Self {
            format,
            mut graph,
            report,
            sessions,
            space,
        } = self;
        let vectors = graph.events.iter().filter(|e| e.vector.is_some()).count() as u64;
        let mut embedded = 0;
        let mut space = space.unwrap_or(Uuid::nil());
        if vectors == 0 {
            (graph.dimension, space) = (embed::DIMENSION, Embedder::builtin().space());
            if !no_embed {
                embedded = Embedder::builtin().embed_graph(&mut graph);
            }
        }
        let identity = new_identity(Uuid::new_v4(), Uuid::new_v4(), space, now());
        let made = convert::brain(&graph, &sessions, &identity, &Settings::default())?;
        let len = publish_brain(&made.view, &made.options, new)?;
        let ids = |list: &[amem_format::NodeId]| list.iter().map(|id| id.0).collect();
        let edges = |list: &[_]| list.iter().map(EdgeJson::from).collect();
        let output = ImportOutput {
            format,
            bytes: len,
            events: made.view.nodes(),
            edges: made.view.edges(),
            sessions: made.view.sessions()?.len() as u64,
            embedded,
            vectors,
            renumbered: report.renumbered,
            origins_lost: ids(&report.origins_lost),
            merged_edges: edges(&report.merged),
            self_edges: edges(&report.self_edges),
            dangling_edges: edges(&report.dangling),
            clamped_events: ids(&report.clamped_events),
            clamped_edges: edges(&report.clamped_edges),
            clamped_times: ids(&report.clamped_times),
            clamped_uses: ids(&report.clamped_uses),
            clamped_edge_times: edges(&report.clamped_edge_times),
            supersedes_cycles: ids(&convert::in_cycles(&graph)),
        };
        let named = BrainName::made(new, &made.options.identity);
        Ok((named, output))
    }
}

pub(super) fn tell(
    cx: &mut CommandContext,
    named: &BrainName,
    output: &ImportOutput,
) -> Result<Exit, Failure> {
    cx.answer(Some(named), output, |page| write(named, output, page))?;
    Ok(Exit::Ok)
}

fn write(named: &BrainName, output: &ImportOutput, page: &mut TextPage) {
    page.title(printable(&named.path));
    page.field("read as", output.format);
    page.field(
        "holds",
        format!(
            "{}, {}, {}, {}",
            plural(output.events, "event"),
            plural(output.edges, "edge"),
            plural(output.sessions, "session"),
            bytes(output.bytes)
        ),
    );
    page.field(
        "vectors",
        match (output.vectors, output.embedded) {
            (0, 0) => "none".to_owned(),
            (0, n) => format!("{} made by the built-in embedder", count(n)),
            (n, _) => format!("{} as the file has them", count(n)),
        },
    );
    let changes = [
        (
            "renumbered",
            output.renumbered,
            "events; amem.origin_id has the id before",
        ),
        (
            "renumbered",
            output.origins_lost.len() as u64,
            "of them without room for the id before",
        ),
        (
            "merged",
            output.merged_edges.len() as u64,
            "edges that repeat a newer one",
        ),
        (
            "left out",
            output.self_edges.len() as u64,
            "edges from an event to itself",
        ),
        (
            "left out",
            output.dangling_edges.len() as u64,
            "edges from or to an event that is not there",
        ),
        (
            "changed",
            output.clamped_events.len() as u64,
            "events whose confidence or strength was not within 0 and 1, or whose decay rate was below 0",
        ),
        (
            "changed",
            output.clamped_edges.len() as u64,
            "edges whose weight was not within 0 and 1",
        ),
        (
            "changed",
            output.clamped_times.len() as u64,
            "events recorded before 1970: that is their event time now",
        ),
        (
            "changed",
            output.clamped_uses.len() as u64,
            "events last used before 1970, which is 1970 now",
        ),
        (
            "changed",
            output.clamped_edge_times.len() as u64,
            "edges made before 1970, which are of 1970 now",
        ),
        (
            "cycles",
            output.supersedes_cycles.len() as u64,
            "events supersede each other in cycles",
        ),
    ];
    for (name, n, what) in changes {
        if n > 0 {
            page.field(name, format!("{} {what}", count(n)));
        }
    }
}
