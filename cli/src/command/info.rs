//! `amemctl info`: what a brain is and holds.

use std::path::Path;

use amem_client::v1;
use amem_format::base::section;
use amem_format::journal::head::PAGE;
use amem_format::types::EventType;
use amem_format::view::View;
use amem_interop::Layout;
use amem_query::embed::Embedder;
use clap::Args;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::brain::opened::{BrainHandle, DaemonBrain};
use crate::brain::source::BrainSource;
use crate::brain::target::{self, BrainTarget};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::json::brain::BrainName;
use crate::json::event::{Time, number};
use crate::output::context::CommandContext;
use crate::render::{Align, TextPage, TextTable, bytes, count, float, plural, printable};
use crate::when::long as time;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  amemctl info work
  amemctl info work.amem --sections
  amemctl info --json old.amem")]
pub(crate) struct InfoArgs {
    #[arg(help = target::HELP)]
    brain: BrainTarget,
    /// Every section of the file with its size.
    #[arg(long)]
    sections: bool,
}

struct InfoOutput {
    bytes: u64,
    events: u64,
    types: Vec<TypeCount>,
    edges: u64,
    sessions: u64,
    dimension: u32,
    space: Option<Uuid>,
    built_in_space: bool,
    first_recorded: Option<Time>,
    last_recorded: Option<Time>,
    last_commit: Option<Time>,
    origin: Option<Time>,
    decay_run: Option<Time>,
    fading_below: f32,
    history: u64,
    journal: Option<JournalSize>,
    sections: Option<Vec<SectionSize>>,
}

struct TypeCount {
    event_type: EventType,
    events: u64,
}

struct JournalSize {
    commits: u64,
    bytes: u64,
    room: u64,
    torn: Option<String>,
}

struct SectionSize {
    tag: u8,
    name: &'static str,
    offset: u64,
    bytes: u64,
}

impl InfoOutput {
    fn json(&self) -> Value {
        let types = self
            .types
            .iter()
            .map(|count| json!({"type": count.event_type, "events": count.events}));
        let journal = self.journal.as_ref().map(|journal| {
            json!({
                "commits": journal.commits,
                "bytes": journal.bytes,
                "room": journal.room,
                "torn": journal.torn,
            })
        });
        let mut data = json!({
            "bytes": self.bytes,
            "events": self.events,
            "types": types.collect::<Vec<_>>(),
            "edges": self.edges,
            "sessions": self.sessions,
            "dimension": self.dimension,
            "space": self.space,
            "builtInSpace": self.built_in_space,
            "firstRecorded": self.first_recorded,
            "lastRecorded": self.last_recorded,
            "lastCommit": self.last_commit,
            "origin": self.origin,
            "decayRun": self.decay_run,
            "fadingBelow": number(self.fading_below),
            "history": self.history,
            "journal": journal,
        });
        if let Some(sections) = &self.sections {
            let sections = sections.iter().map(|section| {
                json!({
                    "tag": section.tag,
                    "name": section.name,
                    "offset": section.offset,
                    "bytes": section.bytes,
                })
            });
            data["sections"] = sections.collect();
        }
        data
    }
}

impl InfoArgs {
    pub(crate) fn run(&self, cx: &mut CommandContext) -> Result<Exit, Failure> {
        let source = match BrainHandle::open(cx, &self.brain)? {
            BrainHandle::File(source) => *source,
            BrainHandle::Served(served) => {
                if served.brain.is_direct() {
                    BrainSource::of_daemon(served.named())?
                } else {
                    return self.of_daemon(cx, &served);
                }
            }
        };
        let path = Path::new(&source.named.path);
        let len = std::fs::metadata(path)
            .map_err(|e| Failure::io("look at", path, &e))?
            .len();
        let output = self.output(&source, len)?;
        cx.answer(Some(&source.named), &output.json(), |page| {
            write(&source, &output, page);
        })?;
        Ok(Exit::Ok)
    }

    fn of_daemon(&self, cx: &mut CommandContext, served: &DaemonBrain) -> Result<Exit, Failure> {
        if self.sections {
            return Err(served.not_direct("the list of sections"));
        }
        let request = v1::GetBrainRequest {
            brain: served.brain.name().to_owned(),
        };
        let remote = cx.daemon()?;
        let answer = remote.call(remote.client.brains().get_brain(request))?;
        let mut named = served.named().clone();
        if let Some(moment) = &answer.moment {
            named.saw(moment);
        }
        cx.message(Some(&named), &answer, |page| {
            write_far(&named, &answer, page);
        })?;
        Ok(Exit::Ok)
    }

    fn output(&self, source: &BrainSource, len: u64) -> Result<InfoOutput, Failure> {
        let view = &source.view;
        let is_native = source.layout == Layout::Native;
        let identity = view.identity();
        let mut types = Vec::new();
        for event_type in (0..=u8::MAX).map(EventType) {
            let events = view.of_type(event_type)?.len() as u64;
            if events > 0 {
                types.push(TypeCount { event_type, events });
            }
        }
        let ends = match view.nodes().checked_sub(1) {
            None => None,
            Some(last) => {
                let at = |id| {
                    view.node(amem_format::NodeId(id))
                        .map(|n| Time(n.created_at()))
                };
                Some((at(0)?, at(last)?))
            }
        };
        Ok(InfoOutput {
            bytes: len,
            events: view.nodes(),
            types,
            edges: view.edges(),
            sessions: view.sessions()?.len() as u64,
            dimension: view.vector_dimension(),
            space: (is_native && !identity.space.is_nil()).then_some(identity.space),
            built_in_space: identity.space == Embedder::builtin().space(),
            first_recorded: ends.map(|ends| ends.0),
            last_recorded: ends.map(|ends| ends.1),
            last_commit: is_native.then_some(Time(view.time())),
            origin: is_native.then_some(Time(identity.origin_time)),
            decay_run: view.decay_run().map(|run| Time(run.at)),
            fading_below: view.settings()?.fading_below,
            history: view.brain().base().history()?.len()
                + u64::from(view.brain().delta().events.states.len()),
            journal: is_native.then(|| journal(view, source, len)).flatten(),
            sections: (self.sections && is_native).then(|| sections(view)),
        })
    }
}

fn journal(view: &View, source: &BrainSource, len: u64) -> Option<JournalSize> {
    let brain = view.brain();
    let start = brain.start()?.at;
    let last = view
        .delta_commits()
        .checked_sub(1)
        .and_then(|at| brain.delta().log.get(at));
    let end = last.map_or(start, |entry| entry.end);
    Some(JournalSize {
        commits: view.delta_commits().into(),
        bytes: end - start,
        room: len.saturating_sub(end),
        torn: source.torn.clone(),
    })
}

fn sections(view: &View) -> Vec<SectionSize> {
    let base = view.brain().base();
    let places = base.table().places.iter().map(|place| SectionSize {
        tag: place.tag,
        name: section::name(place.tag),
        offset: place.offset,
        bytes: place.len,
    });
    let journal = base.journal().map(|at| SectionSize {
        tag: section::tag::JOURNAL,
        name: section::name(section::tag::JOURNAL),
        offset: at,
        bytes: view.brain().mapped().saturating_sub(at).max(2 * PAGE),
    });
    places.chain(journal).collect()
}

fn write(source: &BrainSource, output: &InfoOutput, page: &mut TextPage) {
    let named = &source.named;
    page.title(printable(named.name.as_deref().unwrap_or(&named.path)));
    if named.name.is_some() {
        page.field("file", printable(&named.path));
    }
    let state = match (source.layout, named.live) {
        (Layout::Native, true) => "native, live: a daemon owns it",
        (Layout::Native, false) => "native",
        (Layout::Reference, _) => "reference",
        (Layout::Spec1, _) => "spec-1",
    };
    page.field("layout", format!("{state}, {}", bytes(output.bytes)));
    if let Some(instance) = named.instance {
        page.field("instance", instance);
    }
    if let Some(lineage) = named.lineage {
        page.field("lineage", lineage);
    }
    if let (Some(generation), Some(last)) = (named.generation, output.last_commit) {
        let last = time(last.0);
        page.field(
            "state",
            format!("generation {generation}, LSN {}, {last}", named.lsn),
        );
    }
    if let Some(origin) = output.origin {
        page.field("created", time(origin.0));
    }
    page.field("events", events(output));
    page.field("edges", count(output.edges));
    page.field("sessions", count(output.sessions));
    if let (Some(first), Some(last)) = (output.first_recorded, output.last_recorded) {
        page.field("recorded", format!("{} to {}", time(first.0), time(last.0)));
    }
    page.field("vectors", vectors(output));
    if let Some(run) = output.decay_run {
        page.field("decay run", time(run.0));
    }
    page.field(
        "fading",
        format!("below strength {}", float(output.fading_below)),
    );
    if source.layout == Layout::Native {
        page.field("history", plural(output.history, "change"));
    }
    if let Some(journal) = &output.journal {
        let (commits, used) = (plural(journal.commits, "commit"), bytes(journal.bytes));
        page.field(
            "journal",
            format!("{commits}, {used}, room for {}", bytes(journal.room)),
        );
    }
    source.write_notes(page);
    if let Some(sections) = &output.sections {
        let mut table = TextTable::new(&[
            ("tag", Align::Right),
            ("offset", Align::Right),
            ("bytes", Align::Right),
            ("section", Align::Left),
        ]);
        for section in sections {
            table.row(vec![
                format!("{:#04x}", section.tag),
                section.offset.to_string(),
                section.bytes.to_string(),
                section.name.to_owned(),
            ]);
        }
        page.line("");
        table.write(page);
    }
}

fn write_far(named: &BrainName, answer: &v1::GetBrainResponse, page: &mut TextPage) {
    let status = answer.status.clone().unwrap_or_default();
    let dimension = answer.info.as_ref().map_or(0, |info| info.dimension);
    page.title(printable(named.name.as_deref().unwrap_or(&named.path)));
    if let Some(instance) = named.instance {
        page.field("instance", instance);
    }
    if let Some(lineage) = named.lineage {
        page.field("lineage", lineage);
    }
    let generation = named.generation.unwrap_or_default();
    page.field(
        "state",
        format!("generation {generation}, LSN {}", named.lsn),
    );
    page.field("events", count(status.events));
    page.field("edges", count(status.edges));
    page.field(
        "vectors",
        match dimension {
            0 => "none".to_owned(),
            n => format!("{n} numbers"),
        },
    );
    let (base, journal) = (bytes(status.base_bytes), bytes(status.journal_bytes));
    page.field("size", format!("{base}, and a journal of {journal}"));
}

fn events(output: &InfoOutput) -> String {
    let types = output.types.iter();
    let types: Vec<String> = types
        .map(|t| format!("{} {}", count(t.events), t.event_type))
        .collect();
    if types.is_empty() {
        "0".to_owned()
    } else {
        format!("{} ({})", count(output.events), types.join(", "))
    }
}

fn vectors(output: &InfoOutput) -> String {
    match (output.dimension, output.space) {
        (0, _) => "none".to_owned(),
        (n, _) if output.built_in_space => format!("{n} numbers, of the built-in embedder"),
        (n, Some(space)) => format!("{n} numbers, of space {space}"),
        (n, None) => format!("{n} numbers, of an unknown embedder"),
    }
}
