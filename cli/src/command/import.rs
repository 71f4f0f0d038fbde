//! `amemctl import`: other formats, into amemd or into a new file.
//!
//! A path is a new file; a name is a brain of amemd. A text (a conversation, notes, events) is added to an existing
//! brain; anything else becomes a new brain. Not here: how (`import_text`, `send`, `import_file`).

use std::path::{Path, PathBuf};

use amem_format::mapping::Map;
use amem_interop::{Layout, detect};
use clap::{Args, ValueEnum};

use super::import_file::{self, ImportedGraph};
use super::import_sources::ImportSourcesArgs;
use super::import_text::ImportTextArgs;
use super::send::Transfer;
use crate::appending::exists;
use crate::args::text::is_dash;
use crate::brain::new_file::check_free;
use crate::brain::source::{check_file, check_not_cut};
use crate::brain::target::BrainTarget;
use crate::entries::{self, ImportInput, ImportText};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::json::brain::layout_name;
use crate::jsonl::EventLine;
use crate::named_file;
use crate::output::context::CommandContext;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  amemctl import turns.jsonl work             a conversation, into the brain work of amemd
  amemctl import 2026-03-02.md work           a note: its title, properties and lines
  amemctl import copy.amem again              a new brain of amemd from a file
  amemctl import --format reference old.amem new.amem
  amemctl export a.amem | amemctl import --format events - work
  amemctl import --from claude-code --dry-run what Claude Code has of its sessions: shown, nothing written
  amemctl import chatgpt-export.zip           memories from the export of a chat
  amemctl import ~/notes --into notes         a vault: each note, each line, its tags and links
  amemctl import ~/notes --into notes --follow  again whenever a note changes

A name is a brain of amemd, created if missing; a path (ends in .amem, or has a slash) is a new file. Turns and events
are added to a brain, and notes with --format markdown; the same text is not imported twice, except with --again. JSON lines of events become
a new brain with everything they say (--format jsonl), or are added to an existing brain as new events that happened
when the old ones were recorded (--format events). The built-in embedder embeds texts if the file has no vectors.
The output lists what was merged, left out, renumbered or changed.")]
pub(crate) struct ImportArgs {
    /// The file or folder to read; `-` reads text from stdin. With --from alone, the usual places of that kind.
    #[arg(required_unless_present = "from")]
    file: Option<PathBuf>,
    /// The target: the name of a brain of amemd, or a new file, which must not exist.
    brain: Option<BrainTarget>,
    /// The format of the file.
    #[arg(long, value_enum, default_value_t = ImportFormat::Auto)]
    format: ImportFormat,
    /// Do not embed the texts of a new brain.
    #[arg(long)]
    no_embed: bool,
    #[command(flatten)]
    appending: ImportTextArgs,
    #[command(flatten)]
    sources: ImportSourcesArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ImportFormat {
    /// Detected from the file's name and first line.
    Auto,
    /// JSON lines of `amemctl export`, as a new brain.
    Jsonl,
    /// The same lines, added to an existing brain.
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

enum InputKind {
    Text(entries::TextFormat),
    /// JSON lines, for a new or an existing brain.
    Lines,
    File(Layout),
}

impl ImportArgs {
    fn file(&self) -> Result<&Path, Failure> {
        self.file.as_deref().ok_or_else(|| {
            Failure::argument(
                "the file is missing",
                "name a file, a folder, or a kind with --from",
            )
        })
    }

    pub(crate) fn run(&self, cx: &mut CommandContext) -> Result<Exit, Failure> {
        let file = self.file.as_deref();
        let by_flag = self.appending.brain_name.clone().map(BrainTarget::Name);
        let target = self.brain.clone().or(by_flag);
        let is_asked = self.sources.is_asked();
        let table = match file {
            Some(file) if !is_asked && !is_dash(file) => entries::lines_of_table(file)?,
            _ => None,
        };
        if is_asked || table.is_none() && self.is_source()? {
            self.check_free_of_texts()?;
            return self.sources.import(cx, file, target.as_ref());
        }
        let Some(target) = target else {
            return Err(Failure::argument(
                "the target is missing",
                "name a brain or a new file",
            ));
        };
        let file = self.file()?;
        let input = match table {
            Some(lines) => lines,
            None => ImportInput::open(file).map_err(|failure| self.turned(failure))?,
        };
        let what = self.what(&input)?;
        match (what, target) {
            (InputKind::Text(entries::TextFormat::Events), BrainTarget::Path(new))
            | (InputKind::Lines, BrainTarget::Path(new)) => {
                self.make(cx, &new, |_| ImportedGraph::of_lines(&input))
            }
            (InputKind::Text(form), BrainTarget::Path(new)) => Err(Failure::argument(
                format!(
                    "{} is imported into a brain of amemd, not into a new file such as {}",
                    form.name(),
                    new.display()
                ),
                "name a brain, without a slash or .amem; `amemctl export BRAIN --format native` writes it to a file",
            )),
            (InputKind::Text(form), BrainTarget::Name(name)) => self.append(cx, input, form, &name),
            (InputKind::Lines, BrainTarget::Name(name)) => {
                if self.format == ImportFormat::Auto && exists(cx, &name)? {
                    return self.append(cx, input, entries::TextFormat::Events, &name);
                }
                self.send_lines(cx, &input, &name)
            }
            (InputKind::File(Layout::Native), BrainTarget::Path(_)) => Err(Failure::refused(
                "native",
                "this is a brain of amemd already",
                "copy it with `cp`, or make a new base: `amemctl export --format native -o NEW FILE`; a name instead of a path imports it into amemd",
            )),
            (InputKind::File(layout), BrainTarget::Path(new)) => {
                self.make(cx, &new, |path| ImportedGraph::of_file(path, layout))
            }
            (InputKind::File(layout), BrainTarget::Name(name)) => {
                self.check_new()?;
                self.send(cx, self.file()?, layout_name(layout), &name)
            }
        }
    }

    /// True for what other programs keep: a folder, an archive, a database, a note, and files that are none of ours.
    fn is_source(&self) -> Result<bool, Failure> {
        let Some(path) = &self.file else {
            return Ok(true);
        };
        let is_new = matches!(self.brain, Some(BrainTarget::Path(_)));
        if self.format != ImportFormat::Auto || is_dash(path) || !path.exists() {
            return Ok(false);
        }
        if path.is_dir() {
            return Ok(true);
        }
        if path.extension().is_some_and(|end| end == "amem") || !path.is_file() {
            return Ok(false);
        }
        let input = ImportInput::open(path)?;
        let front = input.front()?;
        if front.starts_with(b"PK\x03\x04") || front.starts_with(b"SQLite format 3\0") {
            return Ok(true);
        }
        let is_ours = match entries::TextFormat::detect(&input)? {
            // Notes have more to say than a list of lines; a session of its own is for lines.
            Some(entries::TextFormat::Markdown) => return Ok(!is_new && !self.appending.is_given()),
            Some(entries::TextFormat::Conversation) => true,
            Some(entries::TextFormat::Events) => {
                let mut lines = front.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
                let first = lines.find(|line| !line.is_empty()).unwrap_or_default();
                EventLine::parse(first).is_ok()
            }
            None => front.is_empty() || detect(&front).is_ok(),
        };
        // A damaged file is reported as what it should have been.
        Ok(!is_ours && amem_sources::detect(path).is_ok_and(|found| !found.sources.is_empty()))
    }

    /// Refuses options that apply only to texts of our own forms.
    fn check_free_of_texts(&self) -> Result<(), Failure> {
        if self.appending.is_given() || self.no_embed || self.format != ImportFormat::Auto {
            return Err(Failure::argument(
                "--format, --no-embed, --session, --again and --run-id do not apply to what other programs keep",
                "omit them: what is imported again is brought up to date",
            ));
        }
        Ok(())
    }

    /// A missing file whose name stands where the brain belongs: other commands begin with the brain.
    fn turned(&self, failure: Failure) -> Failure {
        let second = self.brain.as_ref().map(BrainTarget::to_string);
        match second.filter(|file| Path::new(file).is_file()) {
            Some(file) if failure.exit == Exit::NotFound => {
                let brain = self.file.as_deref().unwrap_or(Path::new("")).display();
                Failure {
                    remedy: format!("name the file first: `amemctl import {file} {brain}`"),
                    ..failure
                }
            }
            _ => failure,
        }
    }

    /// By --format, else by the file.
    fn what(&self, input: &ImportInput) -> Result<InputKind, Failure> {
        match self.format {
            ImportFormat::Jsonl => return Ok(InputKind::Lines),
            ImportFormat::Events => return Ok(InputKind::Text(entries::TextFormat::Events)),
            ImportFormat::Conversation => {
                return Ok(InputKind::Text(entries::TextFormat::Conversation));
            }
            ImportFormat::Markdown => return Ok(InputKind::Text(entries::TextFormat::Markdown)),
            ImportFormat::Auto => match entries::TextFormat::detect(input)? {
                Some(entries::TextFormat::Events) => return Ok(InputKind::Lines),
                Some(form) => return Ok(InputKind::Text(form)),
                None if input.bytes()? == 0 => return Ok(InputKind::Lines),
                None => {}
            },
            ImportFormat::Spec1 | ImportFormat::Reference => {}
        }
        if is_dash(self.file()?) {
            return Err(Failure::argument(
                "stdin is not JSON lines, and --format does not say Markdown; other formats are read from files",
                "give --format markdown, or name a file",
            ));
        }
        self.layout().map(InputKind::File)
    }

    fn layout(&self) -> Result<Layout, Failure> {
        let path = self.file()?;
        let failed = |e: std::io::Error| Failure::io("read", path, &e);
        check_file(path)?;
        let file = named_file::open(path)?;
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
                "omit --format; a name instead of a path imports it into amemd, `cp` copies it",
            ));
        }
        if !is_said {
            return Err(Failure::refused(
                "other_format",
                format!("this is a {} file, unlike --format", layout_name(layout)),
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
        cx: &mut CommandContext,
        input: ImportInput,
        form: entries::TextFormat,
        name: &str,
    ) -> Result<Exit, Failure> {
        if self.no_embed {
            return Err(Failure::argument(
                "--no-embed applies only to new brains",
                "omit it; or create a brain without vectors first: `amemctl brain create NAME --no-vectors`",
            ));
        }
        let text = ImportText {
            input,
            form,
            session: self.appending.session.clone(),
        };
        self.appending.import(cx, &text, name)
    }

    /// Refuses options that apply only to texts added to a brain.
    fn check_new(&self) -> Result<(), Failure> {
        if self.appending.is_given() {
            Err(Failure::argument(
                "--session, --again and --run-id apply to texts added to a brain, and this creates a new one",
                "omit them",
            ))
        } else {
            Ok(())
        }
    }

    fn make(
        &self,
        cx: &mut CommandContext,
        new: &Path,
        read: impl FnOnce(&Path) -> Result<ImportedGraph, Failure>,
    ) -> Result<Exit, Failure> {
        self.check_new()?;
        check_free(new)?;
        let (named, output) = read(self.file()?)?.make(new, self.no_embed)?;
        import_file::tell(cx, &named, &output)
    }

    /// A file keeps everything that JSON lines say; requests would not.
    fn send_lines(
        &self,
        cx: &mut CommandContext,
        input: &ImportInput,
        name: &str,
    ) -> Result<Exit, Failure> {
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
        cx: &mut CommandContext,
        file: &Path,
        format: &'static str,
        name: &str,
    ) -> Result<Exit, Failure> {
        let send = Transfer {
            file,
            format,
            brain: name,
            no_embed: self.no_embed,
            replaces: false,
        };
        send.run(cx)
    }
}
