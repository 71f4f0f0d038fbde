//! `amemctl export`: writes a brain in another format.

use std::io::{BufWriter, Write};
use std::path::PathBuf;

use amem_client::v1;
use amem_doctor::verify;
use amem_format::Micros;
use amem_format::base::identity::Identity;
use amem_format::base_builder::Options;
use amem_format::types::{Generation, Lsn};
use amem_format::view::{AsOf, View};
use amem_interop::Layout;
use amem_interop::foreign::{CompatOptions, write_compatible};
use amem_interop::spec1;
use clap::{Args, ValueEnum};
use serde::Serialize;
use uuid::Uuid;

use super::{export_form, receive};
use crate::args::text::is_dash;
use crate::brain::convert::{self, NamedSession};
use crate::brain::new_file::{NewFile, check_free, write_brain};
use crate::brain::opened::{BrainHandle, DaemonBrain};
use crate::brain::source::BrainSource;
use crate::brain::subset::Subset;
use crate::brain::target::BrainTarget;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::json::loss::LossCount;
use crate::jsonl;
use crate::output::context::CommandContext;
use crate::output::progress::{Progress, Unit};
use crate::render::{bytes, plural, printable};
use crate::when::{at, now, parse_moment};

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  amemctl export work > work.jsonl             a brain of amemd
  amemctl export work.amem > work.jsonl
  amemctl export work.amem --vectors -o work.jsonl
  amemctl export work.amem --format spec-1 -o work.spec1.amem
  amemctl export work.amem --format compatible --map-unknown -o work.reference.amem
  amemctl export work --format markdown -o notes
  amemctl export work --format csv -o work.csv
  amemctl export work.amem --format native --as-of 2026-05-01 -o may.amem")]
pub(crate) struct ExportArgs {
    /// A brain of amemd, by name, or a file: a brain, one of the reference, or a spec-1 file.
    brain: BrainTarget,
    /// The format.
    #[arg(long, value_enum, default_value_t = ExportFormat::Jsonl)]
    format: ExportFormat,
    /// The new file, which must not exist; `-` is stdout.
    #[arg(short, long, value_name = "OUT", default_value = "-")]
    output: PathBuf,
    /// As of a moment: an LSN or a time.
    #[arg(long, value_name = "LSN|TIME", value_parser = parse_moment)]
    as_of: Option<AsOf>,
    /// Include forgotten events; otherwise they and their edges are left out. The native form of a whole brain always
    /// has them, hidden.
    #[arg(long, visible_alias = "forgotten")]
    include_forgotten: bool,
    /// Include vectors in JSON lines and tables; notes and graphs never have them, the other formats always.
    #[arg(long)]
    vectors: bool,
    /// In the compatible format, write types that the reference does not know as fact and related-to.
    #[arg(long)]
    map_unknown: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ExportFormat {
    /// One event a line, with its edges.
    Jsonl,
    /// The layout of the specification document.
    #[value(name = "spec-1")]
    Spec1,
    /// The layout of the reference implementation.
    Compatible,
    /// A folder of notes in the flavour of Basic Memory: a file for each event and those that it replaced.
    Markdown,
    /// The graph of the MCP memory server, as JSON lines.
    ServerMemory,
    /// A table with all that JSON lines say; `import` reads it.
    Csv,
    /// The same as a database, with a table of edges.
    Sqlite,
    /// A brain of amemd: a new base without a journal, with an instance of its own. With --as-of it has no history.
    Native,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct ExportOutput {
    output: String,
    format: &'static str,
    bytes: Option<u64>,
    /// Of a folder.
    #[serde(skip_serializing_if = "Option::is_none")]
    files: Option<u64>,
    events: u64,
    edges: u64,
    left_out: u64,
    /// Forgotten events in a native file.
    hidden: u64,
    /// What the format cannot hold.
    lost: Vec<LossCount>,
}

impl ExportArgs {
    pub(crate) fn run(&self, cx: &mut CommandContext) -> Result<Exit, Failure> {
        let is_stdout = is_dash(&self.output);
        if is_stdout && self.format == ExportFormat::Markdown {
            return Err(Failure::argument(
                "notes are a folder of files",
                "name a new folder: -o FOLDER",
            ));
        }
        if is_stdout && cx.is_terminal() && !self.is_text() {
            return Err(Failure::argument(
                "this format is binary, and stdout is a terminal",
                "name a file: -o OUT",
            ));
        }
        if cx.reach().agent_on_line.is_some() {
            return Err(Failure::argument(
                "an export has the events of all agents: --agent chooses none",
                "`amemctl query BRAIN --agent NAME --json` lists those of one",
            ));
        }
        let opened = BrainHandle::open(cx, &self.brain)?;
        if let BrainHandle::Served(served) = &opened
            && !served.brain.is_direct()
        {
            return self.receive(cx, served);
        }
        let source = opened.into_file("the export")?;
        verify::source(&source.view)?;
        let view = at(&source.view, self.as_of)?;
        // Leaving forgotten events out would renumber events and drop the history.
        let is_whole = self.is_whole(&source, &view);
        let selected = Subset::of(&view, self.include_forgotten || is_whole)?;
        if is_stdout {
            let output = self.stream(&source, &selected, cx)?;
            for note in source.named.notes.iter().cloned().chain(output.sentences()) {
                cx.note(&printable(&note));
            }
            return Ok(Exit::Ok);
        }
        let output = match self.format {
            ExportFormat::Markdown => self.folder(&selected, cx)?,
            _ => self.file(&source, &selected, cx)?,
        };
        cx.answer(Some(&source.named), &output, |page| {
            page.title(printable(&output.output));
            page.field("format", output.format);
            page.field("bytes", bytes(output.bytes.unwrap_or(0)));
            for sentence in output.sentences() {
                page.field("", sentence);
            }
            source.write_notes(page);
        })?;
        Ok(Exit::Ok)
    }

    /// Has the daemon send the file, because it cannot be read from here.
    fn receive(&self, cx: &mut CommandContext, served: &DaemonBrain) -> Result<Exit, Failure> {
        let form = match self.format {
            ExportFormat::Native => v1::ExportForm::Native,
            ExportFormat::Compatible => v1::ExportForm::Compatible,
            _ => {
                return Err(Failure::refused(
                    "not_direct",
                    format!(
                        "this format is made from the brain's file, and {} cannot be read from here",
                        served.named().file()
                    ),
                    "fetch the file (--format native -o FILE), then export that",
                ));
            }
        };
        if self.as_of.is_some() || self.map_unknown {
            return Err(Failure::refused(
                "not_direct",
                "amemd sends a brain as it is now, and maps no types",
                "fetch the file (--format native -o FILE), then export that",
            ));
        }
        if self.format == ExportFormat::Compatible && !self.include_forgotten {
            return Err(Failure::refused(
                "forgotten",
                "amemd also sends forgotten events, and this format cannot mark them",
                "accept that with --include-forgotten; or fetch the file (--format native -o FILE), and export that",
            ));
        }
        if !self.include_forgotten {
            cx.note("note: amemd sends its whole file; forgotten events are in it, hidden");
        }
        receive::run(cx, served, form, &self.output)
    }

    fn is_text(&self) -> bool {
        matches!(
            self.format,
            ExportFormat::Jsonl | ExportFormat::Csv | ExportFormat::ServerMemory
        )
    }

    /// A new folder of notes.
    fn folder(&self, selected: &Subset<'_>, cx: &CommandContext) -> Result<ExportOutput, Failure> {
        check_free(&self.output)?;
        let mut progress = Progress::new(cx, Unit::Things("notes"));
        let (files, bytes, lost) = export_form::notes(selected, &self.output, &mut progress)?;
        Ok(ExportOutput {
            files: Some(files),
            bytes: Some(bytes),
            lost,
            ..self.summary(selected.view(), selected)
        })
    }

    fn file(
        &self,
        source: &BrainSource,
        selected: &Subset<'_>,
        cx: &CommandContext,
    ) -> Result<ExportOutput, Failure> {
        let mut progress = Progress::new(cx, Unit::Things("events"));
        let mut file = NewFile::create(&self.output)?;
        let failed = |e: &std::io::Error| Failure::io("write", &self.output, e);
        let output = match self.format {
            ExportFormat::Native => {
                let (view, options) = self.native(source, selected)?;
                progress.say("writing the file …");
                write_brain(&view, &options, &mut file)?;
                self.native_summary(source, &view, selected)?
            }
            _ => {
                let mut out = BufWriter::new(&mut file);
                let output = self.write(selected, &mut out, failed, &mut progress)?;
                out.flush().map_err(|e| failed(&e))?;
                output
            }
        };
        let bytes = Some(file.publish()?);
        Ok(ExportOutput { bytes, ..output })
    }

    fn stream(
        &self,
        source: &BrainSource,
        selected: &Subset<'_>,
        cx: &mut CommandContext,
    ) -> Result<ExportOutput, Failure> {
        if self.format == ExportFormat::Native {
            let (view, options) = self.native(source, selected)?;
            let mut all = Vec::new();
            write_brain(&view, &options, &mut all)?;
            let out = cx.stream();
            out.write_all(&all).map_err(|e| Failure::output(&e))?;
            return self.native_summary(source, &view, selected);
        }
        let in_the_way = cx.is_terminal();
        let mut progress = Progress::new(cx, Unit::Things("events")).unless(in_the_way);
        self.write(selected, cx.stream(), Failure::output, &mut progress)
    }

    /// Formats that are written from front to back.
    fn write(
        &self,
        selected: &Subset<'_>,
        out: &mut impl Write,
        failed: impl Fn(&std::io::Error) -> Failure,
        progress: &mut Progress,
    ) -> Result<ExportOutput, Failure> {
        if matches!(self.format, ExportFormat::Spec1 | ExportFormat::Compatible) {
            progress.say("writing the file …");
        }
        let mut output = self.summary(selected.view(), selected);
        match self.format {
            ExportFormat::Spec1 => {
                let r = spec1::write(selected, out)?;
                output.edges = r.edges;
                output.lost = lost(&[
                    ("events got a new id", r.renumbered),
                    (
                        "recorded times lost fractions of a second",
                        r.sub_second_times,
                    ),
                    ("event times", r.event_times),
                    ("access counts", r.accesses),
                    ("strengths", r.decay_scores),
                    ("decay rates", r.lambdas),
                    ("flags", r.flags),
                    ("attribute values became strings", r.non_string_attributes),
                ]);
            }
            ExportFormat::Compatible => {
                let options = CompatOptions {
                    map_unknown: self.map_unknown,
                };
                let r = write_compatible(selected, options, out)?;
                output.edges = r.edges;
                output.lost = lost(&[
                    ("events got a new id", r.renumbered),
                    (
                        "events of unknown type became facts",
                        r.mapped_events.len() as u64,
                    ),
                    (
                        "edges of unknown type became related-to",
                        r.mapped_edges.len() as u64,
                    ),
                    ("attributes", r.attributes),
                    ("event times", r.event_times),
                    ("decay rates", r.lambdas),
                    ("flags", r.flags),
                    ("vectors of zeros read as none", r.zero_vectors),
                    ("words too long for the index", r.words_left_out),
                ]);
            }
            ExportFormat::Csv => {
                export_form::csv(selected, self.vectors, out, failed, progress)?;
            }
            ExportFormat::Sqlite => {
                export_form::sqlite(selected, self.vectors, out, failed, progress)?;
            }
            ExportFormat::ServerMemory => {
                output.lost = export_form::server_memory(selected, out, failed, progress)?;
            }
            ExportFormat::Jsonl | ExportFormat::Native | ExportFormat::Markdown => {
                let all = selected.ids().len() as u64;
                let written = |n| progress.show(n, all);
                jsonl::write(selected, self.vectors, out, failed, written)?;
            }
        }
        Ok(output)
    }

    fn summary(&self, view: &View, selected: &Subset<'_>) -> ExportOutput {
        ExportOutput {
            output: self.output.display().to_string(),
            format: match self.format {
                ExportFormat::Jsonl => "jsonl",
                ExportFormat::Spec1 => "spec-1",
                ExportFormat::Compatible => "compatible",
                ExportFormat::Markdown => "markdown",
                ExportFormat::ServerMemory => "server-memory",
                ExportFormat::Csv => "csv",
                ExportFormat::Sqlite => "sqlite",
                ExportFormat::Native => "native",
            },
            bytes: None,
            files: None,
            events: selected.ids().len() as u64,
            edges: view.edges(),
            left_out: selected.left_out(),
            hidden: 0,
            lost: Vec::new(),
        }
    }

    /// Counts hidden events, and what a part of a brain leaves behind.
    fn native_summary(
        &self,
        source: &BrainSource,
        made: &View,
        selected: &Subset<'_>,
    ) -> Result<ExportOutput, Failure> {
        let (view, mut output) = (selected.view(), self.summary(made, selected));
        for &id in selected.ids() {
            output.hidden += u64::from(view.node(id)?.is_forgotten());
        }
        if source.layout == Layout::Native && !self.is_whole(source, view) {
            output.lost = left_behind(selected)?;
        }
        Ok(output)
    }

    /// Whether the file will have the whole brain in its current state.
    fn is_whole(&self, source: &BrainSource, view: &View) -> bool {
        self.format == ExportFormat::Native && source.layout == Layout::Native && !view.is_as_of()
    }

    /// The whole brain with its history; or, of an earlier moment or a foreign file, a brain that begins with what it
    /// holds.
    fn native(
        &self,
        source: &BrainSource,
        selected: &Subset<'_>,
    ) -> Result<(View, Options), Failure> {
        let (view, now) = (selected.view(), now());
        let instance = Uuid::new_v4();
        if self.is_whole(source, view) {
            let next = Options::next(view, now);
            let identity = Identity {
                instance,
                generation: Generation(1),
                ..next.identity
            };
            return Ok((view.clone(), Options { identity, ..next }));
        }
        let of = view.identity();
        let identity = Identity {
            instance,
            lineage: match source.layout {
                Layout::Native => of.lineage,
                _ => Uuid::new_v4(),
            },
            generation: Generation(1),
            base_lsn: Lsn(0),
            base_time: now,
            origin_time: now,
            decay: None,
            ..*of
        };
        let graph = selected.renumbered()?;
        let sessions = sessions(view)?;
        let made = convert::brain(&graph, &sessions, &identity, view.settings()?.as_ref())?;
        Ok((made.view, made.options))
    }
}

/// Sessions with a key.
fn sessions(view: &View) -> Result<Vec<NamedSession>, Failure> {
    let mut named = Vec::new();
    for session in view.sessions()?.iter().filter(|s| s.explicit) {
        // Without the closes in between, all spans are one.
        let spans = view.session_spans(session.id)?;
        let opened = spans.first().map_or(session.opened, |span| span.opened);
        named.push(NamedSession {
            id: session.id,
            key: session.key.to_owned(),
            agent: session.agent.to_owned(),
            opened: opened.max(Micros(0)),
        });
    }
    Ok(named)
}

/// What a part of a brain leaves behind.
fn left_behind(selected: &Subset<'_>) -> Result<Vec<LossCount>, Failure> {
    let view = selected.view();
    let sessions = view.sessions()?;
    let mut closed = 0;
    for session in &sessions {
        let spans = view.session_spans(session.id)?;
        closed += spans.iter().filter(|span| span.closed.is_some()).count();
    }
    let ids = (0..).zip(selected.ids());
    let moved = ids.filter(|&(position, id)| id.0 != position).count();
    Ok(lost(&[
        (
            "commits: their authors, previous values and request ids",
            view.moment().0.0,
        ),
        ("ends of sessions, and their outcomes", closed as u64),
        ("events got a new id", moved as u64),
    ]))
}

fn lost(counts: &[(&'static str, u64)]) -> Vec<LossCount> {
    let some = counts.iter().filter(|(_, count)| *count > 0);
    some.map(|&(what, count)| LossCount { what, count })
        .collect()
}

impl ExportOutput {
    fn sentences(&self) -> Vec<String> {
        let mut out = vec![format!(
            "{} and {} exported",
            plural(self.events, "event"),
            plural(self.edges, "edge")
        )];
        if self.left_out > 0 {
            out.push(format!(
                "left out as forgotten: {}",
                plural(self.left_out, "event")
            ));
        }
        if self.hidden > 0 {
            out.push(format!(
                "hidden in it: {}",
                plural(self.hidden, "forgotten event")
            ));
        }
        for LossCount { what, count } in &self.lost {
            out.push(format!("lost or changed: {what}: {count}"));
        }
        out
    }
}
