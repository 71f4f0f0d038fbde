//! `amemctl import`: a brain made of a file of another form; a conversation goes to a daemon
//! (`import_conversation`).

use std::io::{self, BufReader};
use std::path::{Path, PathBuf};

use amem_core::base::settings::Settings;
use amem_core::embed::{self, Embedder};
use amem_core::event::{Graph, MemoryGraph};
use amem_core::fold::new_identity;
use amem_core::foreign::{Foreign, Layout, Report, detect, to_dense};
use amem_core::spec1::Spec1;
use clap::{Args, ValueEnum};
use serde::Serialize;
use uuid::Uuid;

use super::export::is_dash;
use super::import_conversation::Conversation;
use crate::context::Context;
use crate::convert::{self, NamedSession};
use crate::event::EdgeJson;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::jsonl::{self, Lines};
use crate::new_file::{check_free, publish_brain};
use crate::render::{Page, bytes, count, plural, printable};
use crate::source::{self, Named, check_not_cut, in_file, layout_name};
use crate::when::now;

/// Options.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  amemctl import work.jsonl work.amem
  amemctl import --format reference old.amem new.amem
  amemctl import - new.amem < work.jsonl
  amemctl import --format conversation turns.jsonl --brain work

Texts are embedded by the built-in embedder if the file brings no vectors.
Nothing is overwritten; what was merged, left out, renumbered or changed is told.")]
pub(crate) struct Import {
    /// The file to read; `-` is stdin, as JSON lines.
    file: PathBuf,
    /// The new brain; nothing may stand there. Of a conversation, --brain says where it goes.
    new: Option<PathBuf>,
    /// The form of the file.
    #[arg(long, value_enum, default_value_t = Form::Auto)]
    format: Form,
    /// Leave texts without vectors.
    #[arg(long)]
    no_embed: bool,
    #[command(flatten)]
    conversation: Conversation,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Form {
    /// Told by how the file begins.
    Auto,
    /// JSON lines, as `amemctl export` writes them.
    Jsonl,
    /// The layout of the specification document.
    #[value(name = "spec-1")]
    Spec1,
    /// The layout of the reference implementation.
    Reference,
    /// Turns of a conversation, one JSON object a line, into a brain of a daemon.
    Conversation,
}

/// What a file brought.
struct Brought {
    format: &'static str,
    graph: MemoryGraph,
    report: Report,
    sessions: Vec<NamedSession>,
    space: Option<Uuid>,
}

#[derive(Serialize)]
struct Told {
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
    /// Ids in the new brain.
    supersedes_cycles: Vec<u64>,
}

impl Import {
    pub(crate) fn run(&self, cx: &mut Context) -> Result<Exit, Failure> {
        match (self.format, &self.new, &self.conversation.brain) {
            (Form::Conversation, None, Some(brain)) => {
                self.conversation.import(cx, &self.file, brain)
            }
            (Form::Conversation, ..) => Err(Failure::argument(
                "a conversation goes into a brain of a daemon, and into no new file",
                "name the brain with --brain, and no second path",
            )),
            (_, Some(new), None) => self.make(cx, new),
            _ => Err(Failure::argument(
                "a file of this form becomes a new file, and goes to no daemon",
                "name the new file after the one to read; --brain is for --format conversation",
            )),
        }
    }

    fn make(&self, cx: &mut Context, new: &Path) -> Result<Exit, Failure> {
        check_free(new)?;
        let Brought {
            format,
            mut graph,
            report,
            sessions,
            space,
        } = self.read()?;
        let vectors = graph.events.iter().filter(|e| e.vector.is_some()).count() as u64;
        let mut embedded = 0;
        let mut space = space.unwrap_or(Uuid::nil());
        if vectors == 0 {
            (graph.dimension, space) = (embed::DIMENSION, Embedder::builtin().space());
            if !self.no_embed {
                embedded = Embedder::builtin().embed_graph(&mut graph);
            }
        }
        let identity = new_identity(Uuid::new_v4(), Uuid::new_v4(), space, now());
        let made = convert::brain(&graph, &sessions, &identity, &Settings::default())?;
        let len = publish_brain(&made.view, &made.options, new)?;
        let ids = |list: &[amem_core::NodeId]| list.iter().map(|id| id.0).collect();
        let edges = |list: &[_]| list.iter().map(EdgeJson::from).collect();
        let told = Told {
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
            supersedes_cycles: ids(&convert::in_cycles(&graph)),
        };
        let named = Named::made(new, &made.options.identity);
        cx.answer(Some(&named), &told, |page| write(&named, &told, page))?;
        Ok(Exit::Ok)
    }

    fn read(&self) -> Result<Brought, Failure> {
        if is_dash(&self.file) {
            if !matches!(self.format, Form::Auto | Form::Jsonl) {
                return Err(Failure::argument(
                    "stdin is read as JSON lines only",
                    "name a file for the other forms",
                ));
            }
            let lines = jsonl::read(&mut io::stdin().lock(), now(), Failure::output)?;
            return of_lines(lines);
        }
        source::check_file(&self.file)?;
        let form = match self.format {
            Form::Auto if begins_as_json(&self.file)? => Form::Jsonl,
            form => form,
        };
        if form == Form::Jsonl {
            let failed = |e: &io::Error| Failure::io("read", &self.file, e);
            let file = std::fs::File::open(&self.file).map_err(|e| failed(&e))?;
            return of_lines(jsonl::read(&mut BufReader::new(file), now(), failed)?);
        }
        let bytes = source::read(&self.file)?;
        let layout = detect(&bytes)?;
        match (layout, form) {
            (Layout::Native, _) => Err(Failure::refused(
                "native",
                "this is a brain of amemd already",
                "copy it with `cp`, or fold it: `amemctl export --format native -o NEW FILE`",
            )),
            (Layout::Reference, Form::Auto | Form::Reference) => {
                if form == Form::Auto {
                    check_not_cut(&bytes)?;
                }
                of_graph(
                    layout,
                    &Foreign::open(&bytes).map_err(in_file)?.as_written(),
                )
            }
            (Layout::Spec1, Form::Auto | Form::Spec1) => {
                of_graph(layout, &Spec1::open(&bytes).map_err(in_file)?)
            }
            (found, _) => Err(Failure::refused(
                "other_format",
                format!(
                    "this is a {} file, not what --format says",
                    layout_name(found)
                ),
                format!("use --format {} or auto", layout_name(found)),
            )),
        }
    }
}

/// True if the first byte that is no space begins a JSON object.
fn begins_as_json(path: &Path) -> Result<bool, Failure> {
    use std::io::Read;
    let failed = |e: io::Error| Failure::io("read", path, &e);
    let mut front = Vec::new();
    let file = std::fs::File::open(path).map_err(failed)?;
    file.take(4096).read_to_end(&mut front).map_err(failed)?;
    let first = front.iter().find(|b| !b.is_ascii_whitespace());
    Ok(first == Some(&b'{') || front.is_empty())
}

fn of_graph(layout: Layout, graph: &dyn Graph) -> Result<Brought, Failure> {
    let (graph, report) = to_dense(graph).map_err(in_file)?;
    Ok(Brought {
        format: layout_name(layout),
        graph,
        report,
        sessions: Vec::new(),
        space: None,
    })
}

fn of_lines(lines: Lines) -> Result<Brought, Failure> {
    let (graph, report) = to_dense(&lines.graph)?;
    Ok(Brought {
        format: "jsonl",
        graph,
        report,
        sessions: lines.sessions,
        space: lines.space,
    })
}

fn write(named: &Named, told: &Told, page: &mut Page) {
    page.title(printable(&named.path));
    page.field("read as", told.format);
    page.field(
        "holds",
        format!(
            "{}, {}, {}, {}",
            plural(told.events, "event"),
            plural(told.edges, "edge"),
            plural(told.sessions, "session"),
            bytes(told.bytes)
        ),
    );
    page.field(
        "vectors",
        match (told.vectors, told.embedded) {
            (0, 0) => "none".to_owned(),
            (0, n) => format!("{} made by the built-in embedder", count(n)),
            (n, _) => format!("{} as the file has them", count(n)),
        },
    );
    let changes = [
        (
            "renumbered",
            told.renumbered,
            "events; amem.origin_id has the id before",
        ),
        (
            "renumbered",
            told.origins_lost.len() as u64,
            "of them without room for the id before",
        ),
        (
            "merged",
            told.merged_edges.len() as u64,
            "edges that repeat a newer one",
        ),
        (
            "left out",
            told.self_edges.len() as u64,
            "edges from an event to itself",
        ),
        (
            "left out",
            told.dangling_edges.len() as u64,
            "edges from or to an event that is not there",
        ),
        (
            "changed",
            told.clamped_events.len() as u64,
            "events whose confidence or strength was not within 0 and 1",
        ),
        (
            "changed",
            told.clamped_edges.len() as u64,
            "edges whose weight was not within 0 and 1",
        ),
        (
            "changed",
            told.clamped_times.len() as u64,
            "events recorded before 1970: their time is the event time now",
        ),
        (
            "cycles",
            told.supersedes_cycles.len() as u64,
            "events supersede each other in circles",
        ),
    ];
    for (name, n, what) in changes {
        if n > 0 {
            page.field(name, format!("{} {what}", count(n)));
        }
    }
}
