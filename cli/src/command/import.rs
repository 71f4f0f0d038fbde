//! `amemctl import`: what others wrote, into amemd or into a new file.
//!
//! A path is a new file; a name is a brain of amemd. A text (a conversation, notes, events) goes into it, with what is
//! there; anything else becomes a new brain. Not here: how (`append`, `send`, `make`).

use std::path::{Path, PathBuf};

use amem_format::foreign::{Layout, detect};
use amem_format::mapping::Map;
use clap::{Args, ValueEnum};

use super::import_file::{self, ImportedGraph};
use super::import_text::ImportTextArgs;
use super::send::Transfer;
use crate::appending::exists;
use crate::args::text::is_dash;
use crate::brain::new_file::check_free;
use crate::brain::source::{check_file, check_not_cut};
use crate::brain::target::Target;
use crate::entries::{self, Input, Text};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::json::brain::layout_name;
use crate::output::context::Context;

/// Options.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  amemctl import turns.jsonl work             a conversation, into the brain work of amemd
  amemctl import 2026-03-02.md work           notes: each paragraph and item a fact
  amemctl import copy.amem again              a brain of amemd, made of a file
  amemctl import --format reference old.amem new.amem
  amemctl export a.amem | amemctl import --format events - work

A name is a brain of amemd, which is made if it is not there; a path (with a dot or a slash) a new file. Turns, notes
and events are added to what a brain holds; the same text is not written a second time, unless --again says so.
JSON lines of events become a new brain with all that they say (--format jsonl), or are added to one that is there as
new events of now, which happened when the old ones were recorded (--format events). Texts are embedded by the
built-in embedder if the file brings no vectors. What was merged, left out, renumbered or changed is told.")]
pub(crate) struct ImportArgs {
    /// The file to read; `-` is stdin, for all that is text.
    file: PathBuf,
    /// Where it goes: the name of a brain of amemd, or a new file, where nothing may stand.
    #[arg(required_unless_present = "brain_name")]
    brain: Option<Target>,
    /// The form of the file.
    #[arg(long, value_enum, default_value_t = ImportFormat::Auto)]
    format: ImportFormat,
    /// Leave texts of a new brain without vectors.
    #[arg(long)]
    no_embed: bool,
    #[command(flatten)]
    appending: ImportTextArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ImportFormat {
    /// Told by the file's name and how it begins.
    Auto,
    /// JSON lines, as `amemctl export` writes them, as a new brain.
    Jsonl,
    /// The same lines, added to a brain that is there.
    Events,
    /// Turns of a conversation, one JSON object a line.
    Conversation,
    /// Notes in Markdown.
    Markdown,
    /// The layout of the specification document.
    #[value(name = "spec-1")]
    Spec1,
    /// The layout of the reference implementation.
    Reference,
}

/// What a file is, once it is known.
enum InputKind {
    /// A text that is added to a brain.
    Text(entries::TextFormat),
    /// JSON lines; whether they are to be a new brain was not said.
    Lines,
    /// A file of this layout.
    File(Layout),
}

impl ImportArgs {
    pub(crate) fn run(&self, cx: &mut Context) -> Result<Exit, Failure> {
        let by_flag = self.appending.brain_name.clone().map(Target::Name);
        let Some(target) = self.brain.clone().or(by_flag) else {
            return Err(Failure::argument(
                "where it goes is not said",
                "name a brain",
            ));
        };
        let input = Input::open(&self.file)?;
        let what = self.what(&input)?;
        match (what, target) {
            (InputKind::Text(entries::TextFormat::Events), Target::Path(new))
            | (InputKind::Lines, Target::Path(new)) => {
                self.make(cx, &new, |_| ImportedGraph::of_lines(&input))
            }
            (InputKind::Text(form), Target::Path(new)) => Err(Failure::argument(
                format!(
                    "{} goes into a brain of amemd, and into no new file such as {}",
                    form.name(),
                    new.display()
                ),
                "name a brain, without a dot or a slash; `amemctl export BRAIN --format native` makes a file of it",
            )),
            (InputKind::Text(form), Target::Name(name)) => self.append(cx, input, form, &name),
            (InputKind::Lines, Target::Name(name)) => {
                if self.format == ImportFormat::Auto && exists(cx, &name)? {
                    return self.append(cx, input, entries::TextFormat::Events, &name);
                }
                self.send_lines(cx, &input, &name)
            }
            (InputKind::File(Layout::Native), Target::Path(_)) => Err(Failure::refused(
                "native",
                "this is a brain of amemd already",
                "copy it with `cp`, or fold it: `amemctl export --format native -o NEW FILE`; a name instead of a path gives it to amemd",
            )),
            (InputKind::File(layout), Target::Path(new)) => {
                self.make(cx, &new, |path| ImportedGraph::of_file(path, layout))
            }
            (InputKind::File(layout), Target::Name(name)) => {
                self.check_new()?;
                self.send(cx, &self.file, layout_name(layout), &name)
            }
        }
    }

    /// What the file is, by what is said of it, or by what it looks like.
    fn what(&self, input: &Input) -> Result<InputKind, Failure> {
        match self.format {
            ImportFormat::Jsonl => return Ok(InputKind::Lines),
            ImportFormat::Events => return Ok(InputKind::Text(entries::TextFormat::Events)),
            ImportFormat::Conversation => {
                return Ok(InputKind::Text(entries::TextFormat::Conversation));
            }
            ImportFormat::Markdown => return Ok(InputKind::Text(entries::TextFormat::Markdown)),
            ImportFormat::Auto => match entries::TextFormat::told(input)? {
                Some(entries::TextFormat::Events) => return Ok(InputKind::Lines),
                Some(form) => return Ok(InputKind::Text(form)),
                None if input.bytes()? == 0 => return Ok(InputKind::Lines),
                None => {}
            },
            ImportFormat::Spec1 | ImportFormat::Reference => {}
        }
        if is_dash(&self.file) {
            return Err(Failure::argument(
                "stdin is neither JSON lines nor said to be Markdown, and other forms are read from files",
                "say --format markdown if it is that, or name a file",
            ));
        }
        self.layout().map(InputKind::File)
    }

    /// The layout of a file that is no text.
    fn layout(&self) -> Result<Layout, Failure> {
        let failed = |e: std::io::Error| Failure::io("read", &self.file, &e);
        check_file(&self.file)?;
        let file = std::fs::File::open(&self.file).map_err(failed)?;
        let len = file.metadata().map_err(failed)?.len();
        let map = Map::shared(&file, len).map_err(failed)?;
        let bytes = map.slice(0, len).unwrap_or_default();
        let layout = detect(bytes)?;
        let is_said = match layout {
            Layout::Native => self.format == ImportFormat::Auto,
            Layout::Reference => {
                matches!(self.format, ImportFormat::Auto | ImportFormat::Reference)
            }
            Layout::Spec1 => matches!(self.format, ImportFormat::Auto | ImportFormat::Spec1),
        };
        if layout == Layout::Native && !is_said {
            return Err(Failure::refused(
                "native",
                "this is a brain of amemd already",
                "leave --format out; a name instead of a path gives it to amemd, `cp` copies it",
            ));
        }
        if !is_said {
            return Err(Failure::refused(
                "other_format",
                format!(
                    "this is a {} file, not what --format says",
                    layout_name(layout)
                ),
                format!("use --format {} or auto", layout_name(layout)),
            ));
        }
        if layout == Layout::Reference && self.format == ImportFormat::Auto {
            check_not_cut(bytes)?;
        }
        Ok(layout)
    }

    fn append(
        &self,
        cx: &mut Context,
        input: Input,
        form: entries::TextFormat,
        name: &str,
    ) -> Result<Exit, Failure> {
        if self.no_embed {
            return Err(Failure::argument(
                "--no-embed is for new brains: one that is there decides itself",
                "leave it out; or make one without vectors first: `amemctl brain create NAME --no-vectors`",
            ));
        }
        let text = Text {
            input,
            form,
            session: self.appending.session.clone(),
        };
        self.appending.import(cx, &text, name)
    }

    /// Options of texts that are added say nothing of new brains.
    fn check_new(&self) -> Result<(), Failure> {
        match self.appending.is_given() {
            true => Err(Failure::argument(
                "--session, --again and --run-id are for texts that are added to a brain, and this makes a new one",
                "leave them out",
            )),
            false => Ok(()),
        }
    }

    fn make(
        &self,
        cx: &mut Context,
        new: &Path,
        read: impl FnOnce(&Path) -> Result<ImportedGraph, Failure>,
    ) -> Result<Exit, Failure> {
        self.check_new()?;
        check_free(new)?;
        let (named, output) = read(&self.file)?.make(new, self.no_embed)?;
        import_file::tell(cx, &named, &output)
    }

    /// JSON lines become a file first: only that says all that they do.
    fn send_lines(&self, cx: &mut Context, input: &Input, name: &str) -> Result<Exit, Failure> {
        self.check_new()?;
        let brought = ImportedGraph::of_lines(input)?;
        let folder = tempfile::tempdir()
            .map_err(|e| Failure::io("make a folder in", &std::env::temp_dir(), &e))?;
        let file = folder.path().join("new.amem");
        brought.make(&file, self.no_embed)?;
        self.send(cx, &file, "jsonl", name)
    }

    fn send(
        &self,
        cx: &mut Context,
        file: &Path,
        format: &'static str,
        name: &str,
    ) -> Result<Exit, Failure> {
        let send = Transfer {
            file,
            format,
            brain: name,
            no_embed: self.no_embed,
        };
        send.run(cx)
    }
}
