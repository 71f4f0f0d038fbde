//! `amemctl import` of what people have elsewhere: files, folders, ZIPs, and the homes of clients.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, UNIX_EPOCH};
use std::{env, fs, thread};

use amem_client::v1;
use amem_host::project::{USER_VARIABLE, user_of};
use amem_importing::{ImportError, ImportPath, ImportReport, ImportScope, Importer, ItemForm};
use amem_sources::{ReadOptions, SecretPolicy, SourceKind};
use clap::{Args, ValueEnum};
use xxhash_rust::xxh3::Xxh3;

use crate::appending::exists;
use crate::brain::target::BrainTarget;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::importing::DaemonTarget;
use crate::output::context::CommandContext;
use crate::render::{TextPage, bytes, count, plural, printable};
use crate::when;

/// The first pause before `--follow` looks for the daemon again; each further one is twice as long.
const REACH_AGAIN_AFTER: Duration = Duration::from_millis(250);
/// The longest such pause.
const REACH_AGAIN_AFTER_MAX: Duration = Duration::from_secs(5);
/// How long `--follow` leaves it to others to start the daemon again.
const RESTART_WITHIN: Duration = Duration::from_secs(10);
/// How often `--follow` looks for changes.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// Folders below each other that `--follow` looks into.
const DEPTH_MAX: usize = 64;
/// The brain that memories and turns are imported into, unless one is named.
const DEFAULT_BRAIN: &str = "memories";

#[derive(Debug, Args)]
#[command(next_help_heading = "From agents, chats, notes and other memory stores")]
pub(crate) struct ImportSourcesArgs {
    #[arg(long, value_name = "KIND", help = kinds_help())]
    from: Option<SourceKind>,
    /// The brain [default: memories]
    #[arg(long, value_name = "BRAIN", conflicts_with = "brain")]
    into: Option<String>,
    /// What becomes of it [default: facts for conversations and memories, turns for notes]
    #[arg(long = "as", value_enum, value_name = "FORM")]
    form: Option<FormName>,
    /// Show what would be imported, and write nothing
    #[arg(long)]
    dry_run: bool,
    /// Import again whenever a file changes, until Ctrl-C
    #[arg(long, conflicts_with = "dry_run")]
    follow: bool,
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
enum FormName {
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

fn kinds_help() -> String {
    let kinds = SourceKind::ALL.map(SourceKind::name).join(", ");
    format!("What it is; without a path, in its usual places: {kinds}")
}

impl ImportSourcesArgs {
    /// True if an option asks for this way of importing.
    pub(crate) fn is_asked(&self) -> bool {
        self.from.is_some()
            || self.into.is_some()
            || self.form.is_some()
            || self.dry_run
            || self.follow
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
        match self.follow {
            true => self.import_on_change(cx, path, &name),
            false => {
                let output = self.import_once(cx, path, &name)?;
                cx.answer(None, &output, |page| write(&output, page))?;
                Ok(Exit::Ok)
            }
        }
    }

    /// Imports whenever a file changed. Ctrl-C ends the process; what is written by then is whole. A daemon that goes
    /// away is waited for: the import that was under way is done again, and finds what it wrote.
    fn import_on_change(
        &self,
        cx: &mut CommandContext,
        path: Option<&Path>,
        brain: &str,
    ) -> Result<Exit, Failure> {
        let (mut before, mut last, mut is_first) = (None, None, true);
        let mut outage = Outage::none();
        loop {
            let paths: Vec<PathBuf> = match path {
                Some(path) => vec![path.to_owned()],
                None => {
                    let usual = self.paths(None)?.into_iter();
                    usual.map(|usual| usual.path).collect()
                }
            };
            let now = signature(&paths);
            // A file that is being written is left alone until it stays as it is for a while.
            let is_settled = is_first || last == Some(now);
            last = Some(now);
            if is_settled && before != Some(now) {
                before = Some(now);
                match self.import_once(cx, path, brain) {
                    Ok(output) => {
                        outage.end(cx);
                        if is_first || output.counts.has_news() {
                            cx.answer(None, &output, |page| write(&output, page))?;
                            cx.finish()?;
                        }
                        is_first = false;
                    }
                    Err(failure) if cx.was_reached() && failure.exit == Exit::Unavailable => {
                        before = None;
                        outage.wait(cx, failure)?;
                        continue;
                    }
                    // It is whole a moment later.
                    Err(failure) if !is_first && matches!(failure.code, "source" | "not_found") => {
                        cx.note(&format!("note: {}", printable(&failure.message)));
                    }
                    Err(failure) => return Err(failure),
                }
            }
            thread::sleep(LOOK_EVERY);
        }
    }

    fn import_once(
        &self,
        cx: &mut CommandContext,
        path: Option<&Path>,
        brain: &str,
    ) -> Result<ImportReport, Failure> {
        let paths = self.paths(path)?;
        let is_there = self.make_brain(cx, brain)?;
        let named = env::var(USER_VARIABLE).ok();
        let own = || user_of(rustix::process::geteuid().as_raw());
        let importer = Importer {
            form: self.form.map(|form| match form {
                FormName::Facts => ItemForm::Facts,
                FormName::Turns => ItemForm::Turns,
            }),
            read: self.options(),
            scope: ImportScope {
                user: self.user.clone().or(named).unwrap_or_else(own),
                is_named: self.user.is_some(),
                project: self.project.clone(),
            },
            is_dry: self.dry_run,
            is_there,
        };
        let mut target = DaemonTarget::new(cx, brain);
        importer.run(&mut target, &paths).map_err(failure)
    }

    fn paths(&self, path: Option<&Path>) -> Result<Vec<ImportPath>, Failure> {
        match (path, self.from) {
            (Some(path), _) => Ok(vec![ImportPath::of(path, self.from).map_err(failure)?]),
            (None, Some(kind)) => {
                let home = home().unwrap_or_default();
                let variable = |name: &str| env::var(name).ok();
                ImportPath::usual(kind, &home, &variable).map_err(failure)
            }
            (None, None) => Err(Failure::argument(
                "neither a path nor --from is given",
                "name a file or a folder, or a kind with --from, such as --from claude-code",
            )),
        }
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
            home: home(),
            secrets: match self.secrets {
                None | Some(SecretRule::Mask) => SecretPolicy::Mask,
                Some(SecretRule::Refuse) => SecretPolicy::Skip,
                Some(SecretRule::Keep) => SecretPolicy::Keep,
            },
            ..ReadOptions::default()
        }
    }
}

/// The user's home folder: ids begin with `~` for it.
fn home() -> Option<PathBuf> {
    let home = PathBuf::from(env::var_os("HOME").filter(|home| !home.is_empty())?);
    Some(home.canonicalize().unwrap_or(home))
}

/// Of the paths, sizes and times of all files.
fn signature(paths: &[PathBuf]) -> u128 {
    let mut hash = Xxh3::new();
    for path in paths {
        look(path, 0, &mut hash);
    }
    hash.digest128()
}

fn look(path: &Path, depth: usize, hash: &mut Xxh3) {
    let Ok(meta) = fs::symlink_metadata(path) else {
        return;
    };
    if meta.is_dir() && depth < DEPTH_MAX {
        let list = fs::read_dir(path).into_iter().flatten().flatten();
        let names: BTreeSet<PathBuf> = list.map(|entry| entry.path()).collect();
        for path in &names {
            look(path, depth + 1, hash);
        }
    } else if meta.is_file() {
        let changed = meta.modified().ok();
        let changed = changed.and_then(|at| at.duration_since(UNIX_EPOCH).ok());
        hash.update(path.as_os_str().as_encoded_bytes());
        hash.update(format!("\n{}\n{changed:?}\n", meta.len()).as_bytes());
    }
}

/// The time in which the daemon does not answer, from the first failure to the next import that is done.
struct Outage {
    began: Option<Instant>,
    pause: Duration,
    /// The last failure that was shown.
    shown: String,
}

impl Outage {
    fn none() -> Self {
        Self {
            began: None,
            pause: REACH_AGAIN_AFTER,
            shown: String::new(),
        }
    }

    /// Waits until a daemon can be connected to. Fails if it refuses the connection.
    fn wait(&mut self, cx: &mut CommandContext, lost: Failure) -> Result<(), Failure> {
        let began = *self.began.get_or_insert_with(Instant::now);
        let mut lost = lost;
        loop {
            if self.shown != lost.message {
                cx.note(&format!(
                    "note: {}; the import goes on when amemd answers again (Ctrl-C ends it)",
                    printable(&lost.message)
                ));
                self.shown.clone_from(&lost.message);
            }
            thread::sleep(self.pause);
            self.pause = (2 * self.pause).min(REACH_AGAIN_AFTER_MAX);
            match cx.reconnect(began.elapsed() > RESTART_WITHIN) {
                Err(failure) if failure.exit == Exit::Unavailable => lost = failure,
                reached => return reached,
            }
        }
    }

    /// An import is done: the daemon answers.
    fn end(&mut self, cx: &CommandContext) {
        if self.began.is_some() {
            cx.note("note: amemd answers again; the import goes on");
            *self = Self::none();
        }
    }
}

fn failure(error: ImportError<Failure>) -> Failure {
    let kinds = "`amemctl import --help` lists what can be imported; --from names the kind";
    match error {
        ImportError::Source(error) => Failure::refused("source", error.to_string(), kinds),
        ImportError::UnknownKind { path, looks_like } => Failure::refused(
            "unknown_kind",
            format!(
                "{} has nothing that can be imported: it looks like {looks_like}",
                path.display()
            ),
            "`amemctl import --help` lists the kinds; --from names one",
        ),
        ImportError::OtherKind {
            path,
            wanted,
            found,
        } => {
            let found: Vec<&str> = found.iter().map(|kind| kind.name()).collect();
            Failure::refused(
                "other_kind",
                format!(
                    "{} has nothing of {wanted}: it looks like {}",
                    path.display(),
                    found.join(" and ")
                ),
                "omit --from, or name another kind",
            )
        }
        ImportError::NothingFound(kind) => Failure::refused(
            "nothing_found",
            format!("there is nothing of {kind} in its usual places"),
            "name the path of its files or of its export",
        ),
        ImportError::NothingRead(first) => Failure::refused(
            "nothing_read",
            format!(
                "nothing could be read: {}: {}: {}",
                first.place, first.reason, first.detail
            ),
            "repair it, or name its kind with --from",
        ),
        ImportError::Target(failure) => failure,
    }
}

fn write(output: &ImportReport, page: &mut TextPage) {
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
        (
            "moved",
            counts.moved,
            ": the same text elsewhere, or with other properties",
        ),
        ("gone", counts.gone, ""),
        ("known", counts.known, ", nothing was written of them"),
        ("edges", counts.edges, ""),
        (
            "unresolved",
            counts.unresolved,
            " connections to what is not there",
        ),
        (
            "cut",
            counts.cut,
            " whose properties do not fit into an event",
        ),
        (
            "ended",
            counts.ended,
            " memories that hold no longer, left out",
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
    if !output.dry_run && !counts.has_news() {
        page.aside("nothing is new".to_owned());
    }
    if output.dry_run {
        page.aside("nothing was written".to_owned());
    }
}
