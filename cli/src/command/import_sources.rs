//! `amemctl import` of what people have elsewhere: files, folders, ZIPs, and the homes of clients.

use std::collections::{BTreeMap, HashSet};
use std::env;
use std::path::{Path, PathBuf};

use amem_client::v1;
use amem_project::{USER_VARIABLE, user_of};
use amem_sources::{
    ClientHome, DetectedSource, ReadCounts, ReadOptions, SecretPolicy, SourceError, SourceKind,
    detect, homes, read,
};
use clap::{Args, ValueEnum};
use serde::Serialize;

use crate::appending::exists;
use crate::brain::target::BrainTarget;
use crate::brain::writable::Writable;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::importing::{EventImport, FactImport, ImportCounts, ImportScope, ImportSink, ReadNotes};
use crate::output::context::CommandContext;
use crate::render::{TextPage, bytes, count, plural, printable};
use crate::when;

/// The brain that memories and turns are imported into, unless one is named.
const DEFAULT_BRAIN: &str = "memories";

#[derive(Debug, Args)]
#[command(next_help_heading = "From agents, chats, notes and other memory stores")]
pub(crate) struct ImportSourcesArgs {
    /// What it is; without a path, in its usual places: claude-code, claude-memories, codex, gemini, copilot, opencode,
    /// chatgpt, claude, mem0, mcp-memory, obsidian, basic-memory, markdown, letta, graphiti, chat
    #[arg(long, value_name = "KIND")]
    from: Option<SourceKind>,
    /// The brain [default: memories]
    #[arg(long, value_name = "BRAIN", conflicts_with = "brain")]
    into: Option<String>,
    /// What becomes of it [default: facts for conversations and memories, turns for notes]
    #[arg(long = "as", value_enum, value_name = "FORM")]
    form: Option<ItemForm>,
    /// Show what would be imported, and write nothing
    #[arg(long)]
    dry_run: bool,
    /// What happens to keys, tokens and private keys
    #[arg(long, value_enum, value_name = "POLICY")]
    secrets: Option<SecretRule>,
    /// Whose memories they become: a user [default: yours]
    #[arg(long, value_name = "USER")]
    user: Option<String>,
    /// Whose memories they become: a project [default: that of each conversation's folder]
    #[arg(long, value_name = "PROJECT")]
    project: Option<String>,
}

/// What becomes of items.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ItemForm {
    /// Memories: facts are found in what was said.
    Facts,
    /// Events, each as it is.
    Turns,
}

/// What happens to secrets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum SecretRule {
    /// The kind stands in their place.
    Mask,
    /// What has one is skipped.
    Refuse,
    /// They are imported.
    Keep,
}

#[derive(Serialize)]
struct FoundJson {
    kind: &'static str,
    path: String,
    files: u64,
    bytes: u64,
    reason: String,
}

#[derive(Serialize, Default)]
struct SourcesOutput {
    brain: String,
    dry_run: bool,
    found: Vec<FoundJson>,
    /// Items read, by type.
    read: BTreeMap<&'static str, u64>,
    #[serde(flatten)]
    counts: ImportCounts,
    /// Secrets masked or refused, by kind.
    secrets: BTreeMap<&'static str, u64>,
    /// Elements of injected context that were left out.
    injected: u64,
    notes: ReadNotes,
}

/// A place to read, and what in it.
struct ImportPlace {
    path: PathBuf,
    only: Option<SourceKind>,
    found: Vec<DetectedSource>,
}

impl ImportSourcesArgs {
    /// True if an option asks for this way of importing.
    pub(crate) fn is_asked(&self) -> bool {
        self.from.is_some()
            || self.into.is_some()
            || self.form.is_some()
            || self.dry_run
            || self.secrets.is_some()
            || self.user.is_some()
            || self.project.is_some()
    }

    /// Imports a path, or without one the usual places of the kind.
    pub(crate) fn import(
        &self,
        cx: &mut CommandContext,
        path: Option<&Path>,
        brain: Option<&BrainTarget>,
    ) -> Result<Exit, Failure> {
        let name = match (brain, &self.into) {
            (Some(BrainTarget::Name(name)), _) => name.clone(),
            (Some(BrainTarget::Path(path)), _) => {
                return Err(Failure::argument(
                    format!(
                        "{} is a file, and this is imported into a brain of amemd",
                        path.display()
                    ),
                    "name a brain, without a slash or .amem",
                ));
            }
            (None, Some(name)) => name.clone(),
            (None, None) => DEFAULT_BRAIN.to_owned(),
        };
        let places = self.places(path)?;
        let mut output = SourcesOutput {
            brain: name.clone(),
            dry_run: self.dry_run,
            ..SourcesOutput::default()
        };
        for place in &places {
            output
                .found
                .extend(place.found.iter().map(|found| FoundJson {
                    kind: found.kind.name(),
                    path: place.path.display().to_string(),
                    files: found.files,
                    bytes: found.bytes,
                    reason: found.reason.clone(),
                }));
        }
        let is_there = self.make_brain(cx, &name)?;
        for place in &places {
            let kinds: Vec<SourceKind> = place
                .found
                .iter()
                .map(|found| found.kind)
                .filter(|kind| place.only.is_none_or(|only| only.covers(*kind)))
                .collect();
            // Each kind has a form of its own, unless one is given for all.
            for form in [ItemForm::Turns, ItemForm::Facts] {
                let of_form = kinds
                    .iter()
                    .copied()
                    .filter(|kind| self.form_of(*kind) == form);
                let of_form: Vec<_> = of_form.collect();
                match form {
                    ItemForm::Turns if !of_form.is_empty() => {
                        self.import_events(cx, place, &of_form, (&name, is_there), &mut output)?;
                    }
                    ItemForm::Facts if !of_form.is_empty() => {
                        self.import_facts(cx, place, &of_form, (&name, is_there), &mut output)?;
                    }
                    _ => {}
                }
            }
        }
        cx.answer(None, &output, |page| write(&output, page))?;
        Ok(Exit::Ok)
    }

    fn form_of(&self, kind: SourceKind) -> ItemForm {
        match self.form {
            Some(form) => form,
            None if kind.is_notes() => ItemForm::Turns,
            None => ItemForm::Facts,
        }
    }

    fn places(&self, path: Option<&Path>) -> Result<Vec<ImportPlace>, Failure> {
        let Some(path) = path else {
            return self.usual_places();
        };
        let detection = detect(path).map_err(|e| unread(&e))?;
        if detection.sources.is_empty() {
            return Err(Failure::refused(
                "unknown_kind",
                format!(
                    "{} has nothing that can be imported: it looks like {}",
                    path.display(),
                    detection.looks_like
                ),
                "`amemctl import --help` lists the kinds; --from names one",
            ));
        }
        Ok(vec![ImportPlace {
            path: path.to_owned(),
            only: self.from,
            found: detection.sources,
        }])
    }

    fn usual_places(&self) -> Result<Vec<ImportPlace>, Failure> {
        let Some(kind) = self.from else {
            return Err(Failure::argument(
                "neither a path nor --from is given",
                "name a file or a folder, or a kind with --from, such as --from claude-code",
            ));
        };
        let home = env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
        let variable = |name: &str| env::var(name).ok();
        let meant = homes(&home, &variable).into_iter();
        let meant = meant.filter(|place: &ClientHome| kind.covers(place.kind));
        let mut out = Vec::new();
        for place in meant {
            let found = match detect(&place.path) {
                Ok(detection) => detection.sources,
                Err(error) => return Err(unread(&error)),
            };
            if found.iter().any(|found| kind.covers(found.kind)) {
                out.push(ImportPlace {
                    path: place.path,
                    only: Some(kind),
                    found,
                });
            }
        }
        if out.is_empty() {
            return Err(Failure::refused(
                "nothing_found",
                format!("there is nothing of {kind} in its usual places"),
                "name the path of its files or of its export",
            ));
        }
        Ok(out)
    }

    /// Makes the brain if it is missing, but not in a dry run; true if it is there.
    fn make_brain(&self, cx: &mut CommandContext, name: &str) -> Result<bool, Failure> {
        if exists(cx, name)? {
            return Ok(true);
        }
        if self.dry_run {
            return Ok(false);
        }
        let remote = cx.daemon()?;
        let request = v1::CreateBrainRequest {
            brain: name.to_owned(),
            ..v1::CreateBrainRequest::default()
        };
        remote.call(remote.client.brains().create_brain(request))?;
        Ok(true)
    }

    fn options(&self) -> ReadOptions {
        ReadOptions {
            zone: when::time_zone(),
            home: env::var_os("HOME").map(PathBuf::from),
            secrets: match self.secrets {
                None | Some(SecretRule::Mask) => SecretPolicy::Mask,
                Some(SecretRule::Refuse) => SecretPolicy::Skip,
                Some(SecretRule::Keep) => SecretPolicy::Keep,
            },
            ..ReadOptions::default()
        }
    }

    fn import_events(
        &self,
        cx: &mut CommandContext,
        place: &ImportPlace,
        kinds: &[SourceKind],
        (brain, is_there): (&str, bool),
        output: &mut SourcesOutput,
    ) -> Result<(), Failure> {
        let target = BrainTarget::Name(brain.to_owned());
        let opened = is_there.then(|| Writable::open(cx, &target)).transpose()?;
        let names: HashSet<&'static str> = kinds.iter().map(|kind| kind.id_name()).collect();
        let named = (brain.to_owned(), opened.as_ref());
        let mut sink = ImportSink::new(EventImport::new(cx, named, &names, self.dry_run)?);
        for kind in once_each(kinds) {
            let done = read(&place.path, Some(kind), &self.options(), &mut sink);
            if let Some(failure) = sink.failure() {
                return Err(failure);
            }
            output.read_of(&done.map_err(|e| unread(&e))?);
        }
        // What is below an imported folder of notes and was not read is gone; a file or a ZIP says nothing of others.
        let below = match place.path.is_dir() && kinds.iter().all(|kind| kind.is_notes()) {
            true => folder_id(&place.path, &self.options()),
            false => None,
        };
        let is_whole = |document: &str| {
            let below = below.as_deref();
            below.is_some_and(|folder| document.starts_with(folder))
        };
        sink.import.finish(&is_whole)?;
        output.took(&sink.import.counts, &sink.notes);
        Ok(())
    }

    fn import_facts(
        &self,
        cx: &mut CommandContext,
        place: &ImportPlace,
        kinds: &[SourceKind],
        (brain, is_there): (&str, bool),
        output: &mut SourcesOutput,
    ) -> Result<(), Failure> {
        let named = env::var(USER_VARIABLE).ok();
        let own = || user_of(rustix::process::geteuid().as_raw());
        let scope = ImportScope {
            user: self.user.clone().or(named).unwrap_or_else(own),
            project: self.project.clone(),
        };
        let import = FactImport::new(cx, brain.to_owned(), scope, self.dry_run, is_there);
        let mut sink = ImportSink::new(import);
        for kind in once_each(kinds) {
            let done = read(&place.path, Some(kind), &self.options(), &mut sink);
            if let Some(failure) = sink.failure() {
                return Err(failure);
            }
            output.read_of(&done.map_err(|e| unread(&e))?);
        }
        sink.import.write()?;
        output.took(&sink.import.counts, &sink.notes);
        Ok(())
    }
}

/// The kinds without those that another one of them reads along.
fn once_each(kinds: &[SourceKind]) -> Vec<SourceKind> {
    let mut out: Vec<SourceKind> = Vec::new();
    for kind in kinds {
        if !out.iter().any(|other| other.covers(*kind)) {
            out.retain(|other| !kind.covers(*other));
            out.push(*kind);
        }
    }
    out
}

/// The beginning of the ids of documents below a folder.
fn folder_id(folder: &Path, options: &ReadOptions) -> Option<String> {
    let folder = folder.canonicalize().ok()?;
    let home = options
        .home
        .as_ref()
        .and_then(|home| home.canonicalize().ok());
    let shown = match home.and_then(|home| Some(folder.strip_prefix(home).ok()?.to_owned())) {
        Some(below) => Path::new("~").join(below),
        None => folder,
    };
    Some(format!(
        "{}:{}/",
        SourceKind::Markdown.id_name(),
        shown.display()
    ))
}

fn unread(error: &SourceError) -> Failure {
    Failure::refused(
        "source",
        error.to_string(),
        "`amemctl import --help` lists what can be imported; --from names the kind",
    )
}

impl SourcesOutput {
    fn read_of(&mut self, counts: &ReadCounts) {
        for (item, n) in &counts.items {
            *self.read.entry(item).or_default() += n;
        }
        for (kind, n) in &counts.secrets {
            *self.secrets.entry(kind.name()).or_default() += n;
        }
        self.injected += counts.injected;
    }

    fn took(&mut self, counts: &ImportCounts, notes: &ReadNotes) {
        let own = &mut self.counts;
        own.added += counts.added;
        own.changed += counts.changed;
        own.gone += counts.gone;
        own.known += counts.known;
        own.edges += counts.edges;
        own.unresolved += counts.unresolved;
        own.pending += counts.pending;
        self.notes.skipped.extend(notes.skipped.iter().cloned());
        for (reason, n) in &notes.counts {
            *self.notes.counts.entry(reason).or_default() += n;
        }
    }
}

fn write(output: &SourcesOutput, page: &mut TextPage) {
    page.title(printable(&output.brain));
    for found in &output.found {
        page.field(
            "found",
            format!(
                "{} of {} ({}): {}, in {}",
                plural(found.files, "file"),
                found.kind,
                bytes(found.bytes),
                printable(&found.reason),
                printable(&found.path)
            ),
        );
    }
    let read: Vec<String> = output
        .read
        .iter()
        .map(|(item, n)| plural(*n, item))
        .collect();
    page.field("read", read.join(", "));
    let counts = &output.counts;
    for (name, n, what) in [
        ("new", counts.added, ""),
        ("changed", counts.changed, ""),
        ("gone", counts.gone, ""),
        ("known", counts.known, ", nothing was written of them"),
        ("edges", counts.edges, ""),
        (
            "unresolved",
            counts.unresolved,
            " connections to what is not there",
        ),
        (
            "pending",
            counts.pending,
            " messages: see `amemctl fact pending`",
        ),
    ] {
        if n > 0 {
            page.field(name, format!("{}{what}", count(n)));
        }
    }
    for (kind, n) in &output.secrets {
        page.field("secrets", format!("{} {kind}", count(*n)));
    }
    if output.injected > 0 {
        page.field(
            "left out",
            format!("{} of injected context", plural(output.injected, "element")),
        );
    }
    for (reason, n) in &output.notes.counts {
        page.field("skipped", format!("{} {reason}", count(*n)));
    }
    for skipped in &output.notes.skipped {
        page.line(format!(
            "  {}: {}: {}",
            printable(&skipped.place),
            skipped.reason,
            printable(&skipped.detail)
        ));
    }
    if output.dry_run {
        page.aside("nothing was written".to_owned());
    }
}
